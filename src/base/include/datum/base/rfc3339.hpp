// Points in time as text, in the one form that files, events and output share. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/time.hpp"

namespace datum {

enum class Precision : std::uint8_t { seconds, milliseconds };

// RFC 3339 in UTC: "2026-11-29T16:22:42Z"; with milliseconds "2026-11-29T16:22:42.007Z". Rounded
// down to what is shown.
[[nodiscard]] std::string format_rfc3339(WallNs at, Precision precision = Precision::seconds);

// Reads RFC 3339 with "Z" or a numeric offset and up to nine digits of fraction; nullopt for
// anything else, for dates that do not exist, for leap seconds, and for years that 64 bits of
// nanoseconds do not reach.
[[nodiscard]] std::optional<WallNs> find_rfc3339(std::string_view text);

}  // namespace datum
