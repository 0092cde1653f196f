// The simulated log under seeded faults. Must be survived: a crash at any time with unsynced writes
// lost, kept or torn; writes and syncs that fail; a full disk. Need not be survived: damage to what
// was synced (it must be named).
#include "datum/journal/sim_log.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace datum;
using namespace datum::journal;

namespace {

OpenOptions options() {
  OpenOptions options;
  options.indexes = {"targets"};
  return options;
}

std::string payload_of(Seq seq) {
  return std::string(seq * 37 % 900, static_cast<char>('a' + seq % 26));
}

// What was acknowledged, and what was begun when the log failed.
struct Oracle {
  Seq acknowledged = 0;
  Seq begun = 0;
};

Result<Seq> append_batch(Log& log, Seq from, Seq count) {
  std::vector<std::string> payloads;
  for (Seq seq = from; seq < from + count; ++seq) payloads.push_back(payload_of(seq));
  Batch batch;
  for (const auto& payload : payloads) {
    Entry entry;
    entry.payload = as_bytes(payload);
    entry.keys = {{"targets", "t"}};
    batch.entries.push_back(entry);
  }
  batch.meta.push_back({"last", to_bytes(std::to_string(from + count - 1))});
  return log.append(batch);
}

void check_against(Log& log, Oracle& oracle) {
  const auto head = log.read_head();
  REQUIRE(head);
  REQUIRE((head->seq == oracle.acknowledged || head->seq == oracle.begun));
  Seq next = 1;
  REQUIRE(log.scan(1, [&](const Record& record) {
    REQUIRE(record.seq == next);
    REQUIRE(as_text(record.payload) == payload_of(next));
    ++next;
    return Visit::go_on;
  }));
  REQUIRE(next == head->seq + 1);
  REQUIRE(log.find("targets", "t", 1, 1'000'000)->size() == head->seq);
  if (head->seq > 0) REQUIRE(**log.read_meta("last") == to_bytes(std::to_string(head->seq)));
  REQUIRE(log.verify(1)->sound);
  oracle.acknowledged = oracle.begun = head->seq;
}

SimFaults draw_faults(std::mt19937& random) {
  SimFaults faults;
  if (random() % 3 == 0) faults.fail_write = 1 + random() % 12;
  if (random() % 3 == 0) faults.fail_sync = 1 + random() % 12;
  return faults;
}

}  // namespace

TEST_CASE("journal: a simulated log gives back what it acknowledged and never half of a batch") {
  const auto seed = GENERATE(range(1U, 201U));
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto disk = std::make_shared<SimDisk>(seed);
  Oracle oracle;
  int failures = 0;
  for (int life = 0; life < 8; ++life) {
    disk->set_faults(draw_faults(random));
    auto log = open_sim_log(disk, options());
    if (!log) {
      // The disk failed while it was opened; without faults it must open.
      disk->set_faults({});
      if (random() % 2 == 0) disk->crash();
      log = open_sim_log(disk, options());
      if (!log) FAIL(log.error().message());
    }
    check_against(**log, oracle);
    const auto appends = random() % 12;
    for (unsigned i = 0; i < appends; ++i) {
      const Seq count = 1 + random() % 6;
      oracle.begun = oracle.acknowledged + count;
      if (!append_batch(**log, oracle.acknowledged + 1, count)) {
        ++failures;
        REQUIRE(append_batch(**log, 1, 1).error().code() == ErrorCode::unavailable);
        break;
      }
      oracle.acknowledged = oracle.begun;
    }
    if (random() % 2 == 0) disk->crash();
    if (random() % 4 == 0) REQUIRE((*log)->close());
  }
  disk->crash();
  auto log = open_sim_log(disk, options());
  REQUIRE(log);
  check_against(**log, oracle);
  REQUIRE(failures <= 8);
}

TEST_CASE("journal: a log of before a simulated crash writes nothing after it") {
  const auto disk = std::make_shared<SimDisk>(3);
  auto old = open_sim_log(disk, options());
  REQUIRE(old);
  REQUIRE(append_batch(**old, 1, 2));
  disk->crash();
  auto log = open_sim_log(disk, options());
  REQUIRE(log);
  CHECK(append_batch(**old, 3, 1).error().code() == ErrorCode::unavailable);
  old->reset();
  CHECK(open_sim_log(disk, options()).error().code() == ErrorCode::busy);
  CHECK(*append_batch(**log, 3, 1) == 3);
}

TEST_CASE("journal: a full simulated disk refuses, and has room again when it is larger") {
  const auto disk = std::make_shared<SimDisk>(3, 4096);
  Seq held = 0;
  {
    auto log = open_sim_log(disk, options());
    REQUIRE(log);
    Result<Seq> result = Seq{0};
    while ((result = append_batch(**log, held + 1, 1))) held = *result;
    CHECK(result.error().code() == ErrorCode::no_space);
    CHECK(held > 0);
  }
  disk->set_capacity(1 << 20);
  auto log = open_sim_log(disk, options());
  REQUIRE(log);
  Oracle oracle{held, held + 1};
  check_against(**log, oracle);
  CHECK(append_batch(**log, held + 1, 1));
}

TEST_CASE("journal: damage to what a simulated disk had synced is corrupt, or is the last batch") {
  for (std::uint64_t at = 0; at < 3000; at += 7) {
    const auto disk = std::make_shared<SimDisk>(3);
    std::uint64_t last_begin = 0;
    {
      auto log = open_sim_log(disk, options());
      REQUIRE(log);
      for (Seq seq = 1; seq <= 5; ++seq) {
        last_begin = disk->contents().size();
        REQUIRE(append_batch(**log, seq, 1));
      }
    }
    if (at >= disk->contents().size()) break;
    disk->flip(at, 0x20);
    const auto log = open_sim_log(disk, options());
    INFO("byte " << at);
    if (at < last_begin) {
      REQUIRE_FALSE(log);
      REQUIRE(log.error().code() == ErrorCode::corrupt);
    } else {
      REQUIRE(log);
      REQUIRE((*log)->read_head()->seq == 4);
    }
  }
}
