#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "datum/journal/log.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

struct Exported {
  explicit Exported(Seq count, ExportRange range = {}) {
    make_store(scratch.path("store"), count);
    auto log = open_log(scratch.path("store"), options_for(OpenMode::open));
    REQUIRE(log);
    store = (*log)->store_id();
    std::string error;
    truth = transcript(**log, error);
    const auto exported = export_records(**log, range, file);
    if (!exported) FAIL(exported.error().message());
    head = *exported;
    REQUIRE((*log)->close());
  }
  Scratch scratch;
  std::string file = scratch.path("journal.export");
  std::string truth;
  Head head;
  Id128 store;
};

}  // namespace

TEST_CASE("journal: an export says exactly what its store says") {
  Exported given(500);
  const auto reader = open_export(given.file);
  REQUIRE(reader);
  std::string error;
  CHECK(transcript(**reader, error) == given.truth);
  CHECK((*reader)->store_id() == given.store);
  CHECK((*reader)->read_head()->seq == 500);
  CHECK((*reader)->read_head()->hash == given.head.hash);
  CHECK(*(*reader)->find("passes", "3", 33, 3) == std::vector<Seq>{33, 34, 35});
  std::vector<Seq> back;
  REQUIRE((*reader)->scan_back(3, [&](const Record& record) {
    back.push_back(record.seq);
    return Visit::go_on;
  }));
  CHECK(back == std::vector<Seq>{3, 2, 1});
  CHECK((*reader)->read(501, [](const Record&) { return Visit::go_on; }).error().code() ==
        ErrorCode::not_found);
  const auto verified = verify_export(given.file);
  REQUIRE(verified);
  CHECK(verified->sound);
  CHECK(verified->records == 500);
}

TEST_CASE("journal: an export is for its owner only, leaves no part, and replaces nothing") {
  Exported given(3);
  struct stat info {};
  REQUIRE(::stat(given.file.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK_FALSE(std::filesystem::exists(given.file + ".part"));
  const auto before = read_file(given.file);
  const auto reader = open_export(given.file);
  CHECK(export_records(**reader, {}, given.file).error().code() == ErrorCode::already_exists);
  CHECK(read_file(given.file) == before);
}

TEST_CASE("journal: a range is exported alone, and one that is not held is refused") {
  Exported given(100, {40, 60});
  const auto reader = open_export(given.file);
  REQUIRE(reader);
  const auto head = *(*reader)->read_head();
  CHECK(head.first == 40);
  CHECK(head.seq == 60);
  Seq count = 0;
  REQUIRE((*reader)->scan(1, [&](const Record&) { return ++count, Visit::go_on; }));
  CHECK(count == 21);
  const auto refusal_of = [&](ExportRange range) {
    return export_records(**reader, range, given.scratch.path("other")).error().code();
  };
  CHECK(refusal_of({39, 60}) == ErrorCode::not_found);
  CHECK(refusal_of({40, 61}) == ErrorCode::not_found);
  CHECK(refusal_of({50, 49}) == ErrorCode::invalid_argument);
  CHECK(refusal_of({0, 50}) == ErrorCode::invalid_argument);
  CHECK(export_records(**reader, {45, 50}, given.scratch.path("other")));
}

TEST_CASE("journal: every altered byte of an export is found, and inside a record it is named") {
  Exported given(20);
  const auto good = read_file(given.file);
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (at % 2 == 0 ? 0x10 : 0xFF));
    patch_file(given.file, at, {bad[at]});
    const auto found = verify_export(given.file);
    INFO("byte " << at);
    REQUIRE(found);
    REQUIRE_FALSE(found->sound);
    const bool is_in_record = at >= 96 && at < good.size() - 96;
    REQUIRE((found->bad_seq != 0) == is_in_record);
    if (is_in_record) REQUIRE(found->problem.find("record " + std::to_string(found->bad_seq)) == 0);
    patch_file(given.file, at, {good[at]});
  }
  CHECK(verify_export(given.file)->sound);
}

TEST_CASE("journal: an export that is cut anywhere or has more at its end is corrupt") {
  Exported given(20);
  const auto good = read_file(given.file);
  for (std::size_t size = 0; size < good.size(); size += 37) {
    write_file(given.file, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
    REQUIRE(open_export(given.file).error().code() == ErrorCode::corrupt);
    REQUIRE_FALSE(verify_export(given.file)->sound);
  }
  auto longer = good;
  longer.push_back('\0');
  write_file(given.file, longer);
  CHECK(open_export(given.file).error().code() == ErrorCode::corrupt);
}

TEST_CASE("journal: a store made from an export has its id, records, hashes and indexes") {
  Exported given(3000);
  const auto folder = given.scratch.path("imported");
  const auto head = import_records(given.file, folder, options_for(OpenMode::create_or_open));
  if (!head) FAIL(head.error().message());
  CHECK(head->hash == given.head.hash);
  const auto log = open_log(folder, options_for(OpenMode::open));
  REQUIRE(log);
  std::string error;
  CHECK(transcript(**log, error) == given.truth);
  CHECK((*log)->store_id() == given.store);
  CHECK((*log)->verify(1)->sound);
  Batch batch;
  batch.entries.resize(1);
  CHECK(*(*log)->append(batch) == 3001);
}

TEST_CASE(
    "journal: an import into a folder that holds anything, or of a bad export, makes nothing") {
  Exported given(30);
  const auto options = options_for(OpenMode::create_or_open);
  CHECK(import_records(given.file, given.scratch.path("store"), options).error().code() ==
        ErrorCode::not_empty);
  auto bad = read_file(given.file);
  bad[bad.size() / 2] ^= 1;
  write_file(given.scratch.path("bad"), bad);
  CHECK(import_records(given.scratch.path("bad"), given.scratch.path("new"), options)
            .error()
            .code() == ErrorCode::corrupt);
  CHECK_FALSE(std::filesystem::exists(given.scratch.path("new")));
  CHECK_FALSE(std::filesystem::exists(given.scratch.path("new.importing")));
}

TEST_CASE("journal: an empty journal is exported and imported as one") {
  Scratch scratch;
  make_store(scratch.path("store"), 0);
  auto log = open_log(scratch.path("store"), options_for(OpenMode::open));
  REQUIRE(log);
  REQUIRE(export_records(**log, {}, scratch.path("file")));
  CHECK((*open_export(scratch.path("file")))->read_head()->seq == 0);
  REQUIRE(import_records(scratch.path("file"), scratch.path("new"),
                         options_for(OpenMode::create_or_open)));
  CHECK((*open_log(scratch.path("new"), options_for(OpenMode::open)))->read_head()->seq == 0);
}

TEST_CASE("journal: what is no export is refused as what it is") {
  Scratch scratch;
  CHECK(open_export(scratch.path("none")).error().code() == ErrorCode::not_found);
  write_file(scratch.path("text"), std::vector<char>(1000, 'x'));
  CHECK(open_export(scratch.path("text")).error().code() == ErrorCode::corrupt);
  CHECK(open_export(scratch.path("")).error().code() == ErrorCode::invalid_argument);
  REQUIRE(::mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK(open_export(scratch.path("pipe")).error().code() == ErrorCode::invalid_argument);
}
