// Contested targets in a status. Internal to inspect.
#pragma once

#include <span>
#include <string>

#include "datum/inspect/store_report.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::inspect {

[[nodiscard]] std::string contests_text(std::span<const ContestLine> contests, WallNs now,
                                        const Style& style);
// The member `contested`.
void write_contests(text::JsonWriter& json, std::span<const ContestLine> contests);

}  // namespace datum::inspect
