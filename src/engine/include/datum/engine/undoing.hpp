// What it takes to undo a pass: from its records and what it kept, the manifest that declares each
// target as it was before. What cannot be told or is not kept any more is named beside it. The same
// records and blobs give the same result, so that a reverting pass that died can be understood.
#pragma once

#include <memory>

#include "datum/core/reversal.hpp"
#include "datum/engine/store.hpp"
#include "datum/loop/task.hpp"
#include "datum/model/manifest.hpp"
#include "datum/resource/former.hpp"

namespace datum::engine {

struct Undoing {
  core::Reversal reversal;
  model::ManifestPtr manifest;                   // one resource for each target that can be undone
  std::shared_ptr<const ContentSource> content;  // of everything that it declares
  std::shared_ptr<const resource::FormerStates> former;
  // What the last pass was over, where its manifest is kept (that of a pushed declaration is): its
  // Services are told of what is put back. Null: they are told by the next pass over it.
  model::ManifestPtr declared;
};
using UndoingPtr = std::shared_ptr<const Undoing>;

// Reads on the pool; everything that is queued must be durable, and no pass may be running but one
// that died. Each old content is read once and its digest checked. `not_found`: no such pass, or
// its records are in a file of the archive that is elsewhere. `refused`: it changed nothing.
// `corrupt`: its records cannot be read. The result borrows the store's blobs.
[[nodiscard]] loop::Task<Result<UndoingPtr>> prepare_undoing(loop::Loop& loop, Store& store,
                                                             PassId pass);

}  // namespace datum::engine
