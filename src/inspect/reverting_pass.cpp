// The newest pass, where it was one that put something back: the state keeps the last one over a
// declaration alone, so this is read from the few records behind that one's end.
#include "datum/inspect/store_report.hpp"

namespace datum::inspect {

namespace {

class Newest {
 public:
  explicit Newest(const core::State& state)
      : bottom_(state.last_pass ? state.last_pass->finished_at : 0) {}

  // Newest first. False once there is nothing more to find.
  bool take(const history::StoredEvent& stored) {
    if (const auto* finished = std::get_if<core::PassFinished>(&stored.event)) {
      if (found_.pass.id != 0) return false;
      found_.pass.id = finished->pass;
      found_.pass.finished_at = stored.place.seq;
      found_.pass.finished = *finished;
      found_.pass.wall = stored.place.wall;
    } else if (stored.place.seq == found_.pass.id) {
      if (const auto* started = std::get_if<core::PassStarted>(&stored.event)) {
        found_.pass.mode = started->mode;
        found_.pass.declaration = started->declaration;
        found_.reverts = started->reverts;
      }
      return false;
    }
    return true;
  }

  [[nodiscard]] Seq bottom() const { return bottom_; }

  [[nodiscard]] std::optional<RevertingPass> found() const {
    return found_.reverts == 0 ? std::nullopt : std::optional(found_);
  }

 private:
  Seq bottom_;
  RevertingPass found_;
};

}  // namespace

Result<std::optional<RevertingPass>> read_reverting(journal::Reader& reader,
                                                    const core::State& state) {
  Newest newest(state);
  if (state.seq <= newest.bottom()) return newest.found();
  Status decoded;
  DATUM_TRY(reader.scan_back(state.seq, [&](const journal::Record& record) {
    if (record.seq <= newest.bottom()) return journal::Visit::stop;
    const auto kind = static_cast<core::EventKind>(record.kind);
    const bool tells =
        kind == core::EventKind::pass_finished || kind == core::EventKind::pass_started;
    if (!tells) return journal::Visit::go_on;
    const auto stored = history::decode(record);
    if (!stored) decoded = fail(stored.error());
    return stored && newest.take(*stored) ? journal::Visit::go_on : journal::Visit::stop;
  }));
  DATUM_TRY(decoded);
  return newest.found();
}

}  // namespace datum::inspect
