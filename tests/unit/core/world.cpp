// Documents in short, the journal in memory and the steps of a pass in their order.
#include "world.hpp"

#include <catch2/catch.hpp>

namespace datum::core::test {

using model::Field;
using model::ResourceType;
using model::TargetFamily;

Id128 id_of(std::uint8_t number) {
  Id128 id;
  id.bytes.fill(number);
  return id;
}

static model::Resource make(ResourceType type, const std::string& name) {
  model::Resource resource;
  resource.reference = {type, name};
  return resource;
}

model::Resource file(const std::string& name, const std::string& where,
                     const std::string& content) {
  auto resource = make(ResourceType::file, name);
  model::Content body;
  body.digest = digest_of(content);
  body.size = content.size();
  body.bytes = content;
  body.has_bytes = true;
  resource.fields = {{Field::path, where}, {Field::content, body}};
  return resource;
}

model::Resource folder(const std::string& name, const std::string& where, bool purge) {
  auto resource = make(ResourceType::directory, name);
  resource.fields = {{Field::path, where}};
  if (purge) resource.fields.push_back({Field::purge, true});
  return resource;
}

model::Resource link(const std::string& name, const std::string& where, const std::string& to) {
  auto resource = make(ResourceType::symlink, name);
  resource.fields = {{Field::path, where}, {Field::target, to}};
  return resource;
}

model::Resource service(const std::string& name, const std::string& state) {
  auto resource = make(ResourceType::service, name);
  resource.fields = {{Field::state, state}, {Field::enabled, true}};
  return resource;
}

model::Resource package(const std::string& name) {
  auto resource = make(ResourceType::package, name);
  resource.fields = {{Field::state, std::string("present")}};
  return resource;
}

model::Resource absent(model::Resource resource) {
  std::erase_if(resource.fields,
                [](const model::FieldValue& value) { return value.field == Field::state; });
  resource.fields.push_back({Field::state, std::string("absent")});
  return resource;
}

model::ManifestPtr manifest_of(std::vector<model::Resource> resources) {
  auto manifest = std::make_shared<model::Manifest>();
  manifest->host = "h";
  manifest->final = resources.empty();
  for (auto& resource : resources) {
    model::finish_resource(resource);
    manifest->resources.push_back(std::make_shared<model::Resource>(std::move(resource)));
  }
  REQUIRE(model::finish_manifest(*manifest));
  return manifest;
}

model::Reference ref(const std::string& text) {
  const auto found = model::find_reference(text);
  REQUIRE(found);
  return *found;
}

model::Target path(const std::string& name) {
  return {TargetFamily::path, name};
}

World::World() {
  run(CreateStore{id_of(1), "/", "h", "local", "1.0"});
  run(OpenStore{boot, "1.0", "/", "h"});
}

void World::append(const Event& event) {
  const EventPlace place{state.seq + 1, now, mono, boot};
  journal.push_back({event, place});
  evolve(state, event, place);
}

Result<std::vector<Event>> World::try_run(const Command& command) {
  auto events = decide(state, command);
  if (!events) return events;
  for (const auto& event : *events) append(event);
  return events;
}

std::vector<Event> World::run(const Command& command) {
  auto events = try_run(command);
  if (!events) FAIL(events.error().message());
  return *events;
}

void World::advance(std::int64_t seconds) {
  now.ns += seconds * kNsPerSecond;
  mono.ns += seconds * kNsPerSecond;
}

std::vector<Observation> World::observe(const model::ManifestPtr& manifest) const {
  std::vector<Observation> observations;
  for (const auto& resource : manifest->resources)
    observations.push_back(machine.observe(*resource, *manifest));
  return observations;
}

std::vector<LeavingObservation> World::observe_leaving(const model::ManifestPtr& manifest) const {
  std::vector<LeavingObservation> leaving;
  std::set<model::Target> declared;
  for (const auto& resource : manifest->resources) declared.insert(resource->target);
  for (const auto& [target, owned] : state.owned)
    if (!declared.contains(target)) leaving.push_back(machine.observe_leaving(target));
  return leaving;
}

Plan World::plan(const model::ManifestPtr& manifest, const PassOptions& options) const {
  const auto observations = observe(manifest);
  const auto leaving = observe_leaving(manifest);
  PlanInput input;
  input.manifest = manifest.get();
  input.observations = observations;
  input.leaving = leaving;
  input.state = &state;
  input.observe_list = options.observe_list;
  input.limits = options.limits;
  return compute_plan(input);
}

Plan World::plan(const model::ManifestPtr& manifest) const {
  return plan(manifest, {});
}

void World::start(const model::ManifestPtr& manifest, const PassOptions& options) {
  StartPass start;
  start.started.mode = {options.mode, ModeTerm::configuration, "test"};
  start.started.declaration.manifest = manifest->digest;
  if (state.accepted) start.started.declaration = *state.accepted;
  start.manifest_empty = manifest->resources.empty();
  start.manifest_final = options.final;
  run(start);
}

std::shared_ptr<const Plan> World::observe_and_plan(const model::ManifestPtr& manifest,
                                                    const PassOptions& options) {
  run(RecordObservations{observe(manifest)});
  auto planned = std::make_shared<const Plan>(plan(manifest, options));
  RecordPlan record;
  record.empty = planned->empty();
  if (!record.empty) record.digest = digest_of(text_of(*planned));
  record.counts = planned->counts;
  record.observations = digest_of("all");
  run(record);
  return planned;
}

void World::announce(const Plan& plan, const std::vector<std::uint32_t>& wave) {
  AnnounceWave announcement;
  announcement.plan = digest_of(text_of(plan));
  for (const auto ordinal : wave) {
    const auto& action = plan.actions[ordinal];
    const auto* object = machine.find(action.target);
    announcement.actions.push_back(
        {ordinal, action.kind, action.target, object ? object->found : Found::absent, {}});
  }
  run(announcement);
}

void World::run_wave(const std::shared_ptr<const Plan>& plan, const model::ManifestPtr& manifest,
                     const std::vector<std::uint32_t>& wave, const PassOptions& options) {
  if (options.on_wave) options.on_wave(*plan, wave);
  announce(*plan, wave);
  RecordResults results{plan, manifest.get(), {}, now, mono};
  for (const auto ordinal : wave) {
    const auto& action = plan->actions[ordinal];
    const auto fault = options.fault ? options.fault(action) : std::string();
    if (fault.empty()) {
      results.results.push_back(machine.act(action, *manifest));
      continue;
    }
    ActionResult result;
    result.ordinal = ordinal;
    result.skipped = fault == "skip";
    result.message = fault;
    if (!result.skipped) result.error = Error(ErrorCode::io_error, fault);
    result.failure = digest_of(fault);
    results.results.push_back(std::move(result));
  }
  run(results);
}

void World::finish(const Plan& plan) {
  FinishPass finish;
  finish.observations = digest_of("all");
  finish.now = now;
  finish.mono = mono;
  if (!plan.empty()) finish.plan = digest_of(text_of(plan));
  finish.planned = plan.counts;
  run(finish);
}

std::vector<Event> World::pass(const model::ManifestPtr& manifest, const PassOptions& options) {
  const auto from = journal.size();
  start(manifest, options);
  const auto planned = observe_and_plan(manifest, options);
  if (options.mode == Mode::enforce) {
    std::vector<Digest> failures;
    for (const auto& action : planned->actions)
      failures.push_back(action.refusal.empty() ? Digest{} : digest_of(action.refusal));
    run(RecordRefusals{planned, failures});
    run(RecordOwnership{planned, manifest.get(), observe(manifest)});
    for (;;) {
      const auto wave = next_wave(*planned, state.pass->phases, options.waves);
      if (wave.empty()) break;
      run_wave(planned, manifest, wave, options);
    }
  }
  finish(*planned);
  std::vector<Event> events;
  for (auto i = from; i < journal.size(); ++i) events.push_back(journal[i].event);
  return events;
}

std::vector<Event> World::pass(const model::ManifestPtr& manifest) {
  return pass(manifest, {});
}

HostStatus World::status() const {
  StatusInput input;
  input.now = now;
  input.mono = mono;
  input.boot = boot;
  return compute_status(state, input);
}

std::string text_of(const Plan& plan) {
  std::string text;
  for (const auto& action : plan.actions) {
    text += std::to_string(action.ordinal) + " " + std::string(to_string(action.kind)) + " " +
            action.target.text() + " " + action.reference.text();
    for (const auto& drift : action.changes) text += " ~" + drift.field;
    for (const auto before : action.after) text += " >" + std::to_string(before);
    for (const auto& reference : action.blocked_on) text += " !" + reference.text();
    text += std::string(action.repeatable ? " r" : "") + (action.observe_only ? " o" : "") +
            (action.privileged ? " p" : "") + " (" + action.refusal + ") (" + action.note + ") " +
            std::string(to_string(action.found)) + "\n";
  }
  for (const auto& planned : plan.notifications) {
    text += (planned.restart ? "restart " : "reload ") + planned.service.text();
    for (const auto& by : planned.by) text += " " + by.text();
    text += "\n";
  }
  text += "brake " + std::to_string(plan.brake.removals) + "/" + std::to_string(plan.brake.owned) +
          (plan.brake.engaged ? " engaged" : "") + "\n";
  return text;
}

const Action* find_action(const Plan& plan, const model::Target& target) {
  for (const auto& action : plan.actions)
    if (action.target == target) return &action;
  return nullptr;
}

ToldFile announce_told_file(World& world) {
  auto unit = service("web");
  unit.reload_on = {ref("File[a]")};
  world.machine.put(model::Target{model::TargetFamily::unit, "web.service"}, Found::present,
                    "running");
  auto manifest = manifest_of({unit, file("a", "/a")});
  world.start(manifest, {});
  auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, {0});
  return {std::move(manifest), std::move(plan)};
}

Announced announce_first(World& world, const model::ManifestPtr& manifest) {
  world.start(manifest, {});
  const auto plan = world.observe_and_plan(manifest, {});
  world.announce(*plan, {0});
  RecordResults results{plan, manifest.get(), {}, world.now};
  ActionResult result;
  result.error = Error(ErrorCode::io_error, "not durable");
  results.results = {result};
  return {manifest, std::move(results)};
}

}  // namespace datum::core::test
