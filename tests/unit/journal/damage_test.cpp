// The damage table: whatever is done to a store at rest, opening it ends in an error with a name or
// in exactly the records that were written. A death of this process is a failure of the test.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <random>

#include "page_file.hpp"
#include "scratch.hpp"
#include "store_walk.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

constexpr Seq kRecords = 64;
constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kSeed = 20'240'601;

// A seeded sixteenth of all bytes; in the long run (tests/unit/journal/damage_all.py) every one,
// each in one of several processes: "PART/PARTS".
class Choice {
 public:
  Choice() {
    const char* wanted = ::getenv("DATUM_DAMAGE");
    if (wanted == nullptr) return;
    is_long_ = true;
    REQUIRE(std::sscanf(wanted, "%lu/%lu", &part_, &parts_) == 2);
    REQUIRE(part_ < parts_);
  }
  bool takes(std::uint64_t offset) {
    const bool is_chosen = random_() % 16 == 0;
    return is_long_ ? offset % parts_ == part_ : is_chosen;
  }

 private:
  std::mt19937 random_{kSeed};
  bool is_long_ = false;
  std::uint64_t part_ = 0, parts_ = 1;
};

// A store with its bytes and what it says when it is whole.
class Patient {
 public:
  Patient() {
    make_store(folder, kRecords);
    auto log = open_log(folder, options_for(OpenMode::open));
    REQUIRE(log);
    std::string error;
    truth = transcript(**log, error);
    REQUIRE(error.empty());
    REQUIRE((*log)->close());
    bytes = read_file(data);
    REQUIRE(bytes.size() % kPage == 0);
    clean = read_file(folder + "/clean");
  }

  // Opens the damaged store without its clean mark (as after a crash) or with it, and judges.
  void judge(const std::string& what, bool is_marked) {
    if (!is_marked) ::unlink((folder + "/clean").c_str());
    INFO(what << (is_marked ? ", marked clean" : ", unmarked"));
    {
      auto log = open_log(folder, options_for(OpenMode::open));
      std::string error;
      if (log) {
        const auto text = transcript(**log, error);
        // Damage that the walk cannot see may not be seen in the records either.
        REQUIRE(error.empty());
        REQUIRE(text == truth);
        ++unharmed;
      } else {
        REQUIRE(log.error().code() == ErrorCode::corrupt);
        REQUIRE(log.error().message().size() > folder.size() + 10);
        ++refused;
      }
    }
    write_file(folder + "/clean", clean);
  }

  // For people: what was tried, and what came of it.
  void report(const char* what) const {
    std::printf("# %s: %d cases, %d refused as corrupt, %d whole, violations 0\n", what,
                refused + unharmed, refused, unharmed);
  }

  Scratch scratch;
  std::string folder = scratch.path("store");
  std::string data = folder + "/data.mdb";
  std::string truth;
  std::vector<char> bytes;
  std::vector<char> clean;
  int refused = 0;
  int unharmed = 0;
};

// What the walk refuses is refused by open_log in the same words (the tests above and below go that
// way): most of a large table needs no child for it.
bool is_refused_by_walk(Patient& patient) {
  const int fd = ::open(patient.data.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(fd >= 0);
  const auto found = walk_store(fd);
  ::close(fd);
  REQUIRE(found);
  REQUIRE(found->sound == found->problem.empty());
  if (!found->sound) ++patient.refused;
  return !found->sound;
}

// Opening may have committed nothing, but it may have written: put the bytes back each time.
void flip_and_judge(Patient& patient, std::uint64_t offset, std::uint8_t mask, bool is_marked,
                    bool is_quick = false) {
  patch_file(patient.data, offset,
             {static_cast<char>(patient.bytes[offset] ^ static_cast<char>(mask))});
  if (!is_quick || !is_refused_by_walk(patient))
    patient.judge("byte " + std::to_string(offset) + " mask " + std::to_string(mask), is_marked);
  patch_file(patient.data, offset, {patient.bytes[offset]});
}

}  // namespace

