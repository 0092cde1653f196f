// What packages brought along: each action that comes after them is made anew from what is there
// by then.
#include "second_look.hpp"

#include <algorithm>

#include "co_try.hpp"
#include "datum/core/second_look.hpp"
#include "datum/resource/reboot.hpp"
#include "observe.hpp"

namespace datum::engine {

bool needs_second_look(const Conductor::Running& running,
                       const std::vector<std::uint32_t>& ordinals) {
  const auto& plan = *running.report.plan;
  const auto family = plan.actions[ordinals.front()].target.family;
  if (running.request.undoing || family == model::TargetFamily::package) return false;
  if (!core::has_run_packages(plan, running.phases)) return false;
  return std::any_of(ordinals.begin(), ordinals.end(), [&running](std::uint32_t ordinal) {
    return !running.looked.contains(ordinal);
  });
}

static std::vector<std::size_t> places_of(const model::Manifest& manifest, const core::Plan& plan,
                                          const std::vector<std::uint32_t>& ordinals) {
  std::set<model::Reference> references;
  for (const auto ordinal : ordinals) references.insert(plan.actions[ordinal].reference);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < manifest.resources.size(); ++i)
    if (references.contains(manifest.resources[i]->reference)) places.push_back(i);
  return places;
}

loop::Task<Status> Conductor::look_before(Running& running, std::vector<std::uint32_t> ordinals) {
  const auto& manifest = *running.request.manifest;
  running.looked.insert(ordinals.begin(), ordinals.end());
  machine_->accounts->refresh();
  auto looking =
      observe_places(loop_, running.looking, places_of(manifest, *running.report.plan, ordinals));
  const auto observations = co_await looking;
  core::RecordObservations record;
  record.observations = observations;
  record.partial = true;
  DATUM_CO_TRY(execute(running, record));
  auto input = plan_input(running);
  input.observations = observations;
  running.report.plan =
      std::make_shared<const core::Plan>(core::plan_again(input, *running.report.plan, ordinals));
  const auto& plan = running.report.plan;
  for (const auto ordinal : ordinals) {
    if (core::is_mutating(plan->actions[ordinal].kind)) continue;
    running.phases[ordinal] = core::Phase::succeeded;
    running.report.outcomes[ordinal].phase = core::Phase::succeeded;
  }
  DATUM_CO_TRY(execute(running, core::RecordOwnership{plan, &manifest, observations}));
  const core::RecordRefusals refusals{plan, failure_digests(*plan)};
  DATUM_CO_TRY(execute(running, refusals));
  for (const auto ordinal : ordinals)
    tell_failure(running, ordinal, plan->actions[ordinal].refusal, {});
  co_return Status{};
}

loop::Task<Status> Conductor::look_for_reboot(Running& running) {
  std::function<std::optional<std::string>()> work = [machine = machine_] {
    return resource::find_reboot_reason(*machine);
  };
  auto looking = loop::run_on<std::optional<std::string>>(loop_.pool(), std::move(work));
  const auto reason = co_await looking;
  if (!reason) co_return Status{};
  co_return execute(running, core::RecordReboot{*reason});
}

}  // namespace datum::engine
