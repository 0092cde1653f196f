// The difference of two texts as a unified diff, within limits: beyond them a summary in words that
// is true, never a part that looks like the whole. Output holds the input's bytes as they are; show
// it through `escape_lines`. Pure, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datum::text {

// Each side; more is summarised. Content of that size is data, not configuration.
inline constexpr std::size_t kMaxDiffBytes = 4U << 20U;
// Lines removed plus lines added; more is summarised. Time grows with the lines times this and
// memory with its square (4 MiB), and nobody reads a longer one.
inline constexpr std::size_t kMaxDiffEdits = 1'000;

struct DiffLabels {
  std::string before;  // after "--- "
  std::string after;   // after "+++ "
};

enum class DiffKind : std::uint8_t { same, unified, summary, binary };

struct Diff {
  DiffKind kind = DiffKind::same;
  // same: empty. unified: headers and hunks with three lines of context. summary, binary: one line.
  std::string text;
  std::size_t removed = 0;  // lines; for a summary all lines between the common ends
  std::size_t added = 0;
};

// A side is binary if it holds a zero byte.
[[nodiscard]] Diff diff(std::string_view before, std::string_view after, const DiffLabels& labels);

}  // namespace datum::text
