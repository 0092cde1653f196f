// What a store says of its host: status, what is owned, records. Text for people, JSON for programs
// (docs/reference/json.md). Works on a live store, a copy or an export alike.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datum/core/state.hpp"
#include "datum/core/status.hpp"
#include "datum/history/events.hpp"
#include "datum/inspect/report.hpp"

namespace datum::inspect {

[[nodiscard]] std::string status_text(const core::State& state, const core::HostStatus& status,
                                      WallNs now, const Style& style);
[[nodiscard]] std::string status_json(const core::State& state, const core::HostStatus& status);

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
