// Random hosts for properties of core: a tree of paths with whatever may lie there, manifests over
// it that a fleet could have resolved (unique targets, requirements without circles), faults. All
// of it is drawn from bytes, so that a shorter or smaller list of bytes is a simpler host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../unit/core/world.hpp"

namespace datum::core::test {

class Dice {
 public:
  explicit Dice(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  // 0 to sides - 1; 0 when the bytes are used up.
  std::uint32_t roll(std::uint32_t sides) {
    return at_ < bytes_.size() ? bytes_[at_++] % sides : 0;
  }
  bool one_in(std::uint32_t sides) { return roll(sides) == sides - 1; }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[roll(static_cast<std::uint32_t>(i))]);
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

struct Variety {
  bool observe_only = true;  // some resources have the policy
  bool absent = true;
  bool purge = true;
};
[[nodiscard]] std::vector<model::Resource> draw_resources(Dice& dice, const Variety& variety = {});
// Things that Datum did not put there.
void draw_foreign(Dice& dice, Machine& machine);
// Somebody edits, removes and replaces things, Datum's own among them.
void meddle(Dice& dice, Machine& machine);
[[nodiscard]] World::PassOptions draw_options(Dice& dice);

}  // namespace datum::core::test
