#include "setting_lines.hpp"

#include <algorithm>
#include <optional>

namespace datum::resource {

namespace {

using model::SettingFormat;
using Text = std::string_view;

constexpr Text kSettingBlank = " \t\v\f";
constexpr Text kByteOrderMark = "\xef\xbb\xbf";

char lowered(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool same_word(Text a, Text b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lowered(x) == lowered(y); });
}

std::size_t indent_of(Text line) {
  const auto at = line.find_first_not_of(kSettingBlank);
  return at == Text::npos ? line.size() : at;
}

std::size_t trimmed_size(Text text) {
  const auto last = text.find_last_not_of(kSettingBlank);
  return last == Text::npos ? 0 : last + 1;
}

// A line of `key = value` or `key value`, as offsets into the line.
struct Entry {
  Text key;
  std::size_t value_begin = 0;
  std::size_t value_size = 0;
  bool bare = false;
};

Entry split_equals(Text line, std::size_t indent) {
  Entry entry;
  const auto sign = line.find('=', indent);
  const auto whole = sign == Text::npos ? line.size() : sign;
  entry.key = line.substr(indent, trimmed_size(line.substr(indent, whole - indent)));
  if (sign == Text::npos) {
    entry.bare = true;
    entry.value_begin = indent + entry.key.size();
    return entry;
  }
  entry.value_begin = std::min(line.find_first_not_of(kSettingBlank, sign + 1), line.size());
  if (entry.value_begin == line.size()) entry.value_begin = sign + 1;
  entry.value_size = trimmed_size(line.substr(entry.value_begin));
  return entry;
}

// One `=` may stand between the two (sshd_config(5)).
Entry split_words(Text line, std::size_t indent) {
  Entry entry;
  constexpr Text kBehindKey = " \t\v\f=";
  const auto behind = std::min(line.find_first_of(kBehindKey, indent), line.size());
  entry.key = line.substr(indent, behind - indent);
  const auto next = std::min(line.find_first_not_of(kSettingBlank, behind), line.size());
  const bool has_sign = next < line.size() && line[next] == '=';
  const auto at =
      has_sign ? std::min(line.find_first_not_of(kSettingBlank, next + 1), line.size()) : next;
  if (at < line.size()) {
    entry.value_begin = at;
    entry.value_size = trimmed_size(line.substr(at));
    return entry;
  }
  entry.bare = !has_sign;
  entry.value_begin = has_sign ? next + 1 : behind;
  return entry;
}

bool ends_with_backslash(Text line) {
  std::size_t count = 0;
  while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
  return count % 2 == 1;
}

class Finder {
 public:
  Finder(Text text, const model::SettingTarget& target) : text_(text), target_(target) {}

  SettingPlace run() {
    in_section_ = target_.format != SettingFormat::ini || target_.section.empty();
    place_.has_section = in_section_;
    place_.separator = target_.format == SettingFormat::ini      ? "="
                       : target_.format == SettingFormat::equals ? " = "
                                                                 : " ";
    for (std::size_t begin = 0; begin < text_.size() && !ended_;) begin = read_line(begin);
    if (place_.line_end.empty()) place_.line_end = "\n";
    if (!place_.has_section) place_.insert_at = text_.size();
    place_.dangling = continued_ && place_.insert_at == text_.size();
    return std::move(place_);
  }

