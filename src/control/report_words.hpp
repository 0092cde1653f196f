// What the reports of this module share: how a node stands and is written. Private to the module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/control/report.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::control {

// Not linked, and not heard of for three heartbeats.
[[nodiscard]] bool is_silent(const Presence& presence, const View& view);
// A newer declaration was released to it than the one that it reports.
[[nodiscard]] bool is_behind(const Node& node);
[[nodiscard]] std::string generation_text(const core::Generation& generation);
[[nodiscard]] std::string time_text(WallNs at);
void write_generation(text::JsonWriter& json, std::string_view name,
                      const core::Generation& generation);

}  // namespace datum::control
