// After a death in mid-pass: look first and change nothing; record what was seen and close the
// pass; only when that is durable, and only in enforce, remove what lies about. The next pass plans
// afresh; what took effect is converged there and is not repeated.
#include <algorithm>
#include <optional>
#include <set>

#include "co_try.hpp"
#include "datum/engine/pass.hpp"
#include "datum/history/plan.hpp"
#include "running.hpp"
#include "unit_steps.hpp"

namespace datum::engine {

static resource::DeadWave dead_wave(const core::State& state) {
  resource::DeadWave dead;
  dead.store = state.store;
  dead.pass = state.pass->id;
  for (const auto& [ordinal, action] : state.pass->open) {
    dead.actions.push_back(action);
    const auto known = state.resources.find(action.target);
    dead.observed.push_back(known == state.resources.end() ? Digest{} : known->second.observation);
  }
  return dead;
}

static std::vector<core::Leftover> remove_leftovers(const resource::Machine& machine,
                                                    const Id128& store,
                                                    const std::vector<core::Leftover>& leftovers) {
  std::vector<core::Leftover> gone;
  for (const auto& leftover : leftovers)
    if (resource::remove_leftover(machine, store, leftover)) gone.push_back(leftover);
  return gone;
}

// What dead or failed actions left beside their targets; the journal knows of it by now.
loop::Task<Status> Conductor::clean_leftovers(Running& running) {
  auto& history = *store_.history;
  if (history.state().leftovers.empty()) co_return Status{};
  auto known = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await known);
  std::function<std::vector<core::Leftover>()> work =
      [machine = machine_, store = history.state().store, left = history.state().leftovers] {
        return remove_leftovers(*machine, store, left);
      };
  auto removing = loop::run_on<std::vector<core::Leftover>>(loop_.pool(), std::move(work));
  core::RecordCleaned record;
  record.gone = co_await removing;
  co_return execute(running, record);
}

Status Conductor::lift_quarantine(Running& running) {
  std::vector<model::Target> targets;
  for (const auto& [target, deaths] : store_.history->state().quarantined)
    targets.push_back(target);
  for (auto& target : targets) DATUM_TRY(execute(running, core::LiftQuarantine{std::move(target)}));
  return {};
}

// A job that the dead process had asked for goes on without it: its end is waited for, so that what
// is seen afterwards is what it did.
loop::Task<Status> Conductor::wait_for_dead_jobs(Running& running) {
  const auto open = store_.history->state().pass->open;
  for (const auto& [ordinal, action] : open) {
    if (action.target.family != model::TargetFamily::unit) continue;
    auto looking = look_at_unit(loop_, *machine_, action.target);
    const auto seen = co_await looking;
    if (!seen || !seen->has_job) continue;
    const core::RecordToolAdopted adopted{ordinal, seen->id};
    DATUM_CO_TRY(execute(running, adopted));
    auto waiting = wait_for_unit(loop_, *machine_, action.target);
    co_await waiting;
  }
  co_return Status{};
}

// A tool that the dead process had begun goes on without it, and what it does to any package of its
// wave is known only once it has ended.
loop::Task<Status> Conductor::wait_for_dead_tools(Running& running) {
  const auto open = store_.history->state().pass->open;
  const bool concerned = std::any_of(open.begin(), open.end(), [](const auto& each) {
    return resource::is_done_by_tools(each.second.target.family);
  });
  // Of a wave that had told all its ends, and died before it could forget its tools, they lie
  // about.
  running.dead_tools = tool_place(store_);
  if (!concerned) co_return Status{};
  auto place = *running.dead_tools;
  auto finding = find_running_tool(loop_, *machine_, place);
  DATUM_CO_ASSIGN(const auto name, co_await finding);
  if (!name) co_return Status{};
  for (const auto& [ordinal, action] : open)
    if (resource::is_done_by_tools(action.target.family))
      DATUM_CO_TRY(execute(running, core::RecordToolAdopted{ordinal, *name}));
  auto waiting = wait_for_tool(loop_, *machine_, std::move(place), *name);
  const auto ended = co_await waiting;
  if (!ended || ended->state == ToolState::still_running) running.dead_tool_running = *name;
  co_return Status{};
}

static core::RecoveredOutcome outcome_of(const model::Target& target, const os::Unit& unit) {
  const bool good = resource::is_done_by_tools(target.family) ? unit.result == "success"
                                                              : resource::is_running(unit);
  return good ? core::RecoveredOutcome::took_effect : core::RecoveredOutcome::did_not;
}

// Jobs and tools that were left running past their limit, and have ended by now.
loop::Task<Status> Conductor::end_running_tools(Running& running) {
  const auto tools = store_.history->state().running_tools;
  std::set<std::string> ended;
  for (const auto& [target, tool] : tools) {
    const model::Target unit{model::TargetFamily::unit, tool.unit};
    auto looking = look_at_unit(loop_, *machine_, unit);
    const auto seen = co_await looking;
    const bool is_tool = resource::is_done_by_tools(target.family);
    if (!seen || seen->has_job || (is_tool && os::is_running_tool(*seen))) continue;
    if (is_tool) ended.insert(tool.unit);
    DATUM_CO_TRY(execute(running, core::RecordToolEnded{target, outcome_of(target, *seen)}));
  }
  if (ended.empty()) co_return Status{};
  auto recorded = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await recorded);
  for (const auto& name : ended) {
    auto forgetting = forget_left_tool(loop_, *machine_, store_.folder, name);
    DATUM_CO_TRY(co_await forgetting);
  }
  co_return Status{};
}

