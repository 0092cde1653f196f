// Which layers a host matches, and whether an absent fact of its profile could change that. Private
// to the module; pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "documents.hpp"

namespace datum::fleet {

// Labels as a matcher sees them: of the host, then of its profile.
class LabelView {
 public:
  LabelView(const Labels& labels, const Profile& profile) : labels_(labels), profile_(profile) {}
  [[nodiscard]] const std::string* find(std::string_view name) const;

 private:
  const Labels& labels_;
  const Profile& profile_;
};

// One of the facts that enrolment sets; such a label is absent only because nobody has looked.
[[nodiscard]] bool is_profile_label(std::string_view name);

enum class Answer : std::uint8_t { no, yes, undecided };
// All present forms must hold. `undecided`: not as things are, but absent facts could make it hold.
// Facts on which the answer hangs are added to `missing_facts`.
[[nodiscard]] Answer matches(const Match& match, const LabelView& labels,
                             std::set<std::string>& missing_facts);

}  // namespace datum::fleet
