// Exports with contents, and with rewritten payloads.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <map>

#include "datum/crypto/digest.hpp"
#include "datum/journal/export.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min({out.size(), text_.size() - at_, std::size_t{70'000}});
    std::memcpy(out.data(), text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

class Texts final : public ContentSource {
 public:
  Digest add(const std::string& text) {
    const auto digest = crypto::sha256(as_bytes(text));
    texts_[digest] = text;
    return digest;
  }
  void spoil(const Digest& digest) { texts_[digest] += "!"; }
  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto found = texts_.find(digest);
    if (found == texts_.end()) return fail(ErrorCode::not_found, "no such text");
    return std::unique_ptr<ByteSource>(std::make_unique<TextSource>(found->second));
  }

 private:
  std::map<Digest, std::string> texts_;
};

std::string read_all(const ContentSource& source, const Digest& digest) {
  auto stream = source.open(digest);
  if (!stream) return "(" + stream.error().message() + ")";
  std::string text;
  Bytes buffer(10'000);
  for (;;) {
    const auto count = (*stream)->read(buffer);
    if (!count) return "(" + count.error().message() + ")";
    if (*count == 0) return text;
    text += as_text(ByteView(buffer).first(*count));
  }
}

// A text that does not compress, of exactly that size.
std::string noise(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t state = 1;
  for (auto& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

struct Given {
  explicit Given(Seq count) {
    make_store(scratch.path("store"), count);
    auto opened = open_log(scratch.path("store"), options_for(OpenMode::open));
    REQUIRE(opened);
    log = std::move(*opened);
  }
  ExportMade write() {
    auto made = write_export(*log, options, file);
    if (!made) FAIL(made.error().message());
    return *made;
  }
  Scratch scratch;
  std::string file = scratch.path("journal.export");
  std::unique_ptr<Log> log;
  Texts texts;
  ExportOptions options;
};

}  // namespace

TEST_CASE("journal: contents travel with an export and come out as they went in") {
  Given given(10);
  std::map<Digest, std::string> wanted;
  for (const auto size : {std::size_t{0}, std::size_t{1}, std::size_t{262'144},
                          std::size_t{262'145}, std::size_t{600'000}})
    for (const auto& text : {noise(size), std::string(size, 'a')})
      wanted[given.texts.add(text)] = text;
  for (const auto& [digest, text] : wanted) given.options.digests.push_back(digest);
  given.options.digests.push_back(given.options.digests.front());  // twice is once
  const auto unknown = crypto::sha256(as_bytes("unknown"));
  given.options.digests.push_back(unknown);
  given.options.content = &given.texts;
  const auto made = given.write();
  CHECK(made.contents == wanted.size());
  CHECK(made.missing == std::vector<Digest>{unknown});
  CHECK(made.bytes == std::filesystem::file_size(given.file));

  const auto opened = open_whole_export(given.file);
  if (!opened) FAIL(opened.error().message());
  CHECK(opened->digests.size() == wanted.size());
  for (const auto& [digest, text] : wanted) CHECK(read_all(*opened->content, digest) == text);
  CHECK(read_all(*opened->content, unknown).find("does not carry") != std::string::npos);
  std::string error;
  CHECK(transcript(*opened->reader, error) == transcript(*given.log, error));
  CHECK(opened->rewritten_from.empty());
  CHECK(verify_export(given.file)->sound);
}

TEST_CASE("journal: a content that is not what its name says makes no export") {
  Given given(3);
  const auto digest = given.texts.add("as it was");
  given.texts.spoil(digest);
  given.options.digests = {digest};
  given.options.content = &given.texts;
  CHECK(write_export(*given.log, given.options, given.file).error().code() == ErrorCode::conflict);
  CHECK_FALSE(std::filesystem::exists(given.file));
  CHECK_FALSE(std::filesystem::exists(given.file + ".part"));
}

TEST_CASE("journal: every altered byte of an export with contents is found") {
  Given given(6);
  given.options.content = &given.texts;
  for (const auto& text : {std::string(900, 'x'), noise(300), std::string()})
    given.options.digests.push_back(given.texts.add(text));
  given.write();
  const auto good = read_file(given.file);
  std::size_t named = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    patch_file(given.file, at, {static_cast<char>(good[at] ^ (at % 2 == 0 ? 0x10 : 0xFF))});
    const auto found = verify_export(given.file);
    INFO("byte " << at);
    REQUIRE(found);
    REQUIRE_FALSE(found->sound);
    REQUIRE_FALSE(found->problem.empty());
    named += found->bad_seq != 0 || found->problem.find("content") != std::string::npos ? 1 : 0;
    patch_file(given.file, at, {good[at]});
  }
  // All but the frame: header, trailer and the eight bytes that begin each content.
  CHECK(named + 96 + 96 + 3 * 8 >= good.size());
  CHECK(verify_export(given.file)->sound);
}

TEST_CASE(
    "journal: in a larger export every altered byte of a seeded sixteenth is found and named") {
  Given given(400);
  given.write();
  const auto good = read_file(given.file);
  std::uint32_t state = 20'261'129;
  for (std::size_t at = 0; at < good.size(); at += 16) {
    state = state * 1664525U + 1013904223U;
    const auto place = std::min(at + (state >> 24) % 16, good.size() - 1);
    patch_file(given.file, place, {static_cast<char>(good[place] ^ (1U << ((state >> 16) % 8)))});
    const auto found = verify_export(given.file);
    INFO("byte " << place);
    REQUIRE(found);
    REQUIRE_FALSE(found->sound);
    const bool is_in_record = place >= 96 && place < good.size() - 96;
    REQUIRE((found->bad_seq != 0) == is_in_record);
    patch_file(given.file, place, {good[place]});
  }
  CHECK(verify_export(given.file)->sound);
}

TEST_CASE("journal: a rewritten export has a chain of its own and names the head it came from") {
  Given given(50);
  const auto truth = given.log->read_head();
  given.options.rewrite = [](const Record& record) -> Result<Bytes> {
    return to_bytes("redacted " + std::to_string(record.seq));
  };
  const auto made = given.write();
  CHECK(made.original == truth->hash);
  CHECK(made.head.hash != truth->hash);
  const auto opened = open_whole_export(given.file);
  REQUIRE(opened);
  CHECK(opened->rewritten_from == truth->hash);
  Seq count = 0;
  REQUIRE(opened->reader->scan(1, [&](const Record& record) {
    CHECK(as_text(record.payload) == "redacted " + std::to_string(++count));
    return Visit::go_on;
  }));
  CHECK(count == 50);
  CHECK(*opened->reader->find("passes", "3", 33, 3) == std::vector<Seq>{33, 34, 35});
  CHECK(verify_export(given.file)->sound);
  given.options.rewrite = [](const Record&) -> Result<Bytes> { return Bytes(kMaxPayload + 1); };
  CHECK(write_export(*given.log, given.options, given.scratch.path("other")).error().code() ==
        ErrorCode::limit_exceeded);
}
