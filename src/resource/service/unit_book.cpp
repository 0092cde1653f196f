#include "unit_book.hpp"

namespace datum::resource {

void UnitBook::gather(std::span<const std::string> names) {
  if (units_ == nullptr || names.empty()) return;
  auto seen = units_->query(names, os::kUnitCallNs);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seen)
      known_.insert_or_assign(names[i], std::move((*seen)[i]));
    else
      known_.insert_or_assign(names[i], Result<os::Unit>(fail(seen.error())));
  }
}

Result<const os::Unit*> UnitBook::find(const std::string& name) {
  if (units_ == nullptr) return fail(ErrorCode::unavailable, "no service manager is asked here");
  auto known = known_.find(name);
  if (known == known_.end()) {
    const std::vector<std::string> one{name};
    gather(one);
    known = known_.find(name);
  }
  if (!known->second) return fail(known->second.error());
  return &*known->second;
}

std::string UnitBook::other_name(const os::Unit& unit) const {
  for (const auto& [name, known] : known_)
    if (name != unit.name && known && known->id == unit.id) return name;
  return {};
}

}  // namespace datum::resource
