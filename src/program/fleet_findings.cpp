#include "datum/program/fleet_findings.hpp"

#include <string_view>

namespace datum::program {

// Enough to see what is wrong; `datum validate` lists them all.
constexpr std::size_t kFindingsListed = 5;

TellFindings FindingsText::teller() {
  return [this](const fleet::Findings& findings, const char* word) {
    if (std::string_view(word) != "error") return;
    for (const auto& finding : findings)
      if (++count_ <= kFindingsListed) text_ += "; " + fleet::to_string(finding);
  };
}

std::string FindingsText::errors() const {
  if (count_ <= kFindingsListed) return text_;
  return text_ + "; and " + std::to_string(count_ - kFindingsListed) +
         " more, see `datum validate`";
}

}  // namespace datum::program
