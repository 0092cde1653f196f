#include "datum/core/witness.hpp"

namespace datum::core {

Witness make_witness(const State& state, WitnessedHead head) {
  Witness witness{head, state.root, state.host, state.accepted, state.owned};
  auto& highest = witness.declaration;
  for (const auto* other : {&state.stored, &state.lost_declaration})
    if (*other && (!highest || (highest->mesh == (*other)->mesh && is_above(**other, *highest))))
      highest = *other;
  witness.owned.insert(state.orphans.begin(), state.orphans.end());
  return witness;
}

LostStore lost_store(LossKind kind, const Witness& witness) {
  return {kind, witness.head, witness.owned, witness.declaration};
}

std::optional<LostStore> find_loss(const State& state, const Witness& witness,
                                   const FoundStore& found) {
  const auto& known = witness.head;
  if (state.lost == known) return std::nullopt;
  if (found.store != known.store) return lost_store(LossKind::foreign, witness);
  const bool is_behind = found.seq < known.seq;
  const bool is_other = found.hash && *found.hash != known.hash;
  if (!is_behind && !is_other) return std::nullopt;
  return lost_store(LossKind::behind_witness, witness);
}

}  // namespace datum::core
