// What a scalar means and whether it may stand in a single-line field. `yaml.hpp` keeps scalars as
// written; only the caller knows which type a field has, so it asks here. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/yaml/yaml.hpp"

namespace datum::yaml {

enum class ScalarType : std::uint8_t { string, integer, boolean, null, floating };
[[nodiscard]] std::string_view to_string(ScalarType type);  // "text", "a number", "a boolean", …

// By the YAML 1.2 core schema. Quoted, literal and folded scalars are strings. Of plain ones,
// `true True TRUE false False FALSE` are booleans, `null Null NULL ~` and nothing are null,
// decimal, `0o7` and `0xF` are integers, and so on; `yes no on off` are strings. A field of text
// must refuse whatever is not a string here (`mode: 0640`) and can show `quoted(text)` instead.
[[nodiscard]] ScalarType classify(const Node& scalar);
[[nodiscard]] ScalarType classify_plain(std::string_view text);

// The value of a field of that type, nullopt for anything else. Stricter than `classify`, since
// values are exact in case and form: booleans are plain `true` and `false` alone, integers plain
// decimal without leading zeros or `+`, within 64 bits.
[[nodiscard]] std::optional<bool> find_boolean(const Node& node);
[[nodiscard]] std::optional<std::int64_t> find_integer(const Node& node);
// True for a plain null, and for nothing that is quoted.
[[nodiscard]] bool is_null(const Node& node);

// `text` as a YAML double-quoted scalar on one line: reads back as exactly these characters. Bytes
// that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string quoted(std::string_view text);

// What forbids `text` in a single-line field (name, key, path, reference …), in words with its code
// point: a control character (newline and tab included), a bidirectional control, invalid UTF-8, or
// text that is not in normal form NFC. nullopt if nothing does. Plain ASCII costs one pass.
[[nodiscard]] std::optional<std::string> find_single_line_fault(std::string_view text);

}  // namespace datum::yaml
