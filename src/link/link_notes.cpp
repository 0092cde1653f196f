#include "datum/link/link_notes.hpp"

namespace datum::link {

std::vector<core::Command> LinkNotes::tell_up(BootNs now) {
  std::vector<core::Command> commands;
  if (untold_ != 0) commands.emplace_back(core::RecordLinkPairs{untold_});
  untold_ = 0;
  commands.emplace_back(core::RecordLinkUp{address_});
  told_at_ = now;
  is_told_up_ = true;
  return commands;
}

std::vector<core::Command> LinkNotes::up(const std::string& address, BootNs now) {
  is_up_ = true;
  address_ = address;
  if (is_told_up_ || (told_at_ && now.ns - told_at_->ns < kOnePairNs)) return {};
  return tell_up(now);
}

std::vector<core::Command> LinkNotes::down(const std::string& reason, BootNs) {
  if (!is_up_) return {};
  is_up_ = false;
  if (!is_told_up_) {
    ++untold_;
    return {};
  }
  is_told_up_ = false;
  return {core::RecordLinkDown{reason}};
}

std::optional<BootNs> LinkNotes::due() const {
  if (!is_up_ || is_told_up_ || !told_at_) return std::nullopt;
  return BootNs{told_at_->ns + kOnePairNs};
}

std::vector<core::Command> LinkNotes::tick(BootNs now) {
  const auto at = due();
  if (!at || now.ns < at->ns) return {};
  return tell_up(now);
}

}  // namespace datum::link