TEST_CASE("journal: every altered byte of the meta pages' headers is refused or harmless") {
  Patient patient;
  for (std::uint64_t page = 0; page < 2; ++page)
    for (std::uint64_t at = 0; at < 152; ++at)
      for (const int mask : {0x01, 0x80, 0xFF})
        flip_and_judge(patient, page * kPage + at, static_cast<std::uint8_t>(mask), at % 2 == 0);
  CHECK(patient.refused > 300);
}

TEST_CASE("journal: every altered byte of a page's header is refused or harmless") {
  Patient patient;
  for (std::uint64_t page = 2; page < patient.bytes.size() / kPage; ++page)
    for (std::uint64_t at = 0; at < 16; ++at)
      flip_and_judge(patient, page * kPage + at, at % 2 == 0 ? 0x01 : 0xFF, page % 2 == 0);
  CHECK(patient.refused > 80);
}

TEST_CASE("journal: every altered byte of a record's header is refused, and so is each length") {
  Patient patient;
  std::uint64_t headers = 0;
  for (std::uint64_t at = 0; at + 96 <= patient.bytes.size(); at += 8) {
    if (std::string_view(patient.bytes.data() + at, 4) != "DTJ1") continue;
    ++headers;
    for (std::uint64_t byte = 0; byte < 96; ++byte)
      flip_and_judge(patient, at + byte, byte % 2 == 0 ? 0x01 : 0x80, false, true);
  }
  // Those of the head and of pages that a later commit left behind among them.
  CHECK(headers >= kRecords);
  patient.report("headers of records");
}

TEST_CASE("journal: bytes altered one by one are refused or harmless") {
  Patient patient;
  Choice choice;
  std::mt19937 random(kSeed);
  for (std::uint64_t offset = 0; offset < patient.bytes.size(); ++offset) {
    if (!choice.takes(offset)) continue;
    flip_and_judge(patient, offset, static_cast<std::uint8_t>(1 + random() % 255),
                   random() % 2 == 0, true);
  }
  CHECK(patient.refused > 500);
  CHECK(patient.unharmed > 100);
  patient.report("single bytes");
}

TEST_CASE("journal: an altered list of free pages never makes a later commit overwrite a record") {
  Patient patient;
  std::uint64_t list = 0;
  {
    const int fd = ::open(patient.data.c_str(), O_RDONLY | O_CLOEXEC);
    const auto file = PageFile::open(fd);
    REQUIRE(file);
    REQUIRE(file->free_tree().depth == 1);
    list = file->free_tree().root;
    ::close(fd);
  }
  std::mt19937 random(kSeed);
  for (std::uint64_t at = 16; at < kPage; ++at) {
    const auto offset = list * kPage + at;
    // Bytes that are zero lie between the entries or are the high bytes of page numbers.
    if (patient.bytes[offset] == 0 && random() % 32 != 0) continue;
    const auto altered =
        static_cast<char>(patient.bytes[offset] ^ static_cast<char>(1 + random() % 7));
    patch_file(patient.data, offset, {altered});
    ::unlink((patient.folder + "/clean").c_str());
    auto log = open_log(patient.folder, options_for(OpenMode::open));
    INFO("byte " << at);
    if (!log) REQUIRE(log.error().code() == ErrorCode::corrupt);
    if (!log) ++patient.refused;
    for (int i = 0; log && i < 3; ++i) {
      Batch batch;
      batch.entries.resize(20);
      REQUIRE((*log)->append(batch));
    }
    if (log) REQUIRE((*log)->verify(1)->sound);
    log = fail(ErrorCode::cancelled, "closed");
    write_file(patient.data, patient.bytes);
  }
  CHECK(patient.refused > 5);
}

