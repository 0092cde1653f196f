// The steps of a pass in their order. What may happen is core's decision; here is only the order:
// append, wait until durable where an effect follows, act, append.
#include "datum/engine/pass.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "co_try.hpp"
#include "datum/codec/documents.hpp"
#include "datum/codec/plan.hpp"
#include "datum/config/glob.hpp"
#include "datum/core/second_look.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/upkeep.hpp"
#include "hold_watch.hpp"
#include "observe.hpp"
#include "running.hpp"
#include "second_look.hpp"

namespace datum::engine {

Conductor::Conductor(loop::Loop& loop, Store& store, std::shared_ptr<resource::Machine> machine)
    : loop_(loop), store_(store), machine_(std::move(machine)) {}

Status Conductor::execute(Running& running, const core::Command& command) {
  DATUM_ASSIGN(const auto executed, store_.history->execute(command));
  fold_outcomes(executed.events, running.phases, running.report.outcomes);
  return {};
}

// An identical failure is recorded as a reference to the first; the report tells it in full again.
void Conductor::tell_failure(Running& running, std::uint32_t ordinal, const std::string& message,
                             const std::string& output) {
  auto& outcome = running.report.outcomes[ordinal];
  if (outcome.phase != core::Phase::failed || !outcome.message.empty()) return;
  outcome.message = message;
  outcome.output = output;
}

loop::Task<Status> wait_durable(history::History& history) {
  std::function<void(std::function<void(Status)>)> begin =
      [&history, seq = history.state().seq](std::function<void(Status)> resume) {
        history.when_durable(seq, std::move(resume));
      };
  auto wait = loop::wait_for<Status>(std::move(begin));
  co_return co_await wait;
}

// Room in the journal for all that a wave will record, before anything of it is begun: what is
// done and cannot be recorded would be unknown.
loop::Task<Status> Conductor::reserve_records(std::size_t actions) {
  // Announcement, result and ownership with the longest of usual paths; output of tools is rare.
  constexpr std::uint64_t kBytesPerAction = 2048;
  std::function<void(std::function<void(Status)>)> begin =
      [&history = *store_.history, actions](std::function<void(Status)> resume) {
        history.reserve(actions * kBytesPerAction, std::move(resume));
      };
  auto wait = loop::wait_for<Status>(std::move(begin));
  co_return co_await wait;
}

static core::StartPass start_command(const PassRequest& request, const core::EffectiveMode& mode) {
  core::StartPass start;
  start.started.trigger = request.trigger;
  start.started.actor = request.actor;
  start.started.mode = mode;
  start.started.declaration = request.declaration;
  if (start.started.declaration.manifest.empty())
    start.started.declaration.manifest = request.manifest->digest;
  start.started.provenance = request.provenance;
  start.started.resources = static_cast<std::uint32_t>(request.manifest->resources.size());
  start.started.allowed_removals = request.limits.allowed;
  start.started.version = request.version;
  if (request.undoing) start.started.reverts = request.undoing->reversal.pass;
  start.manifest_empty = request.manifest->resources.empty();
  start.manifest_final = request.manifest->final;
  start.foreign_manifest = request.foreign_manifest;
  return start;
}

// Blobs are named by digest alone: whoever has to make room needs the folder.
static Error blob_fault(const Store& store, Error error, std::string_view doing) {
  const auto where = store.folder.empty() ? "blobs" : store.folder + "/blobs";
  return std::move(error).context(std::string(doing) + " in " + where);
}

// The plan's body lies in the blob store before the event that names it is queued.
loop::Task<Status> Conductor::put_plan(Running& running) {
  if (running.report.plan->empty()) co_return Status{};
  std::function<Result<Digest>()> work = [plan = running.report.plan, blobs = store_.blobs.get(),
                                          last = store_.history->state().last_plan] {
    const auto bytes = codec::encode_plan(*plan);
    const auto digest = crypto::sha256(bytes);
    // The last one lies there already, unless somebody lost it.
    if (blobs == nullptr || (digest == last && blobs->contains(digest)))
      return Result<Digest>(digest);
    if (auto put = blobs->put(bytes); !put) return Result<Digest>(fail(std::move(put).error()));
    if (auto synced = blobs->sync(); !synced)
      return Result<Digest>(fail(std::move(synced).error()));
    return Result<Digest>(digest);
  };
  auto wait = loop::run_on<Result<Digest>>(loop_.pool(), std::move(work));
  auto digest = co_await wait;
  if (!digest) co_return fail(blob_fault(store_, std::move(digest).error(), "store the plan"));
  running.plan_digest = *digest;
  co_return Status{};
}

// The document lines of the manifest lie in the blob store before the event that names them is
// queued. They change with the fleet, not with the machine: nearly always they lie there already.
loop::Task<Status> Conductor::put_documents(Running& running) {
  auto* const blobs = store_.blobs.get();
  if (blobs == nullptr) co_return Status{};
  std::function<Result<Digest>()> work = [manifest = running.request.manifest,
                                          blobs]() -> Result<Digest> {
    const auto bytes = codec::encode_documents(*manifest);
    if (bytes.empty()) return Digest{};
    const auto digest = crypto::sha256(bytes);
    if (blobs->contains(digest)) return digest;
    DATUM_TRY(blobs->put(bytes));
    DATUM_TRY(blobs->sync());
    return digest;
  };
  auto wait = loop::run_on<Result<Digest>>(loop_.pool(), std::move(work));
  auto digest = co_await wait;
  if (!digest)
    co_return fail(blob_fault(store_, std::move(digest).error(), "store the document lines"));
  running.request.provenance.documents = *digest;
  co_return Status{};
}

// The references that one of the globs of the local configuration matches, sorted.
static std::vector<model::Reference> references_matching(const model::Manifest& manifest,
                                                         const std::vector<std::string>& globs) {
  std::vector<model::Reference> matched;
  if (globs.empty()) return matched;
  for (const auto& resource : manifest.resources)
    if (config::matches_any(globs, resource->reference.text()))
      matched.push_back(resource->reference);
  return matched;
}

// The references of owned targets that one of the globs matches, sorted.
static std::vector<model::Reference> owned_matching(const core::State& state,
                                                    const std::vector<std::string>& globs) {
  std::vector<model::Reference> matched;
  if (globs.empty()) return matched;
  for (const auto& [target, owned] : state.owned)
    if (config::matches_any(globs, owned.reference.text())) matched.push_back(owned.reference);
  std::sort(matched.begin(), matched.end());
  return matched;
}

loop::Task<Status> Conductor::observe_and_plan(Running& running) {
  auto& request = running.request;
  if (request.undoing) {
    auto looking = look_back(running);
    co_return co_await looking;
  }
  auto observing = observe_places(loop_, running.looking, all_places(*request.manifest));
  running.report.observations = co_await observing;
  auto& observations = running.report.observations;
  running.observations = resource::digest_observations(observations);
  DATUM_CO_TRY(execute(running, core::RecordObservations{observations}));

  auto targets = find_leaving(store_.history->state(), *request.manifest);
  auto leaving_task = observe_leaving(loop_, running.looking, std::move(targets));
  auto leaving = co_await leaving_task;
  auto making = make_plan(running, std::move(leaving));
  co_return co_await making;
}

core::PlanInput Conductor::plan_input(const Running& running) const {
  const auto& request = running.request;
  core::PlanInput input;
  input.manifest = request.manifest.get();
  input.state = &store_.history->state();
  if (request.undoing) input.reversal = &request.undoing->reversal;
  input.observe_list = running.observe_list;
  input.protect_list = owned_matching(store_.history->state(), request.protect_globs);
  input.limits = request.limits;
  return input;
}

loop::Task<Status> Conductor::make_plan(Running& running,
                                        std::vector<core::LeavingObservation> leaving) {
  const auto& request = running.request;
  running.observe_list = request.undoing
                             ? undone_matching(*request.undoing, request.observe_globs)
                             : references_matching(*request.manifest, request.observe_globs);
  auto input = plan_input(running);
  input.observations = running.report.observations;
  input.leaving = leaving;
  running.report.plan = std::make_shared<const core::Plan>(core::compute_plan(input));
  running.phases.assign(running.report.plan->actions.size(), core::Phase::waiting);
  running.report.outcomes.resize(running.phases.size());
  auto putting = put_plan(running);
  DATUM_CO_TRY(co_await putting);
  const core::RecordPlan record{running.plan_digest, running.report.plan->counts,
                                running.report.plan->empty(), running.observations};
  co_return execute(running, record);
}

bool Conductor::may_go_on(Running& running) {
  const auto cut = [&running](core::Interruption cause, std::string reason) {
    running.interruption = cause;
    running.report.cut_short = std::move(reason);
    return false;
  };
  if (stop_.stopped()) return cut(stop_.cause(), stop_.reason());
  const auto spent = loop_.clock().boot_now().ns - running.began.ns;
  const auto limit = running.request.limit_ns;
  if (limit != 0 && spent > limit)
    return cut(core::Interruption::timeout, "the limit of a pass was reached");
  const auto mode = core::host_mode(running.request.read_terms());
  if (mode.mode == core::Mode::enforce) return true;
  return cut(core::Interruption::mode_lowered, "the mode is observe now: " + mode.reason);
}

// For the thread of a wave, which may ask once.
static Result<resource::MeasureKept> make_measure_kept(Store& store) {
  if (store.history->log() == nullptr) return resource::MeasureKept{};
  DATUM_ASSIGN(auto reader, store.history->log()->make_reader());
  const auto live = std::make_shared<std::unique_ptr<journal::Reader>>(std::move(reader));
  return resource::MeasureKept([live, &store]() -> Result<std::uint64_t> {
    DATUM_ASSIGN(const auto whole,
                 journal::join_archive(std::move(*live), history::archive_folder(store.folder)));
    return measure_kept(*whole, *store.blobs);
  });
}

// Only of a wave that started one: what somebody else started meanwhile may have read too early.
static void note_started(Conductor::Running& running,
                         const std::vector<core::ActionResult>& results) {
  for (const auto& result : results) {
    const auto& action = running.report.plan->actions[result.ordinal];
    if (result.error || result.skipped || action.target.family != model::TargetFamily::unit)
      continue;
    for (const auto& change : action.changes)
      if (change.field == "state" && change.desired == "running")
        running.started[action.reference] = action.ordinal;
  }
}

// Whether a run of the package manager that was cut off may have been Datum's own.
static bool began_packages(const core::State& state) {
  const auto concerns = [](const auto& known) {
    return known.first.family == model::TargetFamily::package;
  };
  return std::any_of(state.suspects.begin(), state.suspects.end(), concerns) ||
         std::any_of(state.failures.begin(), state.failures.end(), concerns);
}

loop::Task<Status> Conductor::run_wave(Running& running, std::vector<std::uint32_t> ordinals) {
  const auto& plan = running.report.plan;
  auto reserving = reserve_records(ordinals.size());
  DATUM_CO_TRY(co_await reserving);
  resource::WaveOptions options;
  options.store = store_.history->state().store;
  options.pass = running.report.pass;
  options.crash_point = running.request.crash_point;
  options.clock = &loop_.clock();
  options.run_child = [this](const loop::ChildOptions& child) {
    return loop_.run_child_in_job(child);
  };
  options.rolled_back = store_.history->state().rolled_back;
  options.finish_interrupted =
      running.request.finish_interrupted || began_packages(store_.history->state());
  DATUM_CO_ASSIGN(options.measure_kept, make_measure_kept(store_));
  options.stop = running.stop;
  const auto watching = watch_hold(loop_, running.request.is_held_now, running.stop);
  auto wave =
      resource::make_wave(machine_, running.looking.declared, plan, ordinals, std::move(options));
  std::function<Result<std::vector<resource::Prepared>>()> prepare =
      [wave, blobs = store_.blobs.get()] { return wave->prepare(*blobs); };
  auto preparing = loop::run_on<Result<std::vector<resource::Prepared>>>(loop_.pool(), prepare);
  auto prepared = co_await preparing;
  if (!prepared) co_return fail(std::move(prepared).error());

  core::AnnounceWave announce;
  announce.plan = running.plan_digest;
  for (const auto& one : *prepared) {
    const auto& action = plan->actions[one.ordinal];
    announce.actions.push_back({one.ordinal, action.kind, action.target, one.before,
                                one.old_content, one.traces, one.attributes});
  }
  DATUM_CO_TRY(execute(running, announce));
  auto waiting = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await waiting);

