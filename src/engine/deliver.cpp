// Pending notifications on their way to their units: judged, announced durably, asked for, told.
// And after a death: what the unit says of an announcement without an end. Never asks for anything
// before the announcement is durable, and reads the mode again before each one.
#include <algorithm>

#include "co_try.hpp"
#include "datum/engine/pass.hpp"
#include "running.hpp"
#include "unit_steps.hpp"

namespace datum::engine {

namespace {

using core::NotificationEnd;

const model::Resource* find_service(const model::Manifest& manifest, const model::Target& unit) {
  for (const auto& resource : manifest.resources)
    if (resource->target == unit) return resource.get();
  return nullptr;
}

// What a reverting pass declares is only what it puts back; who is told of that stands in what the
// passes before it were over.
const model::Resource* service_of(const Conductor::Running& running, const model::Target& unit) {
  const auto* own = find_service(*running.request.manifest, unit);
  const auto& undoing = running.request.undoing;
  if (own != nullptr || !undoing || !undoing->declared) return own;
  return find_service(*undoing->declared, unit);
}

bool contains(const std::vector<model::Reference>& list, const model::Reference& reference) {
  return std::find(list.begin(), list.end(), reference) != list.end();
}

// Of what the service is told of, something was to be changed and is not: it would be told of half.
std::string find_unfinished(const Conductor::Running& running, const model::Resource& service) {
  for (const auto& action : running.report.plan->actions) {
    const auto phase = running.phases[action.ordinal];
    const bool unfinished =
        core::is_mutating(action.kind) && !action.observe_only && phase != core::Phase::succeeded;
    if (!unfinished || action.reference == service.reference) continue;
    if (contains(service.requirements, action.reference) ||
        contains(service.restart_on, action.reference) ||
        contains(service.reload_on, action.reference))
      return action.reference.text() + " was not changed as planned";
  }
  return {};
}

// Whether this pass started it, after everything that this pass changed for it.
bool was_started_last(const Conductor::Running& running, const core::PendingNotification& pending) {
  const auto started = running.started.find(pending.service);
  if (started == running.started.end()) return false;
  return std::all_of(running.report.plan->actions.begin(), running.report.plan->actions.end(),
                     [&](const core::Action& action) {
                       return action.ordinal <= started->second ||
                              running.phases[action.ordinal] != core::Phase::succeeded ||
                              !contains(pending.by, action.reference);
                     });
}

core::NotificationOutcome outcome_of(const model::Target& unit,
                                     const core::PendingNotification& pending) {
  core::NotificationOutcome outcome;
  outcome.unit = unit;
  outcome.service = pending.service;
  outcome.restart = pending.restart;
  outcome.by = pending.by;
  return outcome;
}

}  // namespace

// What has to be said before the unit itself is asked; nothing if it may be. What a pass that puts
// back has just kept until a newer declaration, it tells too.
std::optional<Conductor::Fate> Conductor::judge(const Running& running, const model::Target& unit,
                                                const core::PendingNotification& pending) const {
  const auto drop = [](std::string why) { return Fate{NotificationEnd::dropped, std::move(why)}; };
  const auto wait = [](std::string why) { return Fate{NotificationEnd::pending, std::move(why)}; };
  const auto* service = service_of(running, unit);
  if (service == nullptr && running.request.undoing)
    return wait("it is told by the next pass over its declaration");
  if (service == nullptr) return drop(pending.service.text() + " left the declaration");
  if (service->text(model::Field::state) == "stopped") return drop("it is declared stopped");
  if (machine_->root_path != "/") return drop("not under --root");
  const bool kept = !running.request.undoing &&
                    core::is_kept(store_.history->state(), unit, running.request.manifest->digest);
  if (service->observe_only || kept ||
      std::binary_search(running.observe_list.begin(), running.observe_list.end(),
                         service->reference))
    return wait("its Service is only observed");
  if (machine_->units == nullptr) return wait("no service manager is asked here");
  if (auto why = machine_->units->find_absence()) return wait(std::move(*why));
  if (auto why = find_unfinished(running, *service); !why.empty()) return wait(std::move(why));
  return {};
}

void Conductor::tell(Running& running, core::NotificationOutcome outcome, NotificationEnd end,
                     std::string message) {
  outcome.end = end;
  outcome.message = std::move(message);
  running.report.notifications.push_back(std::move(outcome));
}

// What became of an announcement that has no end. True if the unit cannot tell: it is repeated
// then.
Result<bool> Conductor::end_open_delivery(Running& running, const model::Target& unit,
                                          const os::Unit& seen) {
  const auto& state = store_.history->state();
  const auto& pending = state.pending.at(unit);
  if (!pending.started) return false;
  core::RecordDelivery record{unit, pending.started_restart, false, {}};
  const bool same_boot = pending.boot == loop_.clock().boot_id();
  switch (resource::tell_delivery(pending.invocation, pending.started_restart, same_boot, seen)) {
    case resource::Told::untellable:
      return true;
    case resource::Told::happened:
      break;
    case resource::Told::did_not:
      record.error = Error(ErrorCode::cancelled, resource::is_running(seen)
                                                     ? "the host ended before the unit was asked"
                                                     : "the unit does not run any more");
      break;
    case resource::Told::failed:
      record.error = Error(ErrorCode::io_error, "the reload that was under way failed");
      break;
  }
  DATUM_TRY(execute(running, record));
  return false;
}

// Announced, done, told.
loop::Task<Status> Conductor::ask_unit(Running& running, const model::Target unit,
                                       const os::Unit before, bool repeats) {
  const auto pending = store_.history->state().pending.at(unit);
  auto outcome = outcome_of(unit, pending);
  outcome.repeated = repeats || pending.repeated;
  const core::StartDelivery start{unit, resource::describe_moment(before), repeats};
  DATUM_CO_TRY(execute(running, start));
  auto waiting = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await waiting);
  running.told.insert(pending.service);
  const auto number = static_cast<std::uint32_t>(running.report.notifications.size());
  std::function<UnitAsked()> work = [machine = machine_, unit, restart = pending.restart, number,
                                     crash_point = running.request.crash_point] {
    if (crash_point) crash_point("deliver", number);
    auto asked = notify_unit(*machine->units, unit.name.str(), restart);
    if (crash_point) crash_point("delivered", number);
    return asked;
  };
  auto asking = loop::run_on<UnitAsked>(loop_.pool(), std::move(work));
  auto asked = co_await asking;
  const auto* service = service_of(running, unit);
  if (pending.restart && !asked.error && service != nullptr) {
    auto settling = loop::sleep_for(loop_, resource::settle_ns(*service));
    co_await settling;
    auto looking = look_at_unit(loop_, *machine_, unit);
    asked.error = find_early_end(asked, co_await looking);
  }
  // What was not seen to end may have happened: the unit is asked again before it is repeated.
  if (asked.error && asked.end_unseen) {
    tell(running, std::move(outcome), NotificationEnd::pending, asked.error->message());
    co_return Status{};
  }
  DATUM_CO_TRY(execute(running, core::RecordDelivery{unit, pending.restart, repeats, asked.error}));
  tell(running, std::move(outcome),
       asked.error ? NotificationEnd::failed : NotificationEnd::delivered,
       asked.error ? asked.error->message() : std::string());
  co_return Status{};
}

