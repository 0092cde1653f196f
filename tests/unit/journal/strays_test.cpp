// Files in an archive's folder that are no part of the journal's archive: neither read nor removed.
#include <catch2/catch.hpp>
#include <filesystem>

#include "datum/journal/archive_gaps.hpp"
#include "datum/journal/archive_strays.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

namespace fs = std::filesystem;
constexpr Seq kRecords = 300;

std::unique_ptr<Log> opened(const std::string& folder) {
  auto log = open_log(folder, options_for(OpenMode::open));
  if (!log) FAIL(log.error().message());
  return std::move(*log);
}

void append(Log& log, const std::string& course, int count) {
  for (int i = 0; i < count; ++i) {
    const auto text = course + " " + std::to_string(i);
    Batch batch;
    Entry entry;
    entry.kind = 1;
    entry.payload = as_bytes(text);
    entry.keys = {{"targets", course}};
    batch.entries.push_back(entry);
    REQUIRE(log.append(batch));
  }
}

// A store of 300 records went on to 400 and archived up to 350; then its older copy was put back
// over it and went on to 380 by itself.
class PutBack {
 public:
  PutBack() {
    make_store(folder, kRecords);
    fs::copy(folder, scratch.path("copy"));
    {
      const auto newer = opened(folder);
      append(*newer, "first", 100);
      for (const auto& [from, to] : {std::pair<Seq, Seq>{1, 200}, {201, 350}}) {
        REQUIRE(write_archive(*newer, {from, to}, files));
        REQUIRE(newer->remove_before(to + 1));
      }
      REQUIRE(newer->close());
    }
    fs::remove_all(folder);
    fs::copy(scratch.path("copy"), folder);
    log = opened(folder);
    append(*log, "second", 80);
  }
  std::unique_ptr<Reader> joined() {
    auto reader = log->make_reader();
    REQUIRE(reader);
    auto whole = join_archive(std::move(*reader), files);
    if (!whole) FAIL(whole.error().message());
    return std::move(*whole);
  }
  std::vector<std::string> strays(Seq archived) {
    const auto found = find_strays(*log, files, archived);
    if (!found) FAIL(found.error().message());
    std::vector<std::string> words;
    for (const auto& stray : *found) words.push_back(stray.name + " " + stray.why);
    return words;
  }

  Scratch scratch;
  std::string folder = scratch.path("store");
  std::string files = scratch.path("archive");
  std::unique_ptr<Log> log;
  const std::string first = archive_name(1, 200);
  const std::string second = archive_name(201, 350);
};

const std::string kOther = " holds other records than the journal does";

}  // namespace

TEST_CASE("journal: a file of another course of the store's history is not dropped as unfinished") {
  PutBack store;
  // The first holds what is live, record by record; the second is the only copy of 301 to 350.
  CHECK(store.strays(0) == std::vector<std::string>{store.second + kOther});
  const auto dropped = drop_unfinished(*store.log, store.files, 0);
  REQUIRE_FALSE(dropped);
  CHECK(dropped.error().code() == ErrorCode::conflict);
  CHECK(dropped.error().message() == store.files + "/" + store.second + kOther);
  CHECK(fs::exists(store.files + "/" + store.second));
}

TEST_CASE("journal: a file that reaches beyond the head, is damaged or misnamed is not dropped") {
  PutBack store;
  const auto second = store.files + "/" + store.second;
  const auto first = store.files + "/" + store.first;
  std::string name = store.first, why;
  fs::remove(second);
  SECTION("beyond the head") {
    name = archive_name(381, 580);
    why = kOther;
    REQUIRE_NOTHROW(fs::rename(first, store.files + "/" + name));
  }
  SECTION("another name") {
    name = archive_name(11, 210);
    why = " holds other records than its name says";
    REQUIRE_NOTHROW(fs::rename(first, store.files + "/" + name));
  }
  SECTION("damage") {
    auto bytes = read_file(first);
    REQUIRE_FALSE(bytes.empty());
    bytes[bytes.size() / 2] ^= 4;
    write_file(first, bytes);
    why = " cannot be read: ";
  }
  SECTION("another store") {
    make_store(store.scratch.path("other"), kRecords);
    fs::remove(first);
    REQUIRE(write_archive(*opened(store.scratch.path("other")), {1, 200}, store.files));
    why = " is of another store";
  }
  SECTION("what is archived already, and more") {
    why = " holds records that were archived and others that were not";
    CHECK(store.strays(100) == std::vector<std::string>{name + why});
    return;
  }
  const auto strays = store.strays(0);
  REQUIRE(strays.size() == 1);
  CHECK(strays.front().starts_with(name + why));
  CHECK_FALSE(drop_unfinished(*store.log, store.files, 0));
  CHECK(fs::exists(store.files + "/" + name));
}

