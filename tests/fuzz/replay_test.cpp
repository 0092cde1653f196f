// Replays a corpus through the fuzz entry point of the same program, so that every ordinary run
// covers what fuzzing once found. The folder comes from the build.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

static int replay(const std::string& bytes) {
  return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

static std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_CASE("fuzz: every seed of the corpus keeps the contract") {
  std::size_t seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DATUM_FUZZ_CORPUS)) {
    INFO(entry.path().filename().string());
    CHECK(replay(content_of(entry.path())) == 0);
    ++seeds;
  }
  CHECK(seeds >= 10);
}

TEST_CASE("fuzz: every cut and every single changed byte of a seed keeps the contract") {
  for (const auto& entry : std::filesystem::directory_iterator(DATUM_FUZZ_CORPUS)) {
    auto bytes = content_of(entry.path());
    if (bytes.size() > 256) bytes.resize(256);  // the work grows with the square
    INFO(entry.path().filename().string());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      REQUIRE(replay(bytes.substr(0, at)) == 0);
      for (const char other : {'\0', '\n', '[', '"', ':'}) {
        auto changed = bytes;
        changed[at] = other;
        REQUIRE(replay(changed) == 0);
      }
    }
  }
}