TEST_CASE("journal: a store that is cut at any page is refused or whole") {
  Patient patient;
  for (std::size_t size = 0; size < patient.bytes.size(); size += kPage / 2) {
    write_file(patient.data,
               {patient.bytes.begin(), patient.bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    patient.judge("cut at " + std::to_string(size), size % kPage == 0);
  }
  CHECK(patient.refused > 20);
  patient.report("cut at every half page");
}

TEST_CASE("journal: zeroed pages, meta pages first, are refused or were not in use") {
  Patient patient;
  for (std::size_t page = 0; page < patient.bytes.size() / kPage; ++page) {
    auto damaged = patient.bytes;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page * kPage), kPage, '\0');
    write_file(patient.data, damaged);
    patient.judge("zeroed page " + std::to_string(page), false);
  }
  auto damaged = patient.bytes;
  std::fill_n(damaged.begin(), 2 * kPage, '\0');
  write_file(patient.data, damaged);
  patient.judge("both meta pages zeroed", false);
  CHECK(patient.refused > 10);
  patient.report("zeroed pages");
}

TEST_CASE("journal: pages that changed places are refused or were not in use") {
  Patient patient;
  std::mt19937 random(kSeed);
  const auto pages = patient.bytes.size() / kPage;
  for (int round = 0; round < 40; ++round) {
    auto damaged = patient.bytes;
    const auto at = [&](std::size_t page) {
      return damaged.begin() + static_cast<std::ptrdiff_t>(page * kPage);
    };
    const auto first = random() % pages;
    const auto second = random() % pages;
    std::swap_ranges(at(first), at(first) + kPage, at(second));
    write_file(patient.data, damaged);
    patient.judge("pages " + std::to_string(first) + " and " + std::to_string(second), false);
  }
  CHECK(patient.refused > 10);
}

TEST_CASE("journal: files that are no store are refused and not touched") {
  Patient patient;
  const std::vector<std::vector<char>> strangers = {
      {}, {'x'}, std::vector<char>(100'000, 'A'), std::vector<char>(1 << 20, '\0')};
  for (const auto& stranger : strangers) {
    write_file(patient.data, stranger);
    for (const auto mode : {OpenMode::create_or_open, OpenMode::open, OpenMode::read_only}) {
      const auto log = open_log(patient.folder, options_for(mode));
      REQUIRE_FALSE(log);
      CHECK(log.error().code() == ErrorCode::corrupt);
      CHECK(read_file(patient.data) == stranger);
      CHECK(read_file(patient.folder + "/clean") == patient.clean);
    }
  }
}

TEST_CASE("journal: random bytes behind good meta pages end the walk in time") {
  Patient patient;
  std::mt19937 random(kSeed);
  for (int round = 0; round < 20; ++round) {
    auto damaged = patient.bytes;
    for (std::size_t i = 2 * kPage; i < damaged.size(); ++i)
      if (random() % 8 == 0) damaged[i] = static_cast<char>(random());
    write_file(patient.data, damaged);
    patient.judge("round " + std::to_string(round), round % 2 == 0);
  }
  CHECK(patient.refused == 20);
}

TEST_CASE("journal: a store whose data file is gone is corrupt, not new") {
  Patient patient;
  REQUIRE(::unlink(patient.data.c_str()) == 0);
  for (const auto mode : {OpenMode::create_or_open, OpenMode::open}) {
    const auto log = open_log(patient.folder, options_for(mode));
    REQUIRE_FALSE(log);
    CHECK(log.error().code() == ErrorCode::corrupt);
  }
  CHECK_FALSE(std::filesystem::exists(patient.data));
}

TEST_CASE("journal: a store that was put back to an earlier state is corrupt by its clean mark") {
  Patient patient;
  {
    auto log = open_log(patient.folder, options_for(OpenMode::open));
    REQUIRE(log);
    Batch batch;
    batch.entries.resize(1);
    REQUIRE((*log)->append(batch));
    REQUIRE((*log)->close());
  }
  write_file(patient.data, patient.bytes);
  const auto log = open_log(patient.folder, options_for(OpenMode::open));
  REQUIRE_FALSE(log);
  CHECK(log.error().code() == ErrorCode::corrupt);
  CHECK(log.error().message().find("closed at record 65") != std::string::npos);
  const auto verified = verify_store(patient.folder, kNoHurryMs);
  REQUIRE(verified);
  CHECK_FALSE(verified->sound);
}
