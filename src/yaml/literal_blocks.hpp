// Long literal blocks (`key: |`) taken out of a text before libyaml walks it byte by byte: most of
// a fleet is content of files, and nothing in it is YAML. Each is replaced by one short line and as
// many empty ones, so that every position stays what it was. Pure text; knows nothing of libyaml.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace datum::yaml {

// One that was taken out. Whether it is a literal block at all, and not part of some other text, is
// for the parser to say: it is, if a literal scalar begins at this place and holds kStandIn.
struct LiteralBlock {
  std::size_t line = 0;    // of the `|`, from 0 in the text
  std::size_t column = 0;  // of the `|`, from 0
  std::string_view body;   // whole lines, each with its newline; the last one is not blank
  std::size_t indent = 0;  // spaces that YAML takes from each line
};

// What libyaml finds in a block's place.
inline constexpr std::string_view kStandIn = ".\n";

struct Shortened {
  std::string text;
  std::vector<LiteralBlock> blocks;  // in order; they borrow from the text that was given
};

// `bytes` have no carriage return and no line separator but the newline (`find_byte_fault`). Blocks
// that are short, or spelled in any but the plainest way, stay as they are. Linear in time.
[[nodiscard]] Shortened take_out_blocks(std::string_view bytes);

// The text of the block: its lines without their indentation.
[[nodiscard]] std::size_t text_size(const LiteralBlock& block);
void write_text(const LiteralBlock& block, char* out);  // text_size bytes

}  // namespace datum::yaml
