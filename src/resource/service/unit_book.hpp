// What the service manager said of units, for one look: asked once for all that are known to come,
// and once more for each that was not. Belongs to one thread, for one look; it is never brought up
// to date.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "datum/os/units.hpp"

namespace datum::resource {

class UnitBook {
 public:
  explicit UnitBook(os::Units* units) : units_(units) {}

  // In one batch. A failure is kept as the answer for each of them.
  void gather(std::span<const std::string> names);
  // `unavailable` without a manager. The unit is borrowed from the book.
  [[nodiscard]] Result<const os::Unit*> find(const std::string& name);
  // Another gathered name of the same unit; empty if there is none.
  [[nodiscard]] std::string other_name(const os::Unit& unit) const;

 private:
  os::Units* units_;
  std::map<std::string, Result<os::Unit>> known_;
};

}  // namespace datum::resource
