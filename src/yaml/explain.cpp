#include "explain.hpp"

#include <algorithm>
#include <array>

#include "corrected_line.hpp"

namespace datum::yaml {
namespace {

struct Rule {
  std::string_view problem;  // a part of libyaml's message
  std::string_view context;  // a part of its context
  std::string_view message;
  std::string_view hint;
};

// First match wins.
constexpr std::array kRules = {
    Rule{"did not find expected <document start>", "",
         "directives are not allowed here, and a "
         "document holds one value only",
         "begin each further document with ---"},
    Rule{"mapping values are not allowed", "",
         "a ': ' stands in an unquoted value, or this line is "
         "indented further than the one above",
         ""},
    Rule{"", "scanning an alias",
         "aliases are not allowed; a value that begins with * must be "
         "quoted",
         ""},
    Rule{"", "scanning an anchor",
         "anchors are not allowed; a value that begins with & must be "
         "quoted",
         ""},
    Rule{"", "scanning a tag", "tags are not allowed; a value that begins with ! must be quoted",
         ""},
    Rule{"unexpected end of stream", "scanning a quoted scalar",
         "the quote that begins here is "
         "never closed",
         ""},
    Rule{"unexpected document indicator", "scanning a quoted scalar",
         "the quote that begins here "
         "is never closed",
         ""},
    Rule{"unknown escape character", "", "unknown escape in a double-quoted value",
         "write \\\\ for a backslash, or use single quotes"},
    Rule{"expected hexadecimal number", "", "this escape needs hexadecimal digits", ""},
    Rule{"invalid Unicode character escape code", "", "this escape names no Unicode character", ""},
    Rule{"could not find expected ':'", "", "a key without ':' after it", "write KEY: VALUE"},
    Rule{"block sequence entries are not allowed", "", "a list item '- ' is not allowed here",
         "put the list on lines of its own below its key"},
    Rule{"mapping keys are not allowed", "", "a '? ' key is not allowed here", ""},
    Rule{"did not find expected '-' indicator", "", "this line belongs to no list item",
         "indent it like the item above, or begin it with '- '"},
    Rule{"did not find expected key", "", "this line does not fit the mapping above it",
         "indent keys of one mapping alike, and quote values with special characters"},
    Rule{"block key", "", "this line does not fit the mapping above it", ""},
    Rule{"indentation", "block scalar", "the indentation of this block of text is not valid",
         "indent its first line with spaces like the rest"},
    Rule{"block scalar", "", "this block of text does not begin properly",
         "put its text on the lines below | or >"},
};

Explanation at_mark(const Complaint& complaint, std::string message, std::string hint = {}) {
  return {complaint.problem_mark, std::move(message), std::move(hint)};
}

std::size_t line_count(std::string_view slice) {
  const auto newlines = std::count(slice.begin(), slice.end(), '\n');
  const bool open_end = !slice.empty() && slice.back() != '\n';
  return static_cast<std::size_t>(newlines) + (open_end ? 1 : 0);
}

// Faults that show in the text of the line, whatever libyaml made of it.
std::optional<Explanation> explain_line(const Complaint& complaint, const Mark& mark,
                                        std::string_view slice) {
  const auto line = line_text(slice, mark.line);
  if (const auto at = find_bare_braces(line))
    return explain_braces({mark.line, character_count(line.substr(0, *at))}, slice);
  const auto first = line.find_first_not_of(" \t");
  if (first != std::string_view::npos && line[first] == ':' && mark.column == first)
    return Explanation{mark, "a key is missing before ':'", ""};
  if (complaint.context.find("flow") == std::string_view::npos) return std::nullopt;
  if (auto corrected = quote_references(line))
    return Explanation{mark, "a reference inside [...] must be quoted", std::move(*corrected)};
  return std::nullopt;
}

Explanation explain_character(const Complaint& complaint, std::string_view slice) {
  const auto line = line_text(slice, complaint.problem_mark.line);
  const auto at = byte_of_column(line, complaint.problem_mark.column);
  const char c = at < line.size() ? line[at] : ' ';
  if (c == '\t') return at_mark(complaint, "a tab is not allowed here", "indent with spaces");
  if (c == '%' && at == 0) return at_mark(complaint, "directives are not allowed");
  return at_mark(complaint, std::string("a value that begins with ") + c + " must be quoted",
                 quote_value(line, at));
}

// A list, mapping or quote that is still open where the document ends is best shown at its
// beginning.
std::optional<Explanation> explain_unclosed(const Complaint& complaint, std::string_view slice) {
  if (complaint.context.find("flow") == std::string_view::npos) return std::nullopt;
  if (complaint.problem_mark.line + 1 < line_count(slice)) return std::nullopt;
  const auto line = line_text(slice, complaint.problem_mark.line);
  if (byte_of_column(line, complaint.problem_mark.column) < line.size()) return std::nullopt;
  const auto mark = complaint.open_flow.value_or(complaint.context_mark);
  const auto opening_line = line_text(slice, mark.line);
  const auto opening = byte_of_column(opening_line, mark.column);
  const bool list = opening < opening_line.size() && opening_line[opening] == '[';
  return Explanation{mark,
                     list ? "the list [ that begins here is never closed"
                          : "the mapping { that begins here is never closed",
                     list ? "close it with ]" : "close it with }"};
}

// The line of a directive before the first value of a slice.
std::optional<std::size_t> find_directive(std::string_view slice) {
  for (std::size_t line = 0; !slice.empty(); ++line) {
    if (slice.front() == '%') return line;
    const auto text = slice.substr(0, slice.find('\n'));
    const auto first = text.find_first_not_of(" \t");
    if (first != std::string_view::npos && text[first] != '#') return std::nullopt;
    slice.remove_prefix(std::min(slice.size(), text.size() + 1));
  }
  return std::nullopt;
}

std::string correct_colon(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos) return {};
  const auto value = line.find_first_not_of(' ', colon + 1);
  if (value == std::string_view::npos || line.find(": ", value) == std::string_view::npos)
    return {};
  return quote_value(line, value);
}

}  // namespace

