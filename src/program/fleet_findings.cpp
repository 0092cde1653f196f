#include "datum/program/fleet_findings.hpp"

#include <string_view>

namespace datum::program {

// Enough to see what is wrong; `datum validate` lists them all.
constexpr std::size_t kListed = 5;

TellFindings FindingsText::teller() {
  return [this](const fleet::Findings& findings, const char* word) {
    if (std::string_view(word) != "error") return;
    for (const auto& finding : findings)
      if (++count_ <= kListed) text_ += "; " + fleet::to_string(finding);
  };
}

std::string FindingsText::errors() const {
  if (count_ <= kListed) return text_;
  return text_ + "; and " + std::to_string(count_ - kListed) + " more, see `datum validate`";
}

}  // namespace datum::program
