// The changes of one pass as its records tell them. Internal to engine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/core/event.hpp"
#include "datum/core/plan.hpp"
#include "datum/core/reversal.hpp"
#include "datum/history/events.hpp"

namespace datum::engine {

// One action that took effect, or of which nobody can tell whether it did.
struct Done {
  core::AnnouncedAction announced;
  core::Left left;
  std::optional<core::Traces> traces;  // of what was left
  model::Reference reference;          // of the resource; of a purge, the Directory
  bool tellable = true;
  bool told = false;  // by its own success, else by recovery
  bool atomic = true;
  std::string not_kept;  // why its old content was not
  // Of an update: which fields it changed; nothing where the plan is not at hand any more.
  std::optional<std::vector<core::FieldDrift>> changes;
  bool disowns = false;
  std::optional<core::Owned> owned;
};

struct DonePass {
  core::PassStarted started;
  std::map<model::Target, Done> done;
  std::vector<core::PlannedNotification> notifications;
};

// `not_found` and `refused` as prepare_undoing.
[[nodiscard]] Result<DonePass> read_done(journal::Reader& reader, const ContentSource& content,
                                         PassId pass);

}  // namespace datum::engine