  if (wave->uses_tools()) {
    auto using_tools = run_tools(running, wave);
    DATUM_CO_TRY(co_await using_tools);
  }
  std::function<std::int64_t()> act = [wave] { return wave->act(); };
  auto acting = loop::run_on<std::int64_t>(loop_.pool(), std::move(act));
  const auto settle_ns = co_await acting;
  if (settle_ns > 0) {
    auto settling = loop::sleep_for(loop_, settle_ns);
    co_await settling;
  }
  std::function<std::vector<core::ActionResult>()> finish = [wave] { return wave->finish(); };
  auto finishing = loop::run_on<std::vector<core::ActionResult>>(loop_.pool(), std::move(finish));
  core::RecordResults record;
  record.results = co_await finishing;
  record.plan = plan;
  record.manifest = running.request.manifest.get();
  record.now = loop_.clock().wall_now();
  record.mono = loop_.clock().boot_now();
  record.reversal = reversal_of(running.request);
  DATUM_CO_TRY(execute(running, record));
  if (wave->uses_tools()) {
    auto recorded = wait_durable(*store_.history);
    DATUM_CO_TRY(co_await recorded);
    auto forgetting = forget_wave_tools(loop_, *machine_, tool_place(store_));
    DATUM_CO_TRY(co_await forgetting);
  }
  if (settle_ns > 0) note_started(running, record.results);
  for (const auto& result : record.results)
    if (result.error) tell_failure(running, result.ordinal, result.error->message(), result.output);
  co_return Status{};
}

