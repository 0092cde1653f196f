// A journal in memory that holds the events of a few passes, for whoever reads one.
#pragma once

#include <optional>
#include <vector>

#include "datum/inspect/attribution.hpp"

namespace datum::test {

// The records of a journal, for reading only.
class Records final : public journal::Reader {
 public:
  Seq add(const core::Event& event) {
    now_s += 10;
    const journal::Stamp stamp{
        {(now_s + wall_ahead_s) * kNsPerSecond}, {now_s * kNsPerSecond}, boot};
    const auto seq = static_cast<Seq>(encoded_.size()) + 1;
    encoded_.push_back(history::encode(event, seq, stamp));
    return seq;
  }
  Seq begin_pass() {
    core::PassStarted started;
    started.declaration.manifest.bytes[0] = manifest;
    return pass_ = add(started);
  }
  void end_pass() {
    core::PassFinished finished;
    finished.pass = pass_;
    finished.condition = core::Condition::converged;
    add(finished);
  }
  Seq observe(core::Condition condition) {
    core::ResourceObserved event;
    event.pass = pass_;
    event.reference = {model::ResourceType::file, "f"};
    event.target = target;
    event.condition = condition;
    return add(event);
  }
  Seq correct(std::int64_t duration_s = 0) {
    core::ActionSucceeded event;
    event.pass = pass_;
    event.target = target;
    event.reference = {model::ResourceType::file, "f"};
    event.duration_ns = duration_s * kNsPerSecond;
    return add(event);
  }
  // One pass that finds it so and records it.
  Seq pass(core::Condition condition) {
    begin_pass();
    const auto seq = observe(condition);
    end_pass();
    return seq;
  }
  // One pass in which nothing changed.
  PassId quiet_pass() {
    const auto id = begin_pass();
    end_pass();
    return id;
  }

  std::int64_t wall_of(Seq seq) const { return encoded_[seq - 1].stamp.wall.ns; }

  [[nodiscard]] Result<journal::Head> read_head() override {
    return journal::Head{encoded_.size(), {}, 1};
  }
  [[nodiscard]] Status scan(Seq from, const journal::Visitor& visit) override {
    for (Seq seq = from; seq <= encoded_.size(); ++seq)
      if (visit(record(seq)) == journal::Visit::stop) break;
    return {};
  }
  [[nodiscard]] Status scan_back(Seq from, const journal::Visitor& visit) override {
    for (Seq seq = from; seq >= 1; --seq)
      if (visit(record(seq)) == journal::Visit::stop) break;
    return {};
  }
  [[nodiscard]] Status read(Seq seq, const journal::Visitor& visit) override {
    if (seq <= archived || seq > encoded_.size()) return fail(ErrorCode::not_found, "no record");
    static_cast<void>(visit(record(seq)));
    return {};
  }
  [[nodiscard]] Result<std::vector<Seq>> find(std::string_view, std::string_view, Seq,
                                              std::size_t) override {
    return std::vector<Seq>{};
  }
  [[nodiscard]] Result<std::optional<Bytes>> read_meta(std::string_view) override {
    return std::optional<Bytes>();
  }
  [[nodiscard]] Result<std::optional<Bytes>> read_projection(std::string_view) override {
    return checkpoint;
  }
  [[nodiscard]] Result<journal::Usage> read_usage() override { return journal::Usage{}; }
  Id128 store_id() const override { return {}; }
  std::uint32_t level() const override { return 1; }

  [[nodiscard]] Seq size() const { return encoded_.size(); }

  std::optional<Bytes> checkpoint;
  Seq archived = 0;  // up to here records are gone
  std::uint8_t manifest = 1;
  std::int64_t now_s = 1000;
  std::int64_t wall_ahead_s = 1'000'000;
  Id128 boot{{1}};
  model::Target target{model::TargetFamily::path, "/etc/motd"};

 private:
  journal::Record record(Seq seq) const {
    journal::Record record;
    record.seq = seq;
    record.kind = encoded_[seq - 1].kind;
    record.stamp = encoded_[seq - 1].stamp;
    record.payload = encoded_[seq - 1].payload;
    return record;
  }
  std::vector<history::EncodedEvent> encoded_;
  PassId pass_ = 0;
};

}  // namespace datum::test
