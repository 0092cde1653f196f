// A line of YAML with the quotes that its writer left out. Heuristic by nature: it is shown to a
// person as a hint and is never parsed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace datum::yaml {

// Byte offset of the first unquoted value of `line` that begins with `{{`.
[[nodiscard]] std::optional<std::size_t> find_bare_braces(std::string_view line);

// `line` with every unquoted `Type[name]` in quotes; nullopt if it has none.
[[nodiscard]] std::optional<std::string> quote_references(std::string_view line);

// `line` with the value that begins at byte `at` in quotes: inside `[…]` or `{…}` up to the next
// separator, else up to the end of the line or a comment. Surrounding spaces of the line are kept
// off the hint.
[[nodiscard]] std::string quote_value(std::string_view line, std::size_t at);

// Byte offset of the character `column` (from 0) of `line`, at most its size.
[[nodiscard]] std::size_t byte_of_column(std::string_view line, std::size_t column);

// Code points of `line`, which is valid UTF-8.
[[nodiscard]] std::size_t character_count(std::string_view line);

}  // namespace datum::yaml