TEST_CASE("journal: what an archive that was cut off left is no stray, and is dropped") {
  PutBack store;
  fs::remove(store.files + "/" + store.second);
  CHECK(store.strays(0).empty());
  CHECK(drop_unfinished(*store.log, store.files, 0) == std::size_t{1});
  CHECK(list_archive(store.files)->empty());
  // Its event is there, its deletion is not begun, or half done.
  REQUIRE(write_archive(*store.log, {1, 200}, store.files));
  CHECK(store.strays(200).empty());
  CHECK(drop_unfinished(*store.log, store.files, 200) == std::size_t{0});
  REQUIRE(store.log->remove_before(101));
  CHECK(store.strays(200).empty());
  CHECK(store.joined()->read_head()->first == 1);
}

TEST_CASE("journal: records of another course of the history are never read as the journal's") {
  PutBack store;
  fs::rename(store.files + "/" + store.second, store.scratch.path("away"));
  fs::remove(store.files + "/" + store.first);
  std::string error;
  const auto truth = transcript(*store.log, error);
  SECTION("in the place of a file") {
    REQUIRE(write_archive(*store.log, {1, 200}, store.files));
    REQUIRE(store.log->remove_before(201));
    REQUIRE(write_archive(*store.log, {201, 350}, store.files));
    REQUIRE(store.log->remove_before(351));
    fs::rename(store.scratch.path("away"), store.files + "/" + store.second);
    CHECK(*read_gaps(*store.joined()) == std::vector<Gap>{{201, 350}});
  }
  SECTION("behind a gap, ending where the journal never was cut") {
    REQUIRE(write_archive(*store.log, {1, 200}, store.files));
    REQUIRE(store.log->remove_before(201));
    REQUIRE(write_archive(*store.log, {201, 350}, store.files));
    REQUIRE(store.log->remove_before(361));
    fs::remove(store.files + "/" + archive_name(201, 350));
    fs::rename(store.scratch.path("away"), store.files + "/" + store.second);
    CHECK(*read_gaps(*store.joined()) == std::vector<Gap>{{201, 360}});
    CHECK(store.strays(360) ==
          std::vector<std::string>{store.second +
                                   " lies behind a file that is missing, and ends where "
                                   "the journal never was cut"});
    Seq next = 1;
    REQUIRE(store.joined()->scan(1, [&next](const Record& record) {
      CHECK(as_text(record.payload).substr(0, 5) != "first");
      if (next == 201) next = 361;
      CHECK(record.seq == next++);
      return Visit::go_on;
    }));
    CHECK(next == 381);
    return;
  }
  SECTION("behind a gap, ending where the journal was cut") {
    REQUIRE(store.log->remove_before(351));
    REQUIRE(store.log->remove_before(361));
    fs::rename(store.scratch.path("away"), store.files + "/" + store.second);
    CHECK(*read_gaps(*store.joined()) == std::vector<Gap>{{1, 360}});
    CHECK(store.strays(360) == std::vector<std::string>{store.second + kOther});
    return;
  }
  SECTION("over live records") {
    REQUIRE(write_archive(*store.log, {1, 250}, store.files));
    REQUIRE(store.log->remove_before(251));
    fs::rename(store.scratch.path("away"), store.files + "/" + store.second);
    CHECK(read_gaps(*store.joined())->empty());
    CHECK(transcript(*store.joined(), error) == truth);
  }
  const auto whole = store.joined();
  Seq seen = 0;
  REQUIRE(whole->scan(1, [&seen](const Record& record) {
    CHECK(as_text(record.payload).substr(0, 5) != "first");
    ++seen;
    return Visit::go_on;
  }));
  CHECK(seen == (read_gaps(*whole)->empty() ? 380 : 230));
  CHECK(whole->find("targets", "first", 1, 100)->empty());
  CHECK_FALSE(verify_archive(*store.log, store.files)->sound);
  const auto strays = store.strays(350);
  CHECK(strays == std::vector<std::string>{store.second + kOther});
  const auto also = read_strays(*whole, 350);
  REQUIRE(also);
  CHECK(also->size() == 1);
}
