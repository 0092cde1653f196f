// Text for a terminal: what came from outside is shown without being obeyed, and colour is used
// only where the program asks for it. Knows no device: whether there is a terminal, the program
// finds out. Pure, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace datum::text {

// `untrusted` on one line. Control characters (newline and tab included), bidirectional controls,
// U+2028 and U+2029 become `\n`, `\t`, `\x1b` or `\u202e`, bytes that are not UTF-8 `\xNN`, and a
// backslash `\\`, so that different bytes always look different.
[[nodiscard]] std::string escape(std::string_view untrusted);

// The same for content of many lines: newlines, tabs and backslashes stay as they are.
[[nodiscard]] std::string escape_lines(std::string_view untrusted);

// Code points of `text`; each byte that is not UTF-8 counts as one. Wide and combining characters
// count as one too: columns that hold them may stand a little off, and nothing is lost.
[[nodiscard]] std::size_t width(std::string_view text);

// The first `columns` code points of `text`. What was cut is never silent: the last of them is then
// an ellipsis.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns);

enum class Colour : std::uint8_t { none, red, green, yellow, blue, bold, dim };

// Wraps text in colours if it was told so when it was made, else returns it unchanged.
class Painter {
 public:
  explicit Painter(bool enabled) : enabled_(enabled) {}
  [[nodiscard]] bool enabled() const { return enabled_; }
  [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;

 private:
  bool enabled_;
};

}  // namespace datum::text
