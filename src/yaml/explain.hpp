// What libyaml complains about, in words for the person who wrote the file, with the corrected line
// where one can be made. Knows libyaml's messages; sees text only after a fault was found.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datum/yaml/yaml.hpp"

namespace datum::yaml {

// A corrected line longer than this helps nobody, and a line may be as long as a document.
inline constexpr std::size_t kMaxHintBytes = 512;

// A place as libyaml counts: both from 0, the column in characters.
struct Mark {
  std::size_t line = 0;
  std::size_t column = 0;
};

// libyaml's own account of a fault in a slice.
struct Complaint {
  std::string_view problem;  // "did not find expected key"
  std::string_view context;  // "while parsing a block mapping"; may be empty
  Mark problem_mark;
  Mark context_mark;
  std::optional<Mark> open_flow;  // the innermost [ or { that is still open
};

struct Explanation {
  Mark mark;
  std::string message;
  std::string hint;
};

[[nodiscard]] Explanation explain(const Complaint& complaint, std::string_view slice);

// The fault "an unquoted value begins with {{" for the value that begins at `mark`.
[[nodiscard]] Explanation explain_braces(Mark mark, std::string_view slice);

// Line `line` (from 0) of `slice`, without its newline; empty past the end.
[[nodiscard]] std::string_view line_text(std::string_view slice, std::size_t line);

}  // namespace datum::yaml
