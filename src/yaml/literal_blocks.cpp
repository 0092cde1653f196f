#include "literal_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace datum::yaml {
namespace {

// Below this libyaml is as fast as the search for the block's end.
constexpr std::size_t kWorthIt = 64;  // bytes

std::size_t end_of_line(std::string_view text, std::size_t at) {
  const auto newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::size_t count_spaces(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// "   some-key: |" and nothing else: the number of spaces before the key.
std::optional<std::size_t> indent_of_key(std::string_view line) {
  constexpr std::string_view kEnd = ": |\n";
  if (!line.ends_with(kEnd)) return std::nullopt;
  const auto indent = count_spaces(line);
  const auto key = line.substr(indent, line.size() - kEnd.size() - std::min(indent, line.size()));
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (key.empty() || !std::all_of(key.begin(), key.end(), is_plain)) return std::nullopt;
  return indent;
}

struct Body {
  std::size_t end = 0;  // behind its last line that is not blank
  std::size_t indent = 0;
  std::size_t lines = 0;
};

// The block whose first line is at `begin`, if it is one of the plainest kind: no blank line at its
// start and no tab, no line of more spaces than its indentation and nothing else, a newline at its
// end.
std::optional<Body> find_body(std::string_view text, std::size_t begin, std::size_t key_indent) {
  Body body;
  std::size_t lines = 0;
  for (auto at = begin; at < text.size();) {
    const auto end = end_of_line(text, at);
    const auto line = text.substr(at, end - at);
    const auto spaces = count_spaces(line);
    const bool blank = spaces == line.size() || line[spaces] == '\n';
    if (lines == 0) {
      if (blank || spaces <= key_indent || line[spaces] == '\t') return std::nullopt;
      body.indent = spaces;
    }
    if (blank && spaces > body.indent) return std::nullopt;
    if (!blank && spaces < body.indent) break;
    ++lines;
    at = end;
    if (blank) continue;
    if (line.back() != '\n') return std::nullopt;
    body.end = end;
    body.lines = lines;
  }
  if (body.lines == 0 || body.end - begin < kWorthIt) return std::nullopt;
  return body;
}

}  // namespace

Shortened take_out_blocks(std::string_view bytes) {
  Shortened result;
  std::size_t copied = 0;
  std::size_t line = 0;
  std::size_t counted = 0;  // lines were counted up to here
  for (std::size_t at = 0; (at = bytes.find(": |\n", at)) != std::string_view::npos;) {
    const auto begin = bytes.rfind('\n', at) + 1;  // npos + 1 is 0
    const auto bar = at + 2;
    at = bar + 2;
    const auto key_indent = indent_of_key(bytes.substr(begin, at - begin));
    if (!key_indent) continue;
    const auto body = find_body(bytes, at, *key_indent);
    if (!body) continue;
    line +=
        static_cast<std::size_t>(std::count(bytes.begin() + static_cast<std::ptrdiff_t>(counted),
                                            bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    counted = at;
    result.blocks.push_back(
        {line - 1, bar - begin, bytes.substr(at, body->end - at), body->indent});
    result.text.append(bytes, copied, at - copied).append(body->indent, ' ').append(kStandIn);
    result.text.append(body->lines - 1, '\n');
    line += body->lines;
    counted = copied = at = body->end;
  }
  result.text.append(bytes, copied);
  return result;
}

template <class Visit>
static void visit_lines(const LiteralBlock& block, Visit visit) {
  for (std::size_t at = 0; at < block.body.size();) {
    const auto end = end_of_line(block.body, at);
    // A blank line may be shorter than the indentation.
    const auto from = std::min(at + block.indent, end - 1);
    visit(block.body.substr(from, end - from));
    at = end;
  }
}

std::size_t text_size(const LiteralBlock& block) {
  std::size_t size = 0;
  visit_lines(block, [&size](std::string_view line) { size += line.size(); });
  return size;
}

void write_text(const LiteralBlock& block, char* out) {
  visit_lines(block, [&out](std::string_view line) {
    std::memcpy(out, line.data(), line.size());
    out += line.size();
  });
}

}  // namespace datum::yaml
