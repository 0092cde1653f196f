// What a reverting pass does otherwise than one over a declaration: it looks at what was left and
// at what was there before, records of what is declared only what contradicts the last look at it,
// and keeps what it undoes.
#include <algorithm>
#include <set>

#include "co_try.hpp"
#include "datum/config/glob.hpp"
#include "datum/core/look_back.hpp"
#include "running.hpp"

namespace datum::engine {

std::vector<model::Reference> undone_matching(const Undoing& undoing,
                                              const std::vector<std::string>& globs) {
  std::vector<model::Reference> matched;
  if (globs.empty()) return matched;
  for (const auto& undo : undoing.reversal.undos)
    if (config::matches_any(globs, undo.origin.text()) ||
        config::matches_any(globs, undo.reference.text()))
      matched.push_back(undo.reference);
  std::sort(matched.begin(), matched.end());
  return matched;
}

// Two looks at each target: whether it is as it was before, and whether it still is as it was left.
loop::Task<Status> Conductor::look_back(Running& running) {
  const auto& request = running.request;
  auto observing = observe_places(loop_, running.looking, all_places(*request.manifest));
  running.report.observations = co_await observing;
  running.observations = resource::digest_observations(running.report.observations);
  std::vector<LeavingTarget> targets;
  for (const auto& undo : request.undoing->reversal.undos) {
    core::Owned owned;
    owned.left = undo.left;
    targets.push_back({undo.target, std::move(owned)});
  }
  auto looking = observe_leaving(loop_, running.looking, std::move(targets));
  auto looks = co_await looking;
  const auto contradicted =
      core::contradicted_by(store_.history->state(), request.undoing->reversal, looks);
  core::RecordObservations record;
  record.observations = contradicted;
  record.partial = true;
  if (!contradicted.empty()) DATUM_CO_TRY(execute(running, record));
  auto making = make_plan(running, std::move(looks));
  co_return co_await making;
}

// Everything that was to be undone and needs no action is as it was before already.
Status Conductor::record_undone(Running& running) {
  std::set<model::Target> acting;
  for (const auto& action : running.report.plan->actions) acting.insert(action.target);
  core::RecordUndone record;
  record.reversal = reversal_of(running.request);
  for (const auto& undo : record.reversal->undos)
    if (!acting.contains(undo.target)) record.targets.push_back(undo.target);
  if (record.targets.empty()) return {};
  return execute(running, record);
}

}  // namespace datum::engine
