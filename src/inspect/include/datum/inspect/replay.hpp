// What a journal said at one of its records: the state that its events add up to there, shown as
// one of several projections; and how one pass would have gone in the other mode. Read-only, over a
// store, a copy or an export alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/core/state.hpp"
#include "datum/history/events.hpp"
#include "datum/inspect/report.hpp"

namespace datum::inspect {

enum class Projection : std::uint8_t { lifecycle, owned, status, drift, passes, notifications };
[[nodiscard]] std::optional<Projection> find_projection(std::string_view name);

// One thing of a projection, for comparing two of them. `key` names it, `text` is all of it.
struct ProjectionRow {
  std::string key;
  std::string text;
};
struct Replayed {
  Seq at = 0;        // the record it rests on
  std::string text;  // for people
  std::string json;  // lines; docs/reference/json.md
  std::vector<ProjectionRow> rows;
};
// After record `at` (0: the newest). `not_found` where the journal does not hold all records up to
// there; `corrupt` names the record.
[[nodiscard]] Result<Replayed> replay(journal::Reader& reader, Projection projection, Seq at,
                                      const Style& style);

// The last pass that had begun at record `at`, as if it had only observed: byte for byte what
// `observe` would have printed then, but for ids and times. `drift` and `status` only. What left
// the declaration is named from the plan in `content`.
[[nodiscard]] Result<Replayed> replay_as_observed(journal::Reader& reader,
                                                  const ContentSource& content,
                                                  Projection projection, Seq at,
                                                  const Style& style);
// The same pass as if it had enforced: its plan, each action marked as one that would be done. The
// plan is read from `content` (`not_found` if it is not there).
[[nodiscard]] Result<Replayed> replay_as_enforced(journal::Reader& reader,
                                                  const ContentSource& content, Seq at,
                                                  const Style& style);

// What differs between two replays of one projection: lines with - and +, or JSON lines.
[[nodiscard]] std::string diff_text(const Replayed& before, const Replayed& after,
                                    const Style& style);
[[nodiscard]] std::string diff_json(const Replayed& before, const Replayed& after);

// The newest record that is not younger than `time`; `not_found` if all are.
[[nodiscard]] Result<Seq> find_seq_at(journal::Reader& reader, WallNs time);

}  // namespace datum::inspect
