// Texts for people out of bytes that anybody may have chosen: names, link targets, owners. Bounded,
// on one line, valid UTF-8 whatever went in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/ids.hpp"

namespace datum::resource {

// Control characters and what is not UTF-8 as \xNN; at most kMaxDriftText bytes, then "…".
[[nodiscard]] std::string shown(std::string_view bytes);
// As a document says it: "true" or "false".
[[nodiscard]] std::string word_of(bool flag);
[[nodiscard]] std::string shown_mode(std::uint32_t mode);  // "0640"
[[nodiscard]] std::string shown_content(const Digest& digest, std::uint64_t size);
inline constexpr std::string_view kRedacted = "(redacted)";

}  // namespace datum::resource
