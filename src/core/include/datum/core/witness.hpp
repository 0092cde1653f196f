// What a witness outside of a store knows of it, and what that says of the store that is found: a
// store cannot tell by itself that it is a new one, an older copy, or somebody else's. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "datum/core/state.hpp"

namespace datum::core {

struct Witness {
  WitnessedHead head;
  std::string root, host;  // what the store was bound to
  // Of the highest generation that the store accepted or stored.
  std::optional<DeclarationId> declaration;
  std::map<model::Target, Owned> owned;  // orphans that were undecided are among them
  bool operator==(const Witness&) const = default;
};
// What a witness of the store in this state is to say; the caller knows hash and sequence of what
// is durable.
[[nodiscard]] Witness make_witness(const State& state, WitnessedHead head);

// A store that is there, as it was found.
struct FoundStore {
  Id128 store;
  Seq seq = 0;  // of its last record
  // Of its record with the witness's sequence; nothing: it has no such record, or not any more.
  std::optional<Digest> hash;
};

// A loss: which one, what showed it, and what was owned then, as far as anybody knows.
struct LostStore {
  LossKind kind = LossKind::missing;
  WitnessedHead witness;
  std::map<model::Target, Owned> owned = {};
  std::optional<DeclarationId> declaration = {};
};
// That the store which the witness knows is lost.
[[nodiscard]] LostStore lost_store(LossKind kind, const Witness& witness);
// Why the store that is there is not the one that the witness knows, or no longer; nothing: it is,
// or `state` says that its loss was told already. foreign: another store; behind_witness: it ends
// before, or its record there is another one.
[[nodiscard]] std::optional<LostStore> find_loss(const State& state, const Witness& witness,
                                                 const FoundStore& found);

}  // namespace datum::core
