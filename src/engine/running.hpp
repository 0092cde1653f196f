// What one pass carries from step to step. Internal to engine.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "datum/engine/pass.hpp"
#include "observe.hpp"
#include "wave_tools.hpp"

namespace datum::engine {

struct Conductor::Running {
  PassRequest request;
  PassReport report;
  Looking looking;
  std::vector<model::Reference> observe_list;  // held in observe by the local configuration; sorted
  Digest observations;                         // digest over all of them
  Digest plan_digest;                          // zero when the plan is empty
  std::vector<core::Phase> phases;
  std::map<model::Reference, std::uint32_t> started;  // Services, by the action that started them
  std::set<model::Reference> told;  // Services whose units were asked to read anew
  std::set<std::uint32_t> looked;   // ordinals that were looked at since the last package action
  BootNs began;
  loop::StopFlag stop;  // of the wave that runs: nothing more of it is begun
  // Of a dead pass: the wave whose tools are to be forgotten, and the one that goes on past its
  // limit.
  std::optional<ToolPlace> dead_tools;
  std::string dead_tool_running;
  // Why it ends before its plan does, where that is an interruption and not a fault.
  std::optional<core::Interruption> interruption;
};

// Until all that is queued by now is durable.
[[nodiscard]] loop::Task<Status> wait_durable(history::History& history);

// Of an ordinary pass: null.
[[nodiscard]] inline std::shared_ptr<const core::Reversal> reversal_of(const PassRequest& request) {
  if (!request.undoing) return nullptr;
  return {request.undoing, &request.undoing->reversal};
}
// References of resources of a reverting pass, where a glob matches them or the one that the pass
// had acted on; sorted.
[[nodiscard]] std::vector<model::Reference> undone_matching(const Undoing& undoing,
                                                            const std::vector<std::string>& globs);

// Phases and messages of actions, as the events tell them.
void fold_outcomes(const std::vector<core::Event>& events, std::vector<core::Phase>& phases,
                   std::vector<core::Outcome>& outcomes);

}  // namespace datum::engine
