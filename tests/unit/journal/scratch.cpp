#include "scratch.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace datum::journal::test {

Scratch::Scratch() {
  const char* base = ::getenv("TMPDIR");
  folder_ = std::string(base != nullptr ? base : "/tmp") + "/datum-journal-XXXXXX";
  REQUIRE(::mkdtemp(folder_.data()) != nullptr);
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

OpenOptions options_for(OpenMode mode) {
  OpenOptions options;
  options.mode = mode;
  options.indexes = {"passes", "targets"};
  options.walk_limit_ms = kNoHurryMs;
  return options;
}

std::string payload_of(Seq seq) {
  const std::size_t size = seq % 16 == 0 ? 5000 : 40 + seq % 50;
  std::string payload = "record " + std::to_string(seq) + " ";
  payload.resize(size, static_cast<char>('a' + seq % 26));
  return payload;
}

void make_store(const std::string& folder, Seq count) {
  auto log = open_log(folder, options_for(OpenMode::create_or_open));
  if (!log) FAIL(log.error().message());
  for (Seq seq = 1; seq <= count;) {
    Batch batch;
    std::vector<std::string> texts;
    texts.reserve(200);
    for (int i = 0; i < 64 && seq <= count; ++i, ++seq) {
      const auto& payload = texts.emplace_back(payload_of(seq));
      const auto& target = texts.emplace_back("file:/etc/number/" + std::to_string(seq % 7));
      const auto& pass = texts.emplace_back(std::to_string(seq / 10));
      Entry entry;
      entry.kind = static_cast<std::uint16_t>(seq % 5);
      entry.payload = as_bytes(payload);
      entry.keys = {{"targets", target}, {"passes", pass}};
      batch.entries.push_back(entry);
    }
    batch.meta.push_back({"acknowledged", to_bytes(std::to_string(seq))});
    batch.projections.push_back({"status", Bytes(300, std::byte{'s'})});
    const auto appended = (*log)->append(batch);
    if (!appended) FAIL(appended.error().message());
  }
  REQUIRE((*log)->close());
}

std::string transcript(Reader& reader, std::string& error) {
  std::string text;
  auto status = reader.scan(1, [&](const Record& record) {
    text += std::to_string(record.seq) + " " + std::to_string(record.kind) + " ";
    text += as_text(record.payload);
    text += hash_of(record).hex() + "\n";
    return Visit::go_on;
  });
  for (int i = 0; i < 7 && status; ++i) {
    const auto found =
        reader.find("targets", "file:/etc/number/" + std::to_string(i), 1, 1'000'000);
    if (!found) status = fail(Error(found.error()));
    if (found)
      for (const auto seq : *found) text += std::to_string(seq) + ",";
  }
  if (!status) error = status.error().message();
  return status ? text : std::string();
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::string& path, const std::vector<char>& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
}

void patch_file(const std::string& path, std::uint64_t offset, const std::vector<char>& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  const auto put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  ::close(fd);
  REQUIRE(put == static_cast<ssize_t>(bytes.size()));
}

}  // namespace datum::journal::test