std::vector<Digest> failure_digests(const core::Plan& plan) {
  std::vector<Digest> digests;
  digests.reserve(plan.actions.size());
  for (const auto& action : plan.actions)
    digests.push_back(action.refusal.empty() ? Digest{} : crypto::sha256(as_bytes(action.refusal)));
  return digests;
}

// Places in the manifest of resources that an action may have changed without saying what they are
// now: those whose action failed or was skipped, folders whose entries were removed, and
// `references`: services that were told of a change.
static std::vector<std::size_t> unsettled(const model::Manifest& manifest, const core::Plan& plan,
                                          const std::vector<core::Phase>& phases,
                                          std::set<model::Reference> references) {
  for (const auto& action : plan.actions) {
    const auto phase = phases[action.ordinal];
    const bool ended_badly = phase == core::Phase::failed || phase == core::Phase::skipped;
    const bool purged = action.kind == core::ActionKind::purge && phase == core::Phase::succeeded;
    if (ended_badly || purged) references.insert(action.reference);
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < manifest.resources.size() && !references.empty(); ++i)
    if (references.contains(manifest.resources[i]->reference)) places.push_back(i);
  return places;
}

loop::Task<Status> Conductor::look_again(Running& running) {
  if (running.request.undoing) co_return Status{};
  // Packages may have changed anything.
  auto places = core::has_run_packages(*running.report.plan, running.phases)
                    ? all_places(*running.request.manifest)
                    : unsettled(*running.request.manifest, *running.report.plan, running.phases,
                                running.told);
  if (places.empty()) co_return Status{};
  auto looking = observe_places(loop_, running.looking, std::move(places));
  const auto observations = co_await looking;
  core::RecordObservations record;
  record.observations = observations;
  record.partial = true;
  co_return execute(running, record);
}

