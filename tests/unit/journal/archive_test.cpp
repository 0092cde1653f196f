// Records in files beside the journal, and both read as one.
#include "datum/journal/archive.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "datum/journal/archive_gaps.hpp"
#include "datum/journal/archive_strays.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

constexpr Seq kRecords = 2600;

class Archived {
 public:
  Archived() {
    make_store(folder, kRecords);
    open();
    std::string error;
    truth = transcript(*log, error);
    REQUIRE(error.empty());
  }
  void open() {
    auto opened = open_log(folder, options_for(OpenMode::open));
    if (!opened) FAIL(opened.error().message());
    log = std::move(*opened);
  }
  // As history does: export, then deletion.
  void archive(Seq from, Seq to) {
    REQUIRE(write_archive(*log, {from, to}, files));
    REQUIRE(log->remove_before(to + 1));
  }
  std::unique_ptr<Reader> joined() {
    auto reader = log->make_reader();
    REQUIRE(reader);
    auto whole = join_archive(std::move(*reader), files);
    if (!whole) FAIL(whole.error().message());
    return std::move(*whole);
  }

  Scratch scratch;
  std::string folder = scratch.path("store");
  std::string files = scratch.path("archive");
  std::unique_ptr<Log> log;
  std::string truth;
};

std::string text_of(Reader& reader) {
  std::string error;
  auto text = transcript(reader, error);
  INFO(error);
  CHECK(error.empty());
  return text;
}

}  // namespace

TEST_CASE("journal: archived records are read as if they had never left") {
  Archived store;
  store.archive(1, 700);
  store.archive(701, 1500);
  CHECK(store.log->read_head()->first == 1501);
  const auto whole = store.joined();
  CHECK(whole->read_head()->first == 1);
  CHECK(text_of(*whole) == store.truth);
  Seq next = kRecords;
  REQUIRE(whole->scan_back(0, [&](const Record& record) {
    CHECK(record.seq == next--);
    return Visit::go_on;
  }));
  CHECK(next == 0);
  for (const Seq seq : {Seq{1}, Seq{700}, Seq{701}, Seq{1500}, Seq{1501}, kRecords})
    CHECK(whole->read(seq, [&](const Record& record) {
      CHECK(record.seq == seq);
      return Visit::stop;
    }));
  CHECK(whole->read(kRecords + 1, [](const Record&) { return Visit::stop; }).error().code() ==
        ErrorCode::not_found);
  CHECK(whole->find("passes", "70", 1, 100)->size() == 10);
  CHECK(whole->find("targets", "file:/etc/number/3", 1, 3)->size() == 3);
}

TEST_CASE("journal: what a file and the journal both hold is told once") {
  Archived store;
  store.archive(1, 700);
  REQUIRE(write_archive(*store.log, {701, 1900}, store.files));
  // A deletion that a crash ended half way.
  REQUIRE(store.log->remove_before(1201));
  const auto whole = store.joined();
  CHECK(text_of(*whole) == store.truth);
  const auto verified = verify_archive(*store.log, store.files);
  REQUIRE(verified);
  CHECK(verified->sound);
}

TEST_CASE("journal: records that are archived while they are read are read all the same") {
  Archived store;
  const auto whole = store.joined();
  Seq next = 1;
  bool is_archived = false;
  // The visitor may not write to the log that it visits, so the scan is cut where it archives.
  while (next <= kRecords) {
    REQUIRE(whole->scan(next, [&](const Record& record) {
      CHECK(record.seq == next++);
      return next == 400 && !is_archived ? Visit::stop : Visit::go_on;
    }));
    if (!is_archived) store.archive(1, 2000);
    is_archived = true;
  }
  CHECK(next == kRecords + 1);
  CHECK(whole->find("targets", "file:/etc/number/3", 1, 1'000'000)->size() == 372);
}

TEST_CASE("journal: files that were taken elsewhere are missed by name, and no others") {
  Archived store;
  store.archive(1, 700);
  store.archive(701, 1500);
  std::filesystem::remove(store.files + "/" + archive_name(1, 700));
  const auto whole = store.joined();
  CHECK(whole->read_head()->first == 701);
  CHECK(whole->read(5, [](const Record&) { return Visit::stop; }).error().code() ==
        ErrorCode::not_found);
  CHECK(verify_archive(*store.log, store.files)->sound);
  CHECK(verify_archive(*store.log, store.files)->records == 800);
  CHECK(*read_gaps(*whole) == std::vector<Gap>{{1, 700}});
  CHECK(read_gaps(*store.log)->empty());
}

TEST_CASE(
    "journal: an archive file with damage is named with the way out, and nothing is passed over") {
  Archived store;
  store.archive(1, 700);
  const auto file = store.files + "/" + archive_name(1, 700);
  auto bytes = read_file(file);
  bytes[bytes.size() / 2] ^= 4;
  write_file(file, bytes);
  const auto ignore = [](const Record&) { return Visit::go_on; };
  std::vector<std::string> told;
  // Each with its own look at the archive: what one found open the next does not open again.
  if (const auto status = store.joined()->scan(1, ignore); !status)
    told.push_back(status.error().message());
  if (const auto status = store.joined()->scan_back(0, ignore); !status)
    told.push_back(status.error().message());
  if (const auto found = store.joined()->find("targets", "file:/etc/number/3", 1, 1'000'000);
      !found)
    told.push_back(found.error().message());
  CHECK(told.size() == 3);
  for (const auto& message : told) {
    CHECK(message.find(archive_name(1, 700)) != std::string::npos);
    CHECK(message.find("move this file away, and all but its records is read again") !=
          std::string::npos);
  }
  std::filesystem::remove(file);
  CHECK(store.joined()->scan(1, ignore));
}

