#include "passes.hpp"

#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"
#include "words.hpp"

namespace datum::inspect {

namespace {

struct PassRow {
  PassId id = 0;
  WallNs began, ended;
  core::PassStarted started;
  std::string end = "running";  // finished, interrupted, unknown
  std::string cause;            // of an interruption
  core::PassFinished finished;  // counts, also of what was interrupted
  std::uint32_t untellable = 0;
};

// Counts of a pass that did not finish are told by nobody but the state; and what recovery found of
// actions that a death left without an end is counted by no event. A post-mortem counts the same.
class PassCollector {
 public:
  void take(const history::StoredEvent& stored) {
    if (next_ != 0 && stored.place.seq != next_) pass_over_gap();
    next_ = stored.place.seq + 1;
    if (const auto* interrupted = std::get_if<core::PassInterrupted>(&stored.event))
      interrupt(*interrupted, stored.place);
    if (const auto* recovered = std::get_if<core::ActionRecovered>(&stored.event))
      note_recovered(*recovered);
    core::evolve(state_, stored.event, stored.place);
    if (const auto* started = std::get_if<core::PassStarted>(&stored.event)) {
      rows_.push_back({stored.place.seq, stored.place.wall, {}, *started, "running", {}, {}, 0});
      took_effect_ = untellable_ = 0;
    }
    if (const auto* finished = std::get_if<core::PassFinished>(&stored.event);
        finished && is_open()) {
      rows_.back().ended = stored.place.wall;
      rows_.back().end = "finished";
      rows_.back().finished = *finished;
      add_recovered();
    }
  }
  std::vector<PassRow> take_rows() {
    if (state_.pass) note_counts(*state_.pass);
    return std::move(rows_);
  }

 private:
  [[nodiscard]] bool is_open() const { return !rows_.empty() && rows_.back().end != kUnknown; }
  // Records are missing here: how the pass before them ended is among them.
  void pass_over_gap() {
    if (!rows_.empty() && rows_.back().end == "running") rows_.back().end = kUnknown;
    state_ = {};
  }
  void note_counts(const core::PassState& pass) {
    auto& finished = rows_.back().finished;
    finished.succeeded = pass.succeeded;
    finished.failed = pass.failed;
    finished.blocked = pass.blocked;
    finished.skipped = pass.skipped;
    finished.not_started = pass.not_started;
    add_recovered();
  }
  // Of an action that had no end; a second record of it says only that its file has gone.
  void note_recovered(const core::ActionRecovered& event) {
    const auto& pass = state_.pass;
    if (!pass || pass->id != event.pass || !pass->open.contains(event.ordinal)) return;
    took_effect_ += event.outcome == core::RecoveredOutcome::took_effect ? 1 : 0;
    untellable_ += event.outcome == core::RecoveredOutcome::untellable ? 1 : 0;
  }
  void add_recovered() {
    rows_.back().finished.succeeded += took_effect_;
    rows_.back().untellable = untellable_;
  }
  void interrupt(const core::PassInterrupted& event, const core::EventPlace& place) {
    if (!is_open()) return;
    auto& row = rows_.back();
    row.ended = place.wall;
    row.end = "interrupted";
    row.cause = std::string(core::to_string(event.cause));
    if (state_.pass) note_counts(*state_.pass);
  }

  static constexpr std::string_view kUnknown = "unknown";
  core::State state_;
  std::vector<PassRow> rows_;
  std::uint32_t took_effect_ = 0, untellable_ = 0;  // of the pass that is open
  Seq next_ = 0;
};

std::string end_text(const PassRow& row) {
  if (row.end == "finished") return std::string(core::to_string(row.finished.condition));
  return row.end + (row.cause.empty() ? "" : " by " + row.cause);
}

std::string row_actions(const PassRow& row) {
  auto text = actions_text(row.finished);
  add_count(text, row.untellable, "whose outcome cannot be told");
  return text;
}

std::string row_json(const PassRow& row) {
  text::JsonWriter json;
  const auto& finished = row.finished;
  json.begin_object()
      .member("pass", row.id)
      .member("began", text::format_rfc3339(row.began, text::Precision::milliseconds))
      .member("trigger", core::to_string(row.started.trigger))
      .member("actor", row.started.actor.name)
      .member("mode", core::to_string(row.started.mode.mode))
      .member("modeTerm", core::to_string(row.started.mode.term))
      .member("manifest", row.started.declaration.manifest.hex())
      .member("resources", row.started.resources)
      .member("reverts", row.started.reverts)
      .member("end", row.end)
      .member("cause", row.cause)
      .key("ended");
  if (row.ended.ns == 0)
    json.null();
  else
    json.value(text::format_rfc3339(row.ended, text::Precision::milliseconds));
  json.member("condition", row.end == "finished" ? core::to_string(finished.condition) : "")
      .member("succeeded", finished.succeeded)
      .member("failed", finished.failed)
      .member("blocked", finished.blocked)
      .member("skipped", finished.skipped)
      .member("notStarted", finished.not_started)
      .member("untellable", row.untellable)
      .member("durationNs", finished.duration_ns)
      .end_object();
  return json.take() + "\n";
}

}  // namespace

Result<Replayed> passes_of(journal::Reader& reader, Seq at, const Style& style) {
  PassCollector collector;
  Replayed replayed;
  if (at != 0)
    DATUM_TRY(history::scan_events(reader, 1, [&](const history::StoredEvent& stored) {
      collector.take(stored);
      return stored.place.seq >= at ? journal::Visit::stop : journal::Visit::go_on;
    }));
  text::Table table({{"PASS", text::Align::right},
                     {"BEGAN"},
                     {"TRIGGER"},
                     {"BY"},
                     {"MODE"},
                     {"END"},
                     {"ACTIONS"}});
  const auto rows = collector.take_rows();
  for (const auto& row : rows) {
    const auto began = text::format_rfc3339(row.began);
    const auto actions = row_actions(row);
    const auto trigger = row.started.reverts == 0
                             ? std::string(core::to_string(row.started.trigger))
                             : "undoes " + std::to_string(row.started.reverts);
    table.add_row({std::to_string(row.id), began, trigger, row.started.actor.name,
                   core::to_string(row.started.mode.mode), end_text(row), actions});
    replayed.rows.push_back(
        {std::to_string(row.id), "pass " + std::to_string(row.id) + "  " + began + "  " +
                                     std::string(core::to_string(row.started.mode.mode)) + "  " +
                                     end_text(row) + (actions.empty() ? "" : "  " + actions)});
    replayed.json += row_json(row);
  }
  replayed.text = rows.empty() ? "No pass has begun.\n"
                               : table.render(text::Painter(style.colour), style.width);
  return replayed;
}

}  // namespace datum::inspect