loop::Task<Status> Conductor::deliver_one(Running& running, const model::Target unit) {
  const auto& state = store_.history->state();
  auto outcome = outcome_of(unit, state.pending.at(unit));
  if (auto fate = judge(running, unit, state.pending.at(unit))) {
    if (fate->end == NotificationEnd::dropped)
      DATUM_CO_TRY(execute(running, core::DropNotification{unit, fate->reason}));
    tell(running, std::move(outcome), fate->end, std::move(fate->reason));
    co_return Status{};
  }
  auto looking = look_at_unit(loop_, *machine_, unit);
  const auto seen = co_await looking;
  if (!seen || !resource::is_running(*seen)) {
    tell(running, std::move(outcome), NotificationEnd::pending,
         seen ? "it does not run; when it is started it reads what changed"
              : seen.error().message());
    co_return Status{};
  }
  DATUM_CO_ASSIGN(const bool repeats, end_open_delivery(running, unit, *seen));
  const auto pending = state.pending.find(unit);
  if (pending == state.pending.end()) {
    tell(running, std::move(outcome), NotificationEnd::delivered, "before the host ended");
    co_return Status{};
  }
  if (was_started_last(running, pending->second) && !repeats) {
    const std::string why = "it was started after the change, and so has read it";
    DATUM_CO_TRY(execute(running, core::DropNotification{unit, why}));
    tell(running, std::move(outcome), NotificationEnd::dropped, why);
    co_return Status{};
  }
  auto asking = ask_unit(running, unit, *seen, repeats);
  co_return co_await asking;
}

loop::Task<Status> Conductor::deliver(Running& running) {
  std::vector<model::Target> units;
  for (const auto& [unit, pending] : store_.history->state().pending) units.push_back(unit);
  for (const auto& unit : units) {
    if (!may_go_on(running)) break;
    auto delivering = deliver_one(running, unit);
    DATUM_CO_TRY(co_await delivering);
  }
  co_return Status{};
}

// After a death: only looks, and tells what it saw.
loop::Task<Status> Conductor::end_dead_deliveries(Running& running) {
  std::vector<model::Target> units;
  for (const auto& [unit, pending] : store_.history->state().pending)
    if (pending.started) units.push_back(unit);
  for (const auto& unit : units) {
    auto looking = wait_for_unit(loop_, *machine_, unit);
    const auto seen = co_await looking;
    if (!seen) continue;
    DATUM_CO_TRY(end_open_delivery(running, unit, *seen));
  }
  co_return Status{};
}

// What this pass leaves pending and did not come to.
void Conductor::report_pending(Running& running) const {
  auto& told = running.report.notifications;
  for (auto& pending : core::pending_outcomes(store_.history->state())) {
    const bool known = std::any_of(told.begin(), told.end(),
                                   [&](const auto& one) { return one.unit == pending.unit; });
    if (!known) told.push_back(std::move(pending));
  }
}

}  // namespace datum::engine
