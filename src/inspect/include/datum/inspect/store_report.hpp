// What a store says of its host: status, what is owned, records. Text for people, JSON for programs
// (docs/reference/json.md). Works on a live store, a copy or an export alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datum/core/state.hpp"
#include "datum/core/status.hpp"
#include "datum/history/events.hpp"
#include "datum/inspect/report.hpp"

namespace datum::inspect {

// A target that somebody else keeps changing: its newest corrections, oldest first, and what each
// of them undid.
struct ContestLine {
  struct Corrected {
    WallNs at;
    Seq seq = 0;
    std::vector<core::FieldDrift> from;
  };
  model::Target target;
  model::Reference reference;
  std::vector<Corrected> corrections;
};
// Of the targets that are contested at that moment, from the records up to the state's. Reads the
// newest records first: a contested target has many.
[[nodiscard]] Result<std::vector<ContestLine>> read_contests(journal::Reader& reader,
                                                             const core::State& state,
                                                             const core::StatusInput& now);

// A pass that put back what another one had changed. The state's last pass is the last one over a
// declaration: what the status rests on.
struct RevertingPass {
  core::LastPass pass;
  PassId reverts = 0;
};
// The newest pass that finished, if it was one of these and came after the state's last pass. Reads
// the records from the state's back to that pass's end only.
[[nodiscard]] Result<std::optional<RevertingPass>> read_reverting(journal::Reader& reader,
                                                                  const core::State& state);

// What stands beside a status: contested targets, and what is wrong with the store itself, in
// words.
struct StatusNotes {
  std::span<const ContestLine> contests;
  std::span<const std::string> faults;
  std::string link = {};  // what a running service says of its link; empty: nothing
  std::optional<RevertingPass> reverting = {};
};
[[nodiscard]] std::string status_text(const core::State& state, const core::HostStatus& status,
                                      const StatusNotes& notes, WallNs now, const Style& style);
[[nodiscard]] std::string status_json(const core::State& state, const core::HostStatus& status,
                                      const StatusNotes& notes, WallNs now);

// {"target", "acknowledged"}, one line.
[[nodiscard]] std::string acknowledgement_json(const core::State& state,
                                               const model::Target& target);

// One owned target and what is there now.
struct OwnedLine {
  model::Target target;
  core::Owned owned;
  core::LeavingObservation now;
};
[[nodiscard]] std::string owned_text(std::span<const OwnedLine> lines, const Style& style);
[[nodiscard]] std::string owned_json(std::span<const OwnedLine> lines);  // JSON lines

// One record a line: sequence, time, kind, and what it is about.
[[nodiscard]] std::string event_line(const history::StoredEvent& stored, const Style& style);
// {"seq", "time", "kind", "pass", …fields}, one line.
[[nodiscard]] std::string event_json(const history::StoredEvent& stored);
// One record with all its fields, one a line.
[[nodiscard]] std::string event_text(const history::StoredEvent& stored, const Style& style);

}  // namespace datum::inspect
