#include <catch2/catch.hpp>
#include <thread>

#include "journal_store.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

static std::unique_ptr<TestStore> any_store() {
  return make_store(GENERATE(as<std::string>{}, "lmdb", "sim"));
}

TEST_CASE("journal: a new log is empty and says so") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  const auto head = log->read_head();
  REQUIRE(head);
  CHECK(head->seq == 0);
  CHECK(head->first == 1);
  CHECK(head->hash.empty());
  CHECK(all_records(*log).empty());
  CHECK_FALSE(log->store_id().empty());
  CHECK(log->read(1, [](const Record&) { return Visit::go_on; }).error().code() ==
        ErrorCode::not_found);
}

TEST_CASE("journal: append after reopen continues the sequence") {
  const auto store = any_store();
  Id128 id;
  {
    const auto log = open_or_fail(*store);
    id = log->store_id();
    CHECK(append_or_fail(*log, {"a", "b"}) == 2);
    REQUIRE(log->close());
  }
  const auto log = open_or_fail(*store);
  CHECK(log->store_id() == id);
  CHECK(append_or_fail(*log, {"c"}) == 3);
  CHECK(all_records(*log) ==
        std::vector<std::pair<Seq, std::string>>{{1, "a"}, {2, "b"}, {3, "c"}});
}

TEST_CASE("journal: a log that was not closed opens with everything that was acknowledged") {
  const auto store = any_store();
  {
    const auto log = open_or_fail(*store);
    append_or_fail(*log, {"a", "b", "c"});
  }
  const auto log = open_or_fail(*store);
  CHECK(all_records(*log).size() == 3);
}

TEST_CASE("journal: a record comes back with every field that it was given") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  Entry entry = entry_of("payload", {{"targets", "web"}}, 0xFFFF);
  entry.flags = 0x8001;
  entry.stamp.wall.ns = -5;
  entry.stamp.mono.ns = std::int64_t{1} << 62;
  entry.stamp.boot.bytes[15] = 7;
  REQUIRE(log->append({{entry}, {}, {}, {}}));
  bool is_visited = false;
  REQUIRE(log->read(1, [&](const Record& record) {
    is_visited = true;
    CHECK(record.seq == 1);
    CHECK(record.kind == 0xFFFF);
    CHECK(record.flags == 0x8001);
    CHECK(record.level == 1);
    CHECK(record.stamp.wall.ns == -5);
    CHECK(record.stamp.mono.ns == std::int64_t{1} << 62);
    CHECK(record.stamp.boot == entry.stamp.boot);
    CHECK(record.previous.empty());
    CHECK(as_text(record.payload) == "payload");
    CHECK(record.stored.size() == 104);
    CHECK(hash_of(record) == log->read_head()->hash);
    return Visit::go_on;
  }));
  CHECK(is_visited);
}

TEST_CASE("journal: each record carries the hash of the one before") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  append_or_fail(*log, {"a", "b"});
  append_or_fail(*log, {std::string(5000, 'x'), ""});
  Digest previous;
  REQUIRE(log->scan(1, [&](const Record& record) {
    CHECK(record.previous == previous);
    previous = hash_of(record);
    return Visit::go_on;
  }));
  CHECK(previous == log->read_head()->hash);
  const auto verified = log->verify(1);
  REQUIRE(verified);
  CHECK(verified->sound);
  CHECK(verified->records == 4);
}

TEST_CASE("journal: payloads of every size from nothing to the limit are kept exactly") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  const std::vector<std::size_t> sizes = {0, 1, 7, 8, 9, 1900, 2038, 4000, 65535, kMaxPayload};
  for (const auto size : sizes) append_or_fail(*log, {std::string(size, 'p')});
  const auto records = all_records(*log);
  REQUIRE(records.size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    CHECK(records[i].second == std::string(sizes[i], 'p'));
}

TEST_CASE("journal: a scan passes the limit of one transaction and stops when it is told") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  for (int i = 0; i < 3; ++i) append_or_fail(*log, std::vector<std::string>(1000, "r"));
  CHECK(all_records(*log).size() == 3000);
  Seq last = 0;
  REQUIRE(log->scan(10, [&](const Record& record) {
    last = record.seq;
    return record.seq == 2500 ? Visit::stop : Visit::go_on;
  }));
  CHECK(last == 2500);
  int count = 0;
  REQUIRE(log->scan(3001, [&](const Record&) { return ++count, Visit::go_on; }));
  CHECK(count == 0);
}

TEST_CASE(
    "journal: a scan back goes from the head, or from where it is told, to the first record") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  append_or_fail(*log, std::vector<std::string>(2100, "r"));
  const auto seen_from = [&](Seq from) {
    std::vector<Seq> seen;
    REQUIRE(log->scan_back(from, [&](const Record& record) {
      seen.push_back(record.seq);
      return Visit::go_on;
    }));
    return seen;
  };
  const auto all = seen_from(0);
  REQUIRE(all.size() == 2100);
  CHECK(all.front() == 2100);
  CHECK(all.back() == 1);
  CHECK(std::is_sorted(all.rbegin(), all.rend()));
  CHECK(seen_from(3) == std::vector<Seq>{3, 2, 1});
  CHECK(seen_from(9999).size() == 2100);
}

