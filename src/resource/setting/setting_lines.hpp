// One value in a text of lines: where it stands, and the text with another one. Only the bytes of
// that value change: comments, order, line ends, lines that mean nothing here and other values stay
// as they are. Grammar and limits: docs/formats/settings.md. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/model/spelled_target.hpp"

namespace datum::resource {

// A line that gives the value. Several may: which of them counts differs from program to program,
// so all of them have to be right.
struct SettingLine {
  std::size_t begin = 0;        // of the line
  std::size_t end = 0;          // behind its line end
  std::size_t value_begin = 0;  // where the key has no value: behind the key
  std::size_t value_size = 0;
  bool bare = false;       // the key stands alone
  bool continued = false;  // the value goes on in the next line
};

struct SettingPlace {
  std::vector<SettingLine> lines;
  bool has_section = true;    // false: the section is still to be made
  bool dangling = false;      // the last line says that it goes on, and a new one would follow it
  std::size_t insert_at = 0;  // where a new line goes: the beginning of a line, or the end
  std::string indent;         // of a new line, as its neighbours have it
  std::string separator;      // between key and value
  std::string line_end;       // as the first line has it

  // "yes", or "yes; no" where lines do not agree.
  [[nodiscard]] std::string values(std::string_view text) const;
  [[nodiscard]] bool is_continued() const;
};
[[nodiscard]] SettingPlace find_setting(std::string_view text, const model::SettingTarget& target);

// Whether every line that gives it gives this value; false where none does.
[[nodiscard]] bool has_value(std::string_view text, const SettingPlace& place,
                             std::string_view value);
// `key` is how a new line spells it. The value has no line end. Nothing of it may be continued.
[[nodiscard]] std::string write_setting(std::string_view text, const SettingPlace& place,
                                        const model::SettingTarget& target, std::string_view key,
                                        std::string_view value);
[[nodiscard]] std::string remove_setting(std::string_view text, const SettingPlace& place);

}  // namespace datum::resource
