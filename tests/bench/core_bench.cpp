// Cost of core on a host of 10,000 resources: a plan of nothing, a plan of everything, the
// decisions of a whole pass, folding it, and what the state weighs when idle. Prints the best of
// several rounds, as time of the processor; nothing here fails for being slow.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "datum/base/assert.hpp"
#include "datum/core/decide.hpp"
#include "datum/core/status.hpp"

using namespace datum;

namespace {

constexpr std::uint32_t kResources = 10'000;

template <class Work>
double best_ms(const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::clock();
    work();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

Digest digest_of(std::uint32_t i) {
  Digest digest;
  store_le(reinterpret_cast<std::byte*>(digest.bytes.data()), i + 1);
  return digest;
}

// 100 folders with 99 files each; every file requires its folder and the file before it.
model::ManifestPtr make_manifest() {
  auto manifest = std::make_shared<model::Manifest>();
  manifest->host = "h";
  for (std::uint32_t i = 0; i < kResources; ++i) {
    auto resource = std::make_shared<model::Resource>();
    const auto folder = std::to_string(i / 100);
    const auto path = "/etc/service/conf.d/" + folder;
    if (i % 100 == 0) {
      resource->reference = {model::ResourceType::directory, "folder-" + folder};
      resource->fields = {{model::Field::path, path}};
    } else {
      resource->reference = {model::ResourceType::file, "conf-" + std::to_string(i)};
      resource->fields = {{model::Field::path, path + "/" + std::to_string(i) + ".conf"}};
      resource->requirements = {{model::ResourceType::directory, "folder-" + folder}};
      if (i % 100 > 1)
        resource->requirements.push_back(
            {model::ResourceType::file, "conf-" + std::to_string(i - 1)});
    }
    model::finish_resource(*resource);
    manifest->resources.push_back(std::move(resource));
  }
  DATUM_ASSERT(model::finish_manifest(*manifest));
  return manifest;
}

std::vector<core::Observation> observe(const model::Manifest& manifest, core::Condition condition) {
  std::vector<core::Observation> observations;
  std::uint32_t i = 0;
  for (const auto& resource : manifest.resources) {
    core::Observation seen;
    seen.reference = resource->reference;
    seen.target = resource->target;
    seen.condition = condition;
    seen.found = condition == core::Condition::drifted ? core::Found::absent : core::Found::file;
    if (condition == core::Condition::drifted) seen.drifts = {{"state", "present", "absent"}};
    seen.digest = digest_of(i++ * 2 + (condition == core::Condition::drifted ? 1 : 0));
    observations.push_back(std::move(seen));
  }
  return observations;
}

struct Run {
  core::State state;
  std::vector<core::Event> events;
  std::vector<core::EventPlace> places;

  void execute(const core::Command& command) {
    auto decided = core::decide(state, command);
    DATUM_ASSERT(decided);
    for (auto& event : *decided) {
      places.push_back({state.seq + 1, {1}, {1}, {}});
      core::evolve(state, event, places.back());
      events.push_back(std::move(event));
    }
  }
};

core::Plan plan_of(const core::State& state, const model::Manifest& manifest,
                   const std::vector<core::Observation>& observations) {
  core::PlanInput input;
  input.manifest = &manifest;
  input.observations = observations;
  input.state = &state;
  return core::compute_plan(input);
}

void run_waves(Run& run, const std::shared_ptr<const core::Plan>& plan,
               const model::Manifest& manifest) {
  for (;;) {
    const auto wave = core::next_wave(*plan, run.state.pass->phases);
    if (wave.empty()) return;
    core::AnnounceWave announce;
    core::RecordResults results{plan, &manifest, {}, {1}};
    for (const auto ordinal : wave) {
      const auto& action = plan->actions[ordinal];
      announce.actions.push_back({ordinal, action.kind, action.target, action.found, {}});
      core::ActionResult result;
      result.ordinal = ordinal;
      result.after.condition = core::Condition::converged;
      result.after.digest = digest_of(ordinal);
      result.left = {core::Found::file, 1, ordinal, {}};
      results.results.push_back(std::move(result));
    }
    run.execute(announce);
    run.execute(results);
  }
}

Run run_pass(const model::Manifest& manifest, const std::vector<core::Observation>& observations) {
  Run run;
  Id128 store;
  store.bytes.fill(1);
  run.execute(core::CreateStore{store, "/", "h", "", ""});
  run.execute(core::OpenStore{store, "", "/", "h"});
  core::StartPass start;
  start.started.mode.mode = core::Mode::enforce;
  run.execute(start);
  run.execute(core::RecordObservations{observations});
  auto plan = std::make_shared<const core::Plan>(plan_of(run.state, manifest, observations));
  run_waves(run, plan, manifest);
  run.execute(core::FinishPass{});
  return run;
}

}  // namespace

int main() {
  const auto manifest = make_manifest();
  const auto missing = observe(*manifest, core::Condition::drifted);
  const auto there = observe(*manifest, core::Condition::converged);
  std::printf("%u resources\n", kResources);
  Run run;
  const auto pass = best_ms([&] { run = run_pass(*manifest, missing); });
  std::printf("a pass that makes all: %.1f ms for %zu events\n", pass, run.events.size());
  std::printf("plan of everything: %.1f ms\n",
              best_ms([&] { (void)plan_of(core::State{}, *manifest, missing); }));
  std::printf("plan of nothing: %.1f ms\n",
              best_ms([&] { (void)plan_of(run.state, *manifest, there); }));
  std::printf("fold: %.1f ms\n", best_ms([&] {
                core::State state;
                for (std::size_t i = 0; i < run.events.size(); ++i)
                  core::evolve(state, run.events[i], run.places[i]);
              }));
  std::printf("status: %.2f ms\n",
              best_ms([&] { (void)core::compute_status(run.state, core::StatusInput{}); }));
  const auto before = mallinfo2().uordblks;
  const auto copy = std::make_unique<core::State>(run.state);
  const auto bytes = mallinfo2().uordblks - before;
  std::printf("idle state: %zu bytes a resource\n", bytes / kResources);
  return copy->resources.size() == kResources ? 0 : 1;
}
