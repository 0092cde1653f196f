// What a pass did, target by target, and what has to be so that it can be undone. The engine makes
// it from the records of that pass; here is decided what of it may be done, and what is true
// afterwards. Values only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datum/core/observation.hpp"
#include "datum/core/state.hpp"

namespace datum::core {

// A notification that the change raised: undoing it concerns the same unit.
struct UndoNotification {
  model::Target unit;
  model::Reference service;
  bool restart = false;
};

// One target that the pass changed.
struct Undo {
  model::Target target;
  model::Reference reference;  // of the resource of the reverting pass that declares it as it was
  model::Reference origin;     // of the resource that the pass acted on
  bool restores = true;        // something lay there before; else what the pass made is removed
  Left left;                   // as the pass left it
  std::optional<Traces> traces;
  bool disowns = false;        // the pass had made it Datum's: it was not before
  std::optional<Owned> owned;  // as it was owned before the pass let it go
  std::string refusal;         // why it cannot be undone, whatever lies there now; or empty
  std::vector<UndoNotification> notifications;
};

struct Reversal {
  PassId pass = 0;          // that is undone
  Digest manifest;          // that it enforced; zero if it was a reverting pass itself
  std::vector<Undo> undos;  // sorted by target, unique

  [[nodiscard]] const Undo* find(const model::Target& target) const;
};

// Whether the target is only observed under that manifest, because a pass was reverted or a person
// said so.
[[nodiscard]] bool is_kept(const State& state, const model::Target& target, const Digest& manifest);
// What keeps a target until the next declaration that is newer than what is declared now.
[[nodiscard]] Kept until_newer(const State& state);

}  // namespace datum::core
