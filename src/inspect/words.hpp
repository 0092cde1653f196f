// Words, marks and colours that several reports share. Internal to inspect.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/core/observation.hpp"
#include "datum/core/pass_event.hpp"
#include "datum/core/plan.hpp"
#include "datum/core/status.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"

namespace datum::inspect {

[[nodiscard]] text::Colour colour_of(core::Condition condition);
[[nodiscard]] std::string_view phase_word(core::Phase phase);
// "content, mode".
[[nodiscard]] std::string field_list(const std::vector<core::FieldDrift>& drifts);
// Adds ", 3 drifted" to a list, without the comma at its begin; nothing if there are none.
void add_count(std::string& list, std::size_t count, std::string_view word);
// "3 done, 1 failed", only what is not zero; empty when all are.
[[nodiscard]] std::string actions_text(const core::PassFinished& finished);
// "3 drifted, 40 converged", only what is not zero; "no resources" when all are.
[[nodiscard]] std::string counts_text(const core::Counts& counts);
// The same, with what left the declaration and is still there, and how many of the drifted are
// acknowledged.
[[nodiscard]] std::string counts_text(const core::HostStatus& status);
// "acknowledged by anna until 2026-12-24T00:00:00Z: known"; empty if the target is not.
[[nodiscard]] std::string acknowledged_line(const core::Acknowledgements& acknowledged,
                                            const model::Target& target);
// The member `acknowledged`: null or {"by", "uid", "reason", "until"}.
void write_acknowledgement(text::JsonWriter& json, const core::Acknowledgements& acknowledged,
                           const model::Target& target);
// "observing, held"; empty when there are none.
[[nodiscard]] std::string flags_text(std::uint32_t flags);
// `text` filled up with spaces to `columns` code points.
[[nodiscard]] std::string pad(std::string_view text, std::size_t columns);
// Lines "    field  observed -> desired", aligned.
[[nodiscard]] std::string drift_lines(const std::vector<core::FieldDrift>& drifts,
                                      std::size_t indent, std::size_t width);
void write_drifts(text::JsonWriter& json, const std::vector<core::FieldDrift>& drifts);
void write_flags(text::JsonWriter& json, std::uint32_t flags);

}  // namespace datum::inspect
