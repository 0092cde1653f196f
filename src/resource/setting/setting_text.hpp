// The text of a file in which a Setting looks for its value, whatever reads it: lines of our own
// grammar (setting_lines.hpp), or a lens of Augeas. Knows no file and no resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datum/os/lenses.hpp"
#include "setting_lines.hpp"

namespace datum::resource {

class SettingText {
 public:
  // Errors are those of os::Lenses, and only where the format is augeas; `unavailable` without
  // lenses. They must outlive what is made here.
  [[nodiscard]] static Result<SettingText> read(os::Lenses* lenses, model::SettingTarget target,
                                                std::string text);

  // Whether anything gives the value: a line or a node, perhaps with no value of its own.
  [[nodiscard]] bool has_any() const;
  // Whether everything that gives it gives this one; false where nothing does.
  [[nodiscard]] bool has(std::string_view value) const;
  // "yes", or "yes; no" where they do not agree.
  [[nodiscard]] std::string values() const;
  [[nodiscard]] bool is_continued() const;

  // The text with this value, or without any. `key` is how a new line spells it. A lens may be
  // unable to (`refused`): what it wrote was read again, and gives just that.
  [[nodiscard]] Result<std::string> write(std::string_view key, std::string_view value) const;
  [[nodiscard]] Result<std::string> remove() const;

 private:
  SettingText(os::Lenses* lenses, model::SettingTarget target, std::string text)
      : lenses_(lenses), target_(std::move(target)), text_(std::move(text)) {}
  [[nodiscard]] bool by_lens() const { return target_.format == model::SettingFormat::augeas; }
  [[nodiscard]] os::LensPlace lens_place() const { return {target_.lens, target_.key}; }

  os::Lenses* lenses_;
  model::SettingTarget target_;
  std::string text_;
  SettingPlace place_;    // of lines
  os::LensValues nodes_;  // of a lens
};

}  // namespace datum::resource