TEST_CASE("journal: an index gives the sequences of a key in order, and of no other key") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  const std::string longest(kMaxName, 'k');
  Batch batch;
  for (int i = 0; i < 3000; ++i)
    batch.entries.push_back(entry_of("x", {{"targets", i % 2 == 0 ? "even" : "odd"}}));
  batch.entries.push_back(entry_of("x", {{"targets", longest}, {"passes", "even"}}));
  batch.entries.push_back(entry_of("x", {{"targets", "eve"}, {"targets", "eve"}}));
  REQUIRE(log->append(batch));
  const auto even = log->find("targets", "even", 0, 5000);
  REQUIRE(even);
  CHECK(even->size() == 1500);
  CHECK(even->front() == 1);
  CHECK(even->back() == 2999);
  CHECK(*log->find("targets", "even", 2990, 3) == std::vector<Seq>{2991, 2993, 2995});
  CHECK(*log->find("targets", longest, 1, 10) == std::vector<Seq>{3001});
  CHECK(*log->find("targets", "eve", 1, 10) == std::vector<Seq>{3002});
  CHECK(*log->find("passes", "even", 1, 10) == std::vector<Seq>{3001});
  CHECK(log->find("targets", "none", 1, 10)->empty());
  CHECK(log->find("targets", "even", 1, 0)->empty());
  CHECK(log->find("nowhere", "even", 1, 10).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("journal: metadata and projections are set, replaced and removed with their batch") {
  const auto store = any_store();
  {
    const auto log = open_or_fail(*store);
    Batch batch;
    batch.meta.push_back({"acknowledged", to_bytes("17")});
    batch.projections.push_back({"status", to_bytes(std::string(200'000, 's'))});
    batch.projections.push_back({"acknowledged", to_bytes("other")});
    CHECK(*log->append(batch) == 0);
    batch = {};
    batch.meta.push_back({"acknowledged", to_bytes("18")});
    batch.projections.push_back({"acknowledged", {}});
    batch.projections.push_back({"never", {}});
    REQUIRE(log->append(batch));
    REQUIRE(log->close());
  }
  const auto log = open_or_fail(*store);
  CHECK(**log->read_meta("acknowledged") == to_bytes("18"));
  CHECK((*log->read_projection("status"))->size() == 200'000);
  CHECK_FALSE(log->read_projection("acknowledged")->has_value());
  CHECK_FALSE(log->read_meta("never")->has_value());
}

TEST_CASE("journal: what is over a limit or names nothing known is refused and leaves no trace") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  const std::string big(kMaxPayload + 1, 'x');
  const std::string long_key(kMaxName + 1, 'k');
  const auto refusal_of = [&](const Batch& batch) {
    const auto seq = log->append(batch);
    REQUIRE_FALSE(seq);
    return seq.error().code();
  };
  const auto with_entries = [](std::vector<Entry> entries) {
    return Batch{std::move(entries), {}, {}, {}};
  };
  const auto with_meta = [](std::string name, std::size_t size) {
    return Batch{{}, {{std::move(name), Bytes(size)}}, {}, {}};
  };
  CHECK(refusal_of(with_entries({entry_of("ok"), entry_of(big)})) == ErrorCode::limit_exceeded);
  CHECK(refusal_of(with_entries(std::vector<Entry>(kMaxBatchRecords + 1, entry_of("")))) ==
        ErrorCode::limit_exceeded);
  const std::string full(kMaxPayload, 'x');
  CHECK(refusal_of(with_entries(std::vector<Entry>(128, entry_of(full)))) ==
        ErrorCode::limit_exceeded);
  CHECK(refusal_of(with_entries({entry_of("", {{"nowhere", "k"}})})) ==
        ErrorCode::invalid_argument);
  CHECK(refusal_of(with_entries({entry_of("", {{"targets", ""}})})) == ErrorCode::invalid_argument);
  CHECK(refusal_of(with_entries({entry_of("", {{"targets", long_key}})})) ==
        ErrorCode::invalid_argument);
  CHECK(refusal_of(with_entries(
            {entry_of("", std::vector<IndexKey>(kMaxEntryKeys + 1, IndexKey{"targets", "k"}))})) ==
        ErrorCode::limit_exceeded);
  CHECK(refusal_of(with_meta("journal.level", 4)) == ErrorCode::invalid_argument);
  CHECK(refusal_of(with_meta("", 4)) == ErrorCode::invalid_argument);
  CHECK(refusal_of(with_meta("big", kMaxMetaValue + 1)) == ErrorCode::limit_exceeded);
  CHECK(refusal_of({{}, {}, {}, 2}) == ErrorCode::invalid_argument);
  CHECK(log->read_head()->seq == 0);
  CHECK(append_or_fail(*log, {"still works"}) == 1);
}

TEST_CASE(
    "journal: a raised level is kept, and a program of the former level is refused in words") {
  const auto store = any_store();
  auto options = standard_options();
  options.level = 2;
  {
    const auto log = open_or_fail(*store, standard_options());
    CHECK(log->level() == 1);
    append_or_fail(*log, {"old"});
    REQUIRE(log->close());
  }
  {
    const auto log = open_or_fail(*store, options);
    CHECK(log->level() == 1);
    REQUIRE(log->append({{entry_of("raised")}, {}, {}, 2}));
    CHECK(log->level() == 2);
    REQUIRE(log->read(2, [](const Record& record) {
      CHECK(record.level == 2);
      return Visit::go_on;
    }));
    REQUIRE(log->close());
  }
  const auto refused = store->open(standard_options());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::unsupported_version);
  CHECK(open_or_fail(*store, options)->level() == 2);
}

TEST_CASE("journal: removed records are gone with their keys, and the rest is sound") {
  const auto store = any_store();
  {
    const auto log = open_or_fail(*store);
    Batch batch;
    for (int i = 0; i < 2500; ++i) batch.entries.push_back(entry_of("x", {{"targets", "web"}}));
    REQUIRE(log->append(batch));
    CHECK(log->remove_before(2501).error().code() == ErrorCode::invalid_argument);
    REQUIRE(log->remove_before(2400));
    CHECK(log->read_head()->first == 2400);
    CHECK(log->find("targets", "web", 1, 5000)->size() == 101);
    CHECK(log->read(2399, [](const Record&) { return Visit::go_on; }).error().code() ==
          ErrorCode::not_found);
    CHECK(all_records(*log).front().first == 2400);
    CHECK(log->verify(1)->sound);
    CHECK(log->verify(2450)->sound);
  }
  const auto log = open_or_fail(*store);
  CHECK(log->read_head()->first == 2400);
  CHECK(append_or_fail(*log, {"next"}) == 2501);
}

TEST_CASE("journal: a reader sees what was appended and never half of a batch") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  auto reader = log->make_reader();
  REQUIRE(reader);
  constexpr int kBatches = 50;
  constexpr Seq kSize = 10;
  bool is_whole = true;
  std::thread reading([&] {
    for (Seq seen = 0; seen < kBatches * kSize;) {
      seen = (*reader)->read_head()->seq;
      if (seen % kSize != 0) is_whole = false;
      Seq counted = 0;
      const auto scanned =
          (*reader)->scan(1, [&](const Record&) { return ++counted, Visit::go_on; });
      if (!scanned || counted < seen || counted % kSize != 0) is_whole = false;
    }
  });
  for (int i = 0; i < kBatches; ++i) append_or_fail(*log, std::vector<std::string>(kSize, "r"));
  reading.join();
  CHECK(is_whole);
  CHECK(log->close().error().code() == ErrorCode::busy);
  reader->reset();
  CHECK(log->close());
}

TEST_CASE("journal: a visitor cannot write to the log that it visits") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  append_or_fail(*log, {"a", "b"});
  ErrorCode code = ErrorCode::internal;
  REQUIRE(log->scan(1, [&](const Record&) {
    code = log->append({{entry_of("c")}, {}, {}, {}}).error().code();
    return Visit::stop;
  }));
  CHECK(code == ErrorCode::invalid_argument);
  CHECK(log->read_head()->seq == 2);
}

TEST_CASE("journal: space that was reserved is there, and space that no disk has is not") {
  const auto store = any_store();
  const auto log = open_or_fail(*store);
  CHECK(log->reserve(1024 * 1024));
  append_or_fail(*log, {"a"});
  log->release_memory();
  CHECK(all_records(*log).size() == 1);
  const auto refused = log->reserve(std::uint64_t{1} << 44);
  REQUIRE_FALSE(refused);
  CHECK((refused.error().code() == ErrorCode::no_space ||
         refused.error().code() == ErrorCode::limit_exceeded));
}

TEST_CASE("journal: options that name impossible indexes or levels are refused") {
  const auto store = any_store();
  const auto refusal_of = [&](const OpenOptions& options) {
    const auto log = store->open(options);
    REQUIRE_FALSE(log);
    return log.error().code();
  };
  auto options = standard_options();
  options.level = 0;
  CHECK(refusal_of(options) == ErrorCode::invalid_argument);
  options = standard_options();
  options.indexes = {"events"};
  CHECK(refusal_of(options) == ErrorCode::invalid_argument);
  options.indexes.assign(kMaxIndexes + 1, "x");
  CHECK(refusal_of(options) == ErrorCode::limit_exceeded);
  options = standard_options();
  options.mode = OpenMode::open;
  CHECK(refusal_of(options) == ErrorCode::not_found);
}

TEST_CASE("journal: an index that is named later begins empty and takes what comes") {
  const auto store = any_store();
  {
    const auto log = open_or_fail(*store);
    append_or_fail(*log, {"a"});
  }
  auto options = standard_options();
  options.indexes.push_back("units");
  const auto log = open_or_fail(*store, options);
  CHECK(log->find("units", "nginx", 1, 10)->empty());
  REQUIRE(log->append({{entry_of("b", {{"units", "nginx"}})}, {}, {}, {}}));
  CHECK(*log->find("units", "nginx", 1, 10) == std::vector<Seq>{2});
  CHECK(log->verify(1)->sound);
}