Status Conductor::record_ownership(Running& running) {
  if (running.request.undoing) return record_undone(running);
  return execute(running, core::RecordOwnership{running.report.plan, running.request.manifest.get(),
                                                running.report.observations});
}

loop::Task<Status> Conductor::apply(Running& running) {
  const auto& plan = running.report.plan;
  DATUM_CO_TRY(execute(running, core::RecordRefusals{plan, failure_digests(*plan)}));
  for (const auto& action : plan->actions)
    tell_failure(running, action.ordinal, action.refusal, {});
  if (!may_go_on(running)) co_return Status{};
  DATUM_CO_TRY(record_ownership(running));
  for (;;) {
    auto ordinals = core::next_wave(*plan, running.phases);
    if (ordinals.empty()) break;
    if (!may_go_on(running)) break;
    if (needs_second_look(running, ordinals)) {
      auto looking = look_before(running, std::move(ordinals));
      DATUM_CO_TRY(co_await looking);
      continue;
    }
    if (plan->actions[ordinals.front()].target.family == model::TargetFamily::package)
      running.looked.clear();
    auto wave = run_wave(running, std::move(ordinals));
    auto ran = co_await wave;
    if (ran && std::exchange(running.stop, {}).stopped() && !may_go_on(running)) break;
    if (ran) continue;
    if (!store_.history->healthy()) co_return ran;
    // The disk has no room, or the old content could not be kept: nothing of this wave was begun,
    // and nothing further is; what is known is recorded.
    running.report.cut_short = ran.error().message();
    break;
  }
  if (running.report.cut_short.empty()) {
    auto delivering = deliver(running);
    DATUM_CO_TRY(co_await delivering);
  }
  auto looking = look_again(running);
  DATUM_CO_TRY(co_await looking);
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < running.phases.size(); ++i)
    if (running.phases[i] == core::Phase::waiting && core::is_mutating(plan->actions[i].kind) &&
        !plan->actions[i].observe_only)
      left.push_back(i);
  if (left.empty()) co_return Status{};
  if (running.report.cut_short.empty())
    running.report.cut_short = "what they depend on did not succeed";
  co_return execute(running, core::RecordNotStarted{left, running.report.cut_short});
}

