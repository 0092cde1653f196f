#include "setting_text.hpp"

#include <algorithm>

namespace datum::resource {

namespace {

std::string joined_values(const os::LensValues& nodes) {
  std::vector<std::string_view> all;
  for (const auto& node : nodes) {
    const std::string_view value = node ? std::string_view(*node) : "no value";
    if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
  }
  std::string words;
  for (const auto value : all) words.append(words.empty() ? "" : "; ").append(value);
  return words;
}

bool all_are(const os::LensValues& nodes, std::string_view value) {
  return !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), [value](const auto& node) {
    return node && *node == value;
  });
}

}  // namespace

Result<SettingText> SettingText::read(os::Lenses* lenses, model::SettingTarget target,
                                      std::string text) {
  SettingText made(lenses, std::move(target), std::move(text));
  if (!made.by_lens()) {
    made.place_ = find_setting(made.text_, made.target_);
    return made;
  }
  if (lenses == nullptr) return fail(ErrorCode::unavailable, "there is no Augeas here");
  DATUM_ASSIGN(made.nodes_, lenses->find(made.lens_place(), made.text_));
  return made;
}

bool SettingText::has_any() const {
  return by_lens() ? !nodes_.empty() : !place_.lines.empty();
}

bool SettingText::has(std::string_view value) const {
  return by_lens() ? all_are(nodes_, value) : has_value(text_, place_, value);
}

std::string SettingText::values() const {
  return by_lens() ? joined_values(nodes_) : place_.values(text_);
}

bool SettingText::is_continued() const {
  return place_.is_continued();
}

Result<std::string> SettingText::write(std::string_view key, std::string_view value) const {
  if (!by_lens()) return write_setting(text_, place_, target_, key, value);
  DATUM_ASSIGN(auto edited, lenses_->edit(lens_place(), text_, value));
  DATUM_ASSIGN(const auto nodes, lenses_->find(lens_place(), edited));
  if (all_are(nodes, value)) return edited;
  return fail(ErrorCode::refused,
              "the lens " + target_.lens + " reads another value than it wrote");
}

Result<std::string> SettingText::remove() const {
  if (!by_lens()) return remove_setting(text_, place_);
  DATUM_ASSIGN(auto edited, lenses_->edit(lens_place(), text_, std::nullopt));
  DATUM_ASSIGN(const auto nodes, lenses_->find(lens_place(), edited));
  if (nodes.empty()) return edited;
  return fail(ErrorCode::refused, "the lens " + target_.lens + " did not take it out");
}

}  // namespace datum::resource