TEST_CASE("journal: records on both sides of a gap in the archive are read, and the gap is known") {
  Archived store;
  store.archive(1, 700);
  store.archive(701, 1500);
  store.archive(1501, 1600);
  const auto second = store.files + "/" + archive_name(701, 1500);
  SECTION("a file that is gone") {
    CHECK(std::filesystem::remove(second));
    CHECK(list_foreign(store.files)->empty());
  }
  SECTION("a link in its place") {
    std::filesystem::rename(second, store.scratch.path("elsewhere"));
    std::filesystem::create_symlink(store.scratch.path("elsewhere"), second);
    CHECK(*list_foreign(store.files) == std::vector<std::string>{archive_name(701, 1500)});
  }
  SECTION("a folder in its place") {
    CHECK(std::filesystem::remove(second));
    std::filesystem::create_directory(second);
    CHECK(list_foreign(store.files)->size() == 1);
  }
  const auto whole = store.joined();
  CHECK(*read_gaps(*whole) == std::vector<Gap>{{701, 1500}});
  // From here on nothing is missing: who needs every record begins here.
  CHECK(whole->read_head()->first == 1501);
  std::vector<Seq> up;
  REQUIRE(whole->scan(1, [&](const Record& record) {
    up.push_back(record.seq);
    return Visit::go_on;
  }));
  std::vector<Seq> down;
  REQUIRE(whole->scan_back(0, [&](const Record& record) {
    down.insert(down.begin(), record.seq);
    return Visit::go_on;
  }));
  CHECK(up.size() == kRecords - 800);
  CHECK(up == down);
  CHECK(std::find(up.begin(), up.end(), 700) + 1 == std::find(up.begin(), up.end(), 1501));
  const auto found = whole->find("targets", "file:/etc/number/3", 1, 1'000'000);
  REQUIRE(found);
  CHECK(found->front() < 700);
  CHECK(
      std::none_of(found->begin(), found->end(), [](Seq seq) { return seq > 700 && seq <= 1500; }));
  CHECK(whole->read(700, [](const Record&) { return Visit::stop; }));
  const auto missing = whole->read(701, [](const Record&) { return Visit::stop; });
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::not_found);
  CHECK(missing.error().message() == "record 701 is archived, and no file of the archive has it");
  CHECK(verify_archive(*store.log, store.files)->sound);
}

TEST_CASE("journal: an archive with another store's file or a damaged one is not sound") {
  Archived store;
  store.archive(1, 700);
  store.archive(701, 1500);
  const auto second = store.files + "/" + archive_name(701, 1500);
  const auto bytes = read_file(second);

  SECTION("a damaged byte") {
    REQUIRE(bytes.size() > 1000);
    patch_file(second, bytes.size() / 2, {static_cast<char>(bytes[bytes.size() / 2] ^ 1)});
  }
  SECTION("another store's file") {
    make_store(store.scratch.path("other"), kRecords);
    auto other = open_log(store.scratch.path("other"), options_for(OpenMode::open));
    REQUIRE(other);
    std::filesystem::remove(second);
    REQUIRE(write_archive(**other, {701, 1500}, store.files));
  }
  SECTION("a file under another's name") {
    CHECK(std::filesystem::copy_file(store.files + "/" + archive_name(1, 700), second,
                                     std::filesystem::copy_options::overwrite_existing));
  }
  const auto verified = verify_archive(*store.log, store.files);
  REQUIRE(verified);
  CHECK_FALSE(verified->sound);
  CHECK_FALSE(verified->problem.empty());
}

TEST_CASE("journal: an archive replaces no file that holds something else") {
  Archived store;
  REQUIRE(write_archive(*store.log, {1, 700}, store.files));
  REQUIRE(write_archive(*store.log, {1, 700}, store.files));
  make_store(store.scratch.path("other"), kRecords);
  auto other = open_log(store.scratch.path("other"), options_for(OpenMode::open));
  REQUIRE(other);
  const auto refused = write_archive(**other, {1, 700}, store.files);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::conflict);
}

TEST_CASE("journal: only files whose records never left the journal are dropped as unfinished") {
  Archived store;
  store.archive(1, 700);
  REQUIRE(write_archive(*store.log, {701, 900}, store.files));
  REQUIRE(std::filesystem::exists(store.files + "/" + archive_name(701, 900)));
  CHECK(drop_unfinished(*store.log, store.files, 700) == std::size_t{1});
  CHECK(drop_unfinished(*store.log, store.files, 700) == std::size_t{0});
  const auto left = list_archive(store.files);
  REQUIRE(left);
  REQUIRE(left->size() == 1);
  CHECK(left->front().to == 700);
  CHECK(text_of(*store.joined()) == store.truth);
  CHECK(list_archive(store.scratch.path("nowhere"))->empty());
}