std::string_view line_text(std::string_view slice, std::size_t line) {
  for (; line > 0; --line) {
    const auto end = slice.find('\n');
    if (end == std::string_view::npos) return {};
    slice.remove_prefix(end + 1);
  }
  return slice.substr(0, slice.find('\n'));
}

Explanation explain_braces(Mark mark, std::string_view slice) {
  const auto line = line_text(slice, mark.line);
  const auto at = byte_of_column(line, mark.column);
  return {mark, "a value that begins with {{ must be quoted", quote_value(line, at)};
}

Explanation explain(const Complaint& complaint, std::string_view slice) {
  if (auto found = explain_line(complaint, complaint.problem_mark, slice)) return *found;
  const bool one_line =
      complaint.context.empty() || complaint.context_mark.line == complaint.problem_mark.line;
  if (!one_line && complaint.context.find("flow") != std::string_view::npos)
    if (auto found = explain_line(complaint, complaint.context_mark, slice)) return *found;
  if (complaint.problem.find("cannot start any token") != std::string_view::npos)
    return explain_character(complaint, slice);
  if (auto found = explain_unclosed(complaint, slice)) return *found;

  if (const auto directive = find_directive(slice))
    return {{*directive, 0}, "directives are not allowed", ""};
  const auto line = line_text(slice, complaint.problem_mark.line);
  for (const auto& rule : kRules) {
    if (complaint.problem.find(rule.problem) == std::string_view::npos) continue;
    if (complaint.context.find(rule.context) == std::string_view::npos) continue;
    const bool at_context = rule.message.find("that begins here") != std::string_view::npos;
    const auto mark = at_context ? complaint.context_mark : complaint.problem_mark;
    std::string hint(rule.hint);
    if (rule.problem.starts_with("mapping values")) hint = correct_colon(line);
    return {mark, std::string(rule.message), std::move(hint)};
  }
  std::string message = "not valid YAML: ";
  if (!complaint.context.empty()) message += std::string(complaint.context) + ", ";
  return at_mark(complaint, message + std::string(complaint.problem));
}

}  // namespace datum::yaml