void Conductor::count_observed_only(const Running& running, const core::State& state,
                                    core::FinishPass& finish) {
  const auto& resources = running.request.manifest->resources;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const bool listed = std::binary_search(running.observe_list.begin(), running.observe_list.end(),
                                           resources[i]->reference);
    const bool kept = core::is_kept(state, resources[i]->target, running.request.manifest->digest);
    if (!resources[i]->observe_only && !listed && !kept) continue;
    ++finish.observed_only;
    const auto condition = running.report.observations[i].condition;
    finish.observed_only_drifted += condition == core::Condition::drifted ? 1 : 0;
  }
}

Status Conductor::end_pass(Running& running) {
  if (running.interruption)
    return execute(running, core::InterruptPass{*running.interruption, running.report.cut_short});
  core::FinishPass finish;
  finish.observations = running.observations;
  finish.now = loop_.clock().wall_now();
  finish.mono = loop_.clock().boot_now();
  finish.plan = running.plan_digest;
  finish.planned = running.report.plan->counts;
  if (!running.request.undoing) count_observed_only(running, store_.history->state(), finish);
  return execute(running, finish);
}

loop::Task<Result<PassReport>> Conductor::run(PassRequest request) {
  Running running;
  running.request = std::move(request);
  running.began = loop_.clock().boot_now();
  running.report.mode = core::host_mode(running.request.read_terms());
  running.looking.machine = machine_;
  auto& history = *store_.history;
  auto declared = resource::make_declared(running.request.manifest, history.state().owned);
  if (running.request.undoing) declared.former = running.request.undoing->former;
  running.looking.declared = std::make_shared<const resource::Declared>(std::move(declared));

  auto ending = end_running_tools(running);
  DATUM_CO_TRY(co_await ending);
  if (!running.request.undoing) {
    auto documenting = put_documents(running);
    DATUM_CO_TRY(co_await documenting);
  }
  DATUM_CO_TRY(execute(running, start_command(running.request, running.report.mode)));
  running.report.pass = history.state().pass->id;
  if (running.request.retry && running.report.mode.mode == core::Mode::enforce)
    DATUM_CO_TRY(lift_quarantine(running));
  auto planning = observe_and_plan(running);
  auto planned = co_await planning;
  if (planned && running.request.approve)
    planned = running.request.approve(running.report.observations, *running.report.plan);
  if (planned && running.report.mode.mode == core::Mode::enforce) {
    auto applying = apply(running);
    planned = co_await applying;
  }
  if (!planned) {
    if (!history.healthy()) co_return fail(std::move(planned).error());
    auto why = std::move(planned).error();
    DATUM_CO_TRY(execute(running, core::InterruptPass{core::Interruption::stop, why.message()}));
    auto waiting = wait_durable(*store_.history);
    DATUM_CO_TRY(co_await waiting);
    co_return fail(std::move(why));
  }
  report_pending(running);
  auto rebooting = look_for_reboot(running);
  DATUM_CO_TRY(co_await rebooting);
  DATUM_CO_TRY(end_pass(running));
  auto waiting = wait_durable(*store_.history);
  DATUM_CO_TRY(co_await waiting);
  running.report.status = core::compute_status(
      history.state(),
      {loop_.clock().wall_now(), loop_.clock().boot_now(), loop_.clock().boot_id()});
  running.report.recovered = recovered_;
  co_return std::move(running.report);
}

}  // namespace datum::engine
