#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <string>

#include "datum/base/assert.hpp"
#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/crypto/digest.hpp"

using namespace datum;

TEST_CASE("base: an errno keeps its number and gets a closed code") {
  const auto error = error_from_errno(EDQUOT, "write journal");
  CHECK(error.code() == ErrorCode::no_space);
  CHECK(error.sys_errno() == EDQUOT);
  CHECK(error.message().rfind("write journal: ", 0) == 0);
}

TEST_CASE("base: a failed assertion names its file, and not the folder it was compiled in") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const auto child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    DATUM_ASSERT(ends.empty());
  }
  ::close(ends[1]);
  std::array<char, 256> said{};
  const auto count = ::read(ends[0], said.data(), said.size());
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  REQUIRE(count > 0);
  const std::string text(said.data(), static_cast<std::size_t>(count));
  CHECK(text.find("ends.empty() at base_test.cpp:") != std::string::npos);
  CHECK(text.find('/') == std::string::npos);
}

TEST_CASE("base: context stands in front of the message") {
  auto error = Error(ErrorCode::corrupt, "bad magic").context("record 7");
  CHECK(error.message() == "record 7: bad magic");
  CHECK(error.code() == ErrorCode::corrupt);
}

TEST_CASE("base: hexadecimal digests read back, and nothing else is taken for one") {
  const auto digest = crypto::sha256(as_bytes("abc"));
  CHECK(digest.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Digest::find_hex(digest.hex()) == digest);
  CHECK_FALSE(Digest::find_hex(digest.hex().substr(1)));
  CHECK_FALSE(Digest::find_hex(digest.hex().substr(1) + "g"));
  CHECK(Id128::find_hex("00112233-4455-6677-8899-aabbccddeeff")->hex() ==
        "00112233445566778899aabbccddeeff");
}

TEST_CASE("crypto: SHA-256 in pieces equals SHA-256 at once, also on the second use") {
  crypto::Sha256 hasher;
  for (int round = 0; round < 2; ++round) {
    hasher.update(as_bytes("ab"));
    hasher.update(as_bytes("c"));
    CHECK(hasher.finish() == crypto::sha256(as_bytes("abc")));
  }
}

TEST_CASE("crypto: CRC-32C has the value of RFC 3720 and continues from a seed") {
  CHECK(crypto::crc32c(as_bytes("123456789")) == 0xE3069283U);
  CHECK(crypto::crc32c(as_bytes("456789"), crypto::crc32c(as_bytes("123"))) == 0xE3069283U);
  CHECK(crypto::crc32c(as_bytes(std::string(1000, 'x'))) ==
        crypto::crc32c(as_bytes(std::string(999, 'x')), crypto::crc32c(as_bytes("x"))));
}

TEST_CASE("crypto: CRC-32C by processor and by table agree at every length and alignment") {
  std::string text;
  for (int i = 0; i < 80; ++i) text.push_back(static_cast<char>(i * 37));
  for (std::size_t begin = 0; begin < 9; ++begin)
    for (std::size_t size = 0; begin + size <= text.size(); ++size) {
      const auto part = as_bytes(text).subspan(begin, size);
      REQUIRE(crypto::crc32c(part, 7) == crypto::crc32c_by_table(part, 7));
    }
}

TEST_CASE("crypto: HMAC-SHA-256 has the value of RFC 4231 case 2") {
  CHECK(crypto::hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?")).hex() ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("base: little-endian values are stored byte by byte") {
  std::byte buffer[8];
  store_le<std::uint64_t>(buffer, 0x0102030405060708);
  CHECK(std::to_integer<int>(buffer[0]) == 8);
  CHECK(load_le<std::uint64_t>(buffer) == 0x0102030405060708);
}
