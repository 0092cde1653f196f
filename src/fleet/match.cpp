// See the header. An absent fact makes a form undecided; a form that fails whatever the fact may be
// decides for all of them.
#include "match.hpp"

#include <algorithm>
#include <array>

namespace datum::fleet {
namespace {

constexpr std::array<std::string_view, 5> kProfileLabels{
    "datum/arch", "datum/init", "datum/os", "datum/os-version", "datum/package-manager"};

class Matcher {
 public:
  explicit Matcher(const LabelView& labels) : labels_(labels) {}

  // `holds` of a present label's value; an absent one is `otherwise`.
  template <class Holds>
  void form(const std::string& name, bool otherwise, Holds holds) {
    const auto* value = labels_.find(name);
    const bool result = value ? holds(*value) : otherwise;
    if (!value && is_profile_label(name)) {
      open_.insert(name);
      undecided_ = undecided_ || !result;
      return;
    }
    failed_ = failed_ || !result;
  }

  [[nodiscard]] Answer finish(std::set<std::string>& missing_facts) const {
    if (failed_) return Answer::no;
    missing_facts.insert(open_.begin(), open_.end());
    return undecided_ ? Answer::undecided : Answer::yes;
  }

 private:
  const LabelView& labels_;
  std::set<std::string> open_;
  bool undecided_ = false;  // fails as long as the fact is absent
  bool failed_ = false;     // fails whatever absent facts may be
};

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::span<const std::string_view> profile_labels() {
  return kProfileLabels;
}

bool is_profile_label(std::string_view name) {
  return std::find(kProfileLabels.begin(), kProfileLabels.end(), name) != kProfileLabels.end();
}

const std::string* LabelView::find(std::string_view name) const {
  if (const auto at = labels_.find(name); at != labels_.end()) return &at->second;
  const auto at = profile_.facts.find(name);
  return at != profile_.facts.end() ? &at->second : nullptr;
}

Answer matches(const Match& match, const LabelView& labels, std::set<std::string>& missing_facts) {
  Matcher matcher(labels);
  for (const auto& [name, wanted] : match.labels)
    matcher.form(name, false,
                 [&wanted = wanted](const std::string& value) { return value == wanted; });
  for (const auto& [name, wanted] : match.one_of)
    matcher.form(name, false,
                 [&wanted = wanted](const std::string& value) { return contains(wanted, value); });
  for (const auto& [name, unwanted] : match.none_of)
    matcher.form(name, true, [&unwanted = unwanted](const std::string& value) {
      return !contains(unwanted, value);
    });
  for (const auto& name : match.has)
    matcher.form(name, false, [](const std::string&) { return true; });
  for (const auto& name : match.missing)
    matcher.form(name, true, [](const std::string&) { return false; });
  return matcher.finish(missing_facts);
}

}  // namespace datum::fleet
