// Unpacking: what gzip made is what went in, and nothing else is believed.
#include "datum/inspect/gunzip.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace datum;

Bytes from_hex(std::string_view hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

// Made by zlib: codes that are fixed, codes in the file, bytes as they are.
const std::string kFixed =
    "1f8b080000000000020333323032d33534d435b2543034b032002185ccbce292c49c1c85a4c4e254ddb4cc9cd462ab"
    "c4dc143313059bbcfcbc543b0543233d132e23ba6b0400f2ebea7eab000000";
const std::string kCoded =
    "1f8b08000000000002037d935b4a04311045ff6715d9c0483d9374ed461c1d447c20b87f2b8d2693582df44fe070fb"
    "d44d8580f219f10c9ab09a8a29a687f7b7a7e7ebd7e763fa78b992d8fdeb254bc23b3cd12fbd25606334a9338d832e"
    "9d264c48a660c833cd010c3b4cc5b81e8ac088e6e4bfc46292175a3bcd9dc65d5b8b11cc3404d12e42602c060b4cb5"
    "d379885082dcb45791115d47746dd65e1feb0c970eeb2d4c68ceffd3b54cf5f988fead7489ee31b719259b2e225b00"
    "931fa1b5f7a76b0a66443fe648c487096e06126cc6c574c9468db2f96759810e699ebc7da3b2c9426bd0367adb64b2"
    "992cbb4a1cddcdbe7e42c674b4d934a2cbeed1decd61349cbe0175b7aac391030000";
const std::string kStored = "1f8b0800000000000403010700f8ff73746f7265640ae29c53a507000000";

std::string unpacked(const std::string& hex, std::size_t limit = 1 << 20) {
  const auto text = inspect::gunzip(from_hex(hex), limit);
  return text ? std::string(as_text(*text)) : "error: " + text.error().message();
}

}  // namespace

TEST_CASE("gunzip: all three kinds of block give back what was packed") {
  const std::string line = "2026-11-29 10:00:00 install base-files:amd64 <none> 12.4\n";
  CHECK(unpacked(kFixed) == line + line + line);
  CHECK(unpacked(kStored) == "stored\n");
  const auto coded = unpacked(kCoded);
  CHECK(coded.size() == 913);
  CHECK(coded.starts_with("2026-11-"));
  CHECK(coded.ends_with("\n"));
}

TEST_CASE("gunzip: several members are read as one text") {
  CHECK(unpacked(kStored + kStored + kStored) == "stored\nstored\nstored\n");
}

TEST_CASE("gunzip: more than the limit is refused, and not half of it returned") {
  const auto text = inspect::gunzip(from_hex(kFixed), 170);
  REQUIRE_FALSE(text);
  CHECK(text.error().code() == ErrorCode::limit_exceeded);
  CHECK(inspect::gunzip(from_hex(kFixed), 171));
}

TEST_CASE("gunzip: every cut and every changed bit of a file is an error or the same text") {
  for (const auto& hex : {kFixed, kCoded, kStored}) {
    const auto whole = unpacked(hex);
    const auto bytes = from_hex(hex);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK_FALSE(inspect::gunzip(ByteView(bytes).first(size), 1 << 20));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto changed = bytes;
      changed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      const auto text = inspect::gunzip(changed, 1 << 20);
      CHECK((!text || as_text(*text) == whole));
    }
  }
}

TEST_CASE("gunzip: what is no gzip file is said to be none") {
  for (const std::string hex :
       {"", "1f", "1f8b0900000000000003", "425a6839", "1f8b08040000000000ff"})
    CHECK_FALSE(inspect::gunzip(from_hex(hex), 1 << 20));
}