 private:
  std::size_t read_line(std::size_t begin) {
    const auto newline = text_.find('\n', begin);
    const auto end = newline == Text::npos ? text_.size() : newline + 1;
    auto line = text_.substr(begin, (newline == Text::npos ? end : newline) - begin);
    if (newline != Text::npos && !line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (place_.line_end.empty() && newline != Text::npos)
      place_.line_end = text_.substr(begin + line.size(), end - begin - line.size());
    std::size_t skipped = 0;
    if (begin == 0 && line.starts_with(kByteOrderMark)) {
      skipped = kByteOrderMark.size();
      place_.insert_at = skipped;
    }
    judge(begin + skipped, line.substr(skipped), end);
    return end;
  }

  void judge(std::size_t begin, Text line, std::size_t end) {
    const auto indent = indent_of(line);
    if (continues(line, indent)) return extend(line, end);
    continued_ = false;
    // A value may go on behind a comment.
    if (indent < line.size() && (line[indent] == '#' || line[indent] == ';')) return stay(end);
    last_ = nullptr;
    if (indent == line.size()) {
      entry_indent_.reset();
      return;
    }
    if (target_.format == SettingFormat::ini && line[indent] == '[')
      return enter(line.substr(indent + 1), end);
    if (target_.format == SettingFormat::words && opens_block(line.substr(indent))) {
      ended_ = true;
      return;
    }
    read_entry(begin, line, indent, end);
  }

  // A line that belongs to the one before: behind a backslash, or set in deeper than an entry.
  [[nodiscard]] bool continues(Text line, std::size_t indent) const {
    if (continued_) return true;
    if (target_.format == SettingFormat::words || !entry_indent_) return false;
    const bool comment = indent < line.size() && (line[indent] == '#' || line[indent] == ';');
    return indent > *entry_indent_ && indent < line.size() && !comment;
  }
  void extend(Text line, std::size_t end) {
    if (last_ != nullptr) last_->continued = true;
    continued_ = ends_with_backslash(line);
    stay(end);
  }

  // What OpenSSH opens with these words goes on to the end of the file.
  static bool opens_block(Text line) {
    const auto word = line.substr(0, line.find_first_of(" \t="));
    return same_word(word, "match") || same_word(word, "host");
  }

  void enter(Text name, std::size_t end) {
    entry_indent_.reset();
    in_section_ = name.substr(0, name.find(']')) == target_.section && !target_.section.empty();
    if (!in_section_) return;
    place_.has_section = true;
    place_.insert_at = end;
    place_.indent.clear();
  }

  // A new line goes behind the last one of its section that says something.
  void stay(std::size_t end) {
    if (in_section_) place_.insert_at = end;
  }

  void read_entry(std::size_t begin, Text line, std::size_t indent, std::size_t end) {
    const auto entry = target_.format == SettingFormat::words ? split_words(line, indent)
                                                              : split_equals(line, indent);
    entry_indent_ = indent;
    continued_ = ends_with_backslash(line);
    learn_separator(line, indent, entry);
    if (!in_section_) return;
    stay(end);
    place_.indent = line.substr(0, indent);
    const bool same = target_.format == SettingFormat::words ? same_word(entry.key, target_.key)
                                                             : entry.key == target_.key;
    if (!same) return;
    place_.lines.push_back(
        {begin, end, begin + entry.value_begin, entry.value_size, entry.bare, continued_});
    last_ = &place_.lines.back();
  }

  void learn_separator(Text line, std::size_t indent, const Entry& entry) {
    const auto behind = indent + entry.key.size();
    if (learnt_ || entry.bare || entry.value_size == 0) return;
    place_.separator = line.substr(behind, entry.value_begin - behind);
    learnt_ = true;
  }

  Text text_;
  const model::SettingTarget& target_;
  SettingPlace place_;
  bool in_section_ = true;
  bool continued_ = false;  // the line before ended with a backslash
  bool learnt_ = false;     // the separator is the file's own
  bool ended_ = false;
  std::optional<std::size_t> entry_indent_;  // of the entry that deeper lines belong to
  SettingLine* last_ = nullptr;              // the line before, if it gave the value
};

// Whether a line that is set in, and not blank, begins there.
bool would_continue(Text text) {
  const auto indent = indent_of(text);
  return indent > 0 && indent < text.size() && text[indent] != '\n' && text[indent] != '\r';
}

Text value_of(Text text, const SettingLine& line) {
  return text.substr(line.value_begin, line.value_size);
}

}  // namespace

std::string SettingPlace::values(std::string_view text) const {
  std::vector<Text> all;
  for (const auto& line : lines) {
    const auto value = line.bare ? Text("no value") : value_of(text, line);
    if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
  }
  std::string words;
  for (const auto value : all) words.append(words.empty() ? "" : "; ").append(value);
  return words;
}

bool SettingPlace::is_continued() const {
  return std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line.continued; });
}

SettingPlace find_setting(std::string_view text, const model::SettingTarget& target) {
  return Finder(text, target).run();
}

bool has_value(std::string_view text, const SettingPlace& place, std::string_view value) {
  return !place.lines.empty() && !place.is_continued() &&
         std::all_of(place.lines.begin(), place.lines.end(),
                     [&](const auto& line) { return !line.bare && value_of(text, line) == value; });
}

std::string write_setting(std::string_view text, const SettingPlace& place,
                          const model::SettingTarget& target, std::string_view key,
                          std::string_view value) {
  std::string out;
  std::size_t done = 0;
  for (const auto& line : place.lines) {
    if (!line.bare && value_of(text, line) == value) continue;
    out.append(text.substr(done, line.value_begin - done));
    if (line.bare) out.append(place.separator);
    out.append(value);
    done = line.value_begin + line.value_size;
  }
  if (!place.lines.empty()) return out.append(text.substr(done));
  out.append(text.substr(0, place.insert_at));
  const bool at_line = out.empty() || out.back() == '\n' || out == kByteOrderMark;
  if (!at_line) out.append(place.line_end);
  if (place.dangling) out.append(place.line_end);
  if (!place.has_section) {
    if (!out.empty()) out.append(place.line_end);
    out.append("[").append(target.section).append("]").append(place.line_end);
  }
  out.append(place.indent).append(key).append(place.separator).append(value);
  out.append(place.line_end);
  // The head of the next section may be set in, and would be taken for more of the value.
  const auto rest = text.substr(place.insert_at);
  if (target.format == SettingFormat::ini && would_continue(rest)) out.append(place.line_end);
  return out.append(rest);
}

std::string remove_setting(std::string_view text, const SettingPlace& place) {
  std::string out;
  std::size_t done = 0;
  for (const auto& line : place.lines) {
    out.append(text.substr(done, line.begin - done));
    done = line.end;
  }
  return out.append(text.substr(done));
}

}  // namespace datum::resource
