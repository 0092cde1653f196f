#include "journal_store.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "datum/journal/sim_log.hpp"

namespace datum::journal::test {
namespace {

class LmdbStore final : public TestStore {
 public:
  LmdbStore() {
    const char* base = ::getenv("TMPDIR");
    std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/datum-journal-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~LmdbStore() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Result<std::unique_ptr<Log>> open(const OpenOptions& options) override {
    return open_log(folder_ + "/store", options);
  }

 private:
  std::string folder_;
};

class SimStore final : public TestStore {
 public:
  Result<std::unique_ptr<Log>> open(const OpenOptions& options) override {
    return open_sim_log(disk_, options);
  }

 private:
  std::shared_ptr<SimDisk> disk_ = std::make_shared<SimDisk>(1);
};

}  // namespace

std::unique_ptr<TestStore> make_store(const std::string& kind) {
  if (kind == "sim") return std::make_unique<SimStore>();
  return std::make_unique<LmdbStore>();
}

OpenOptions standard_options() {
  OpenOptions options;
  options.indexes = {"targets", "passes"};
  options.walk_limit_ms = 3'600'000;  // a busy machine makes no test fail
  return options;
}

std::unique_ptr<Log> open_or_fail(TestStore& store, const OpenOptions& options) {
  auto log = store.open(options);
  if (!log) FAIL(log.error().message());
  return std::move(*log);
}

Entry entry_of(std::string_view payload, std::vector<IndexKey> keys, std::uint16_t kind) {
  Entry entry;
  entry.kind = kind;
  entry.payload = as_bytes(payload);
  entry.keys = std::move(keys);
  return entry;
}

Seq append_or_fail(Log& log, const std::vector<std::string>& payloads) {
  Batch batch;
  for (const auto& payload : payloads) batch.entries.push_back(entry_of(payload));
  const auto seq = log.append(batch);
  if (!seq) FAIL(seq.error().message());
  return *seq;
}

std::vector<std::pair<Seq, std::string>> all_records(Reader& reader) {
  std::vector<std::pair<Seq, std::string>> records;
  const auto status = reader.scan(1, [&](const Record& record) {
    records.emplace_back(record.seq, as_text(record.payload));
    return Visit::go_on;
  });
  if (!status) FAIL(status.error().message());
  return records;
}

}  // namespace datum::journal::test
