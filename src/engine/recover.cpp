// After a death in mid-pass: look first, record what was seen, remove what lies about, close the
// pass. The next pass plans afresh; what took effect is converged there and is not repeated.
#include "co_try.hpp"
#include "datum/engine/pass.hpp"
#include "running.hpp"

namespace datum::engine {

static std::vector<core::RecoveredAction> look(const resource::Machine& machine, const Id128& store,
                                               const core::PassState& pass, bool enforce) {
  const auto nothing_declared = resource::make_declared(std::make_shared<const model::Manifest>());
  std::vector<core::RecoveredAction> seen;
  seen.reserve(pass.open.size());
  for (const auto& [ordinal, action] : pass.open)
    seen.push_back(
        resource::recover_action(machine, nothing_declared, store, pass.id, action, enforce));
  return seen;
}

static std::vector<core::Leftover> remove_leftovers(const resource::Machine& machine,
                                                    const Id128& store,
                                                    const std::vector<core::Leftover>& leftovers) {
  std::vector<core::Leftover> gone;
  for (const auto& leftover : leftovers)
    if (resource::remove_leftover(machine, store, leftover)) gone.push_back(leftover);
  return gone;
}

// What an earlier recovery had to leave because it ran in observe.
loop::Task<Status> Conductor::clean_leftovers(Running& running) {
  auto& history = *store_.history;
  if (history.state().leftovers.empty()) co_return Status{};
  auto opened = durable();
  DATUM_CO_TRY(co_await opened);
  std::function<std::vector<core::Leftover>()> work =
      [machine = machine_, store = history.state().store, left = history.state().leftovers] {
        return remove_leftovers(*machine, store, left);
      };
  auto removing = loop::run_on<std::vector<core::Leftover>>(loop_.pool(), std::move(work));
  core::RecordCleaned record;
  record.gone = co_await removing;
  co_return execute(running, record);
}

loop::Task<Status> Conductor::recover(core::ModeTerms terms, model::ManifestPtr manifest) {
  auto& history = *store_.history;
  const bool enforce = core::host_mode(terms).mode == core::Mode::enforce;
  Running none;
  if (!history.state().pass) {
    if (!enforce) co_return Status{};
    auto cleaning = clean_leftovers(none);
    co_return co_await cleaning;
  }
  // The opening record of this process is durable before anything is touched.
  auto opened = durable();
  DATUM_CO_TRY(co_await opened);
  const bool rebooted = history.state().pass->boot != loop_.clock().boot_id();
  std::function<std::vector<core::RecoveredAction>()> work =
      [machine = machine_, store = history.state().store, pass = *history.state().pass, enforce] {
        return look(*machine, store, pass, enforce);
      };
  auto looking = loop::run_on<std::vector<core::RecoveredAction>>(loop_.pool(), std::move(work));
  core::RecordRecovery record;
  record.actions = co_await looking;
  const auto& declared = history.state().pass->started.declaration.manifest;
  if (manifest && manifest->digest == declared) record.manifest = manifest.get();
  DATUM_CO_TRY(execute(none, record));
  const core::InterruptPass interrupt{
      rebooted ? core::Interruption::reboot : core::Interruption::crash,
      record.actions.size() == 1
          ? std::string("1 action was announced and had no end")
          : std::to_string(record.actions.size()) + " actions were announced and had no end"};
  DATUM_CO_TRY(execute(none, interrupt));
  auto waiting = durable();
  co_return co_await waiting;
}

}  // namespace datum::engine
