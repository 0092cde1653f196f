// Single steps with the service manager, from the loop: each blocks a thread of the pool, never the
// loop. They decide nothing. Internal to engine.
#pragma once

#include <optional>
#include <string>

#include "datum/loop/loop.hpp"
#include "datum/loop/task.hpp"
#include "datum/model/reference.hpp"
#include "datum/resource/wave.hpp"

namespace datum::engine {

// `unavailable` where no manager is asked; what the manager refuses to say is an error too.
[[nodiscard]] loop::Task<Result<os::Unit>> look_at_unit(loop::Loop& loop,
                                                        const resource::Machine& machine,
                                                        model::Target unit);
// The same once no job of it is under way any more, or after the limit of one.
[[nodiscard]] loop::Task<Result<os::Unit>> wait_for_unit(loop::Loop& loop,
                                                         const resource::Machine& machine,
                                                         model::Target unit);

struct UnitAsked {
  std::optional<Error> error;
  bool end_unseen = false;  // with an error: it may have happened, or happen yet
  std::string invocation;   // right after a restart
};
// Restarts or reloads it; before that the manager reads its files again if they changed. Blocks.
[[nodiscard]] UnitAsked notify_unit(os::Units& units, const std::string& unit, bool restart);
// Whether a unit that was just restarted has ended, or was started again, since.
[[nodiscard]] std::optional<Error> find_early_end(const UnitAsked& asked,
                                                  const Result<os::Unit>& now);

}  // namespace datum::engine
