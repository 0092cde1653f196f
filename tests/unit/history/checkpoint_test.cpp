// Checkpoints of any size: a State that is larger than a batch, and one that is cut off.
#include "checkpoint.hpp"

#include <catch2/catch.hpp>

#include "datum/codec/checkpoint.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::history;
using namespace datum::history::test;

namespace {

core::State state_of(std::size_t resources, Seq seq) {
  core::State state;
  state.seq = seq;
  state.host = "h";
  for (std::size_t i = 0; i < resources; ++i) {
    const model::Target target{model::TargetFamily::path, "/etc/many/" + std::to_string(i)};
    auto& resource = state.resources[target];
    resource.reference = *model::find_reference("File[f" + std::to_string(i) + "]");
    resource.observed_at = i + 1;
    resource.condition = core::Condition::converged;
  }
  return state;
}

std::unique_ptr<journal::Log> open(const std::string& folder) {
  journal::OpenOptions options;
  options.indexes = index_names();
  options.walk_limit_ms = 3'600'000;  // a busy machine makes no test fail
  auto log = journal::open_log(folder, options);
  if (!log) FAIL(log.error().message());
  return std::move(*log);
}

// Passes batches on until so many have gone, then fails like a disk.
class FailingLog final : public journal::Log {
 public:
  FailingLog(journal::Log& log, int batches) : log_(log), left_(batches) {}
  Result<Seq> append(const journal::Batch& batch) override {
    if (left_-- <= 0) return fail(ErrorCode::io_error, "the disk failed");
    return log_.append(batch);
  }
  Result<journal::Head> read_head() override { return log_.read_head(); }
  Status scan(Seq from, const journal::Visitor& visit) override { return log_.scan(from, visit); }
  Status scan_back(Seq from, const journal::Visitor& visit) override {
    return log_.scan_back(from, visit);
  }
  Result<std::vector<Seq>> find(std::string_view index, std::string_view key, Seq from,
                                std::size_t limit) override {
    return log_.find(index, key, from, limit);
  }
  Status read(Seq seq, const journal::Visitor& visit) override { return log_.read(seq, visit); }
  Result<std::optional<Bytes>> read_meta(std::string_view name) override {
    return log_.read_meta(name);
  }
  Result<std::optional<Bytes>> read_projection(std::string_view name) override {
    return log_.read_projection(name);
  }
  Result<journal::Usage> read_usage() override { return log_.read_usage(); }
  [[nodiscard]] Id128 store_id() const override { return log_.store_id(); }
  [[nodiscard]] std::uint32_t level() const override { return log_.level(); }
  Status reserve(std::uint64_t bytes) override { return log_.reserve(bytes); }
  Status remove_before(Seq first) override { return log_.remove_before(first); }
  Result<journal::Verification> verify(Seq from) override { return log_.verify(from); }
  Result<std::unique_ptr<journal::Reader>> make_reader() override { return log_.make_reader(); }
  Result<journal::Compaction> compact() override { return log_.compact(); }
  Status close() override { return log_.close(); }

 private:
  journal::Log& log_;
  int left_;
};

}  // namespace

TEST_CASE("history: a checkpoint of any size comes back as it was, and each replaces the former") {
  Scratch scratch;
  const auto log = open(scratch.path + "/journal");
  CHECK_FALSE(read_checkpoint(*log)->has_value());
  // Small, two pieces, five, three, small: slots change and pieces of the former are given up.
  Seq seq = 10;
  for (const std::size_t resources : {10U, 45'000U, 120'000U, 70'000U, 5U, 45'000U, 45'000U}) {
    const auto state = state_of(resources, ++seq);
    const auto encoded = codec::encode_state(state);
    REQUIRE(write_checkpoint(*log, seq, encoded));
    const auto read = read_checkpoint(*log);
    REQUIRE(read);
    REQUIRE(read->has_value());
    CHECK(**read == state);
    const auto held = static_cast<std::uint64_t>(encoded.size());
    CHECK(log->read_usage()->live_bytes < held + held / 8 + 200'000);
  }
}

TEST_CASE("history: a checkpoint that is cut off anywhere leaves the former one") {
  Scratch scratch;
  const auto log = open(scratch.path + "/journal");
  const auto former = state_of(45'000, 11);
  const auto next = codec::encode_state(state_of(120'000, 12));
  REQUIRE(write_checkpoint(*log, 11, codec::encode_state(former)));
  const auto pieces = static_cast<int>((next.size() + kCheckpointPiece - 1) / kCheckpointPiece);
  for (int batches = 0; batches <= pieces; ++batches) {
    FailingLog failing(*log, batches);
    REQUIRE_FALSE(write_checkpoint(failing, 12, next));
    const auto read = read_checkpoint(*log);
    REQUIRE(read);
    REQUIRE(read->has_value());
    CHECK(**read == former);
  }
  REQUIRE(write_checkpoint(*log, 12, next));
  CHECK((*read_checkpoint(*log))->seq == 12);
}

TEST_CASE("history: a checkpoint that lacks a piece is corrupt, never another State") {
  Scratch scratch;
  const auto log = open(scratch.path + "/journal");
  REQUIRE(write_checkpoint(*log, 11, codec::encode_state(state_of(45'000, 11))));
  journal::Batch batch;
  batch.projections.push_back({"state.0.1", {}});
  REQUIRE(log->append(batch));
  const auto read = read_checkpoint(*log);
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == ErrorCode::corrupt);
}

TEST_CASE("history: a State of 60,000 resources opens from its checkpoint and equals a replay") {
  Scratch scratch;
  {
    Life life(scratch.path, 60'000);
    life.host.pass({});
    life.host.pass({1, 2, 3});
    REQUIRE(life.host.close());
  }
  const auto reader = open_reader(scratch.path);
  REQUIRE(reader);
  const auto checkpoint = read_checkpoint(**reader);
  REQUIRE(checkpoint);
  REQUIRE(checkpoint->has_value());
  CHECK((*checkpoint)->resources.size() == 60'000);
  const auto replayed = fold(**reader, 0, false);
  REQUIRE(replayed);
  CHECK(**checkpoint == *replayed);
  CHECK(*fold(**reader, 0, true) == *replayed);
  const auto verified = verify_store(scratch.path);
  REQUIRE(verified);
  CHECK(verified->sound);
}