// The dead pass's plan, where it can be read: it is the last one recorded, since only what a plan
// names is announced.
loop::Task<std::optional<core::Plan>> Conductor::read_dead_plan() {
  const auto& state = store_.history->state();
  if (store_.blobs == nullptr || state.pass->open.empty() || state.last_plan.empty())
    co_return std::nullopt;
  std::function<std::optional<core::Plan>()> work = [blobs = store_.blobs.get(),
                                                     digest = state.last_plan] {
    auto plan = history::read_plan(*blobs, digest);
    return plan ? std::optional<core::Plan>(std::move(*plan)) : std::nullopt;
  };
  auto reading = loop::run_on<std::optional<core::Plan>>(loop_.pool(), std::move(work));
  co_return co_await reading;
}

static RecoveredPass count_recovered(PassId pass, const core::RecordRecovery& record) {
  RecoveredPass recovered{pass, 0, 0, 0};
  for (const auto& action : record.actions) switch (action.outcome) {
      case core::RecoveredOutcome::took_effect:
        ++recovered.took_effect;
        break;
      case core::RecoveredOutcome::did_not:
        ++recovered.did_not;
        break;
      case core::RecoveredOutcome::untellable:
        ++recovered.untellable;
        break;
    }
  return recovered;
}

// Looks at what the dead pass had begun, tells what came of it, and ends it.
loop::Task<Status> Conductor::end_dead_pass(Running& running, const model::ManifestPtr& manifest,
                                            Digest declared) {
  auto& history = *store_.history;
  // The opening record of this process is durable before anything else.
  auto opened = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await opened);
  auto delivered = end_dead_deliveries(running);
  DATUM_CO_TRY(co_await delivered);
  auto jobs = wait_for_dead_jobs(running);
  DATUM_CO_TRY(co_await jobs);
  auto dead_tools = wait_for_dead_tools(running);
  DATUM_CO_TRY(co_await dead_tools);
  const auto& pass = *history.state().pass;
  const bool rebooted = pass.boot != loop_.clock().boot_id();
  const auto reverts = pass.started.reverts;
  UndoingPtr undoing;
  if (reverts != 0) {
    // What it declared follows from the records again; where it does not, little can be told.
    auto preparing = prepare_undoing(loop_, store_, reverts);
    auto prepared = co_await preparing;
    if (prepared) undoing = std::move(*prepared);
  }
  const auto dead_manifest = undoing ? undoing->manifest : manifest;
  const auto& dead = pass.started.declaration.manifest;
  const bool known = dead_manifest && (dead_manifest->digest == dead || declared == dead);
  auto looked_for = resource::make_declared(
      known ? dead_manifest : std::make_shared<const model::Manifest>(), history.state().owned);
  if (undoing) looked_for.former = undoing->former;
  std::function<std::vector<core::RecoveredAction>()> work =
      [machine = machine_,
       declared = std::make_shared<const resource::Declared>(std::move(looked_for)),
       wave = dead_wave(history.state())] {
        return resource::recover_actions(*machine, *declared, wave);
      };
  auto looking = loop::run_on<std::vector<core::RecoveredAction>>(loop_.pool(), std::move(work));
  core::RecordRecovery record;
  record.actions = co_await looking;
  for (auto& action : record.actions)
    if (resource::is_done_by_tools(pass.open.at(action.ordinal).target.family) &&
        !running.dead_tool_running.empty()) {
      action.outcome = core::RecoveredOutcome::untellable;
      action.still_running = running.dead_tool_running;
    }
  // Another declaration than the dead one still says who is to be told of what may have changed; of
  // what it does not name any more, the dead plan does.
  record.manifest = known ? dead_manifest.get() : manifest.get();
  std::optional<core::Plan> plan;
  if (!known) {
    auto reading = read_dead_plan();
    plan = co_await reading;
  }
  if (plan) record.plan = &*plan;
  if (known && undoing) record.reversal = &undoing->reversal;
  DATUM_CO_TRY(execute(running, record));
  recovered_ = count_recovered(pass.id, record);
  const core::InterruptPass interrupt{
      rebooted ? core::Interruption::reboot : core::Interruption::crash,
      record.actions.size() == 1
          ? std::string("1 action was announced and had no end")
          : std::to_string(record.actions.size()) + " actions were announced and had no end"};
  co_return execute(running, interrupt);
}

loop::Task<Status> Conductor::recover(std::function<core::ModeTerms()> read_terms,
                                      model::ManifestPtr manifest, Digest declared) {
  auto& history = *store_.history;
  Running none;
  if (history.state().pass) {
    auto ending = end_dead_pass(none, manifest, declared);
    DATUM_CO_TRY(co_await ending);
    auto waiting = wait_durable(*store_.history);
    DATUM_CO_TRY(co_await waiting);
    if (none.dead_tools) {
      auto place = *none.dead_tools;
      auto forgetting = forget_wave_tools(loop_, *machine_, std::move(place));
      DATUM_CO_TRY(co_await forgetting);
    }
  }
  if (core::host_mode(read_terms()).mode != core::Mode::enforce) co_return Status{};
  auto cleaning = clean_leftovers(none);
  co_return co_await cleaning;
}

}  // namespace datum::engine
