// A whole pass over a scene without journal: observe, plan, keep, run waves. What the engine does
// between the steps (recording) is left out; what ownership needs of it is kept here.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "datum/core/plan.hpp"
#include "datum/resource/wave.hpp"
#include "scene.hpp"

namespace datum::test {

class MemoryBlobs final : public blobs::BlobStore {
 public:
  [[nodiscard]] Result<blobs::Stored> put(ByteView content) override {
    const auto digest = crypto::sha256(content);
    kept[digest] = std::string(as_text(content));
    return blobs::Stored{digest, content.size()};
  }
  [[nodiscard]] Result<blobs::Stored> put_stream(ByteSource& source) override {
    Bytes all;
    Bytes piece(4096);
    for (;;) {
      DATUM_ASSIGN(const auto count, source.read(piece));
      if (count == 0) return put(all);
      all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
    }
  }
  [[nodiscard]] Status sync() override {
    ++syncs;
    return {};
  }
  bool contains(const Digest& digest) const override { return kept.contains(digest); }
  [[nodiscard]] Result<Bytes> read(const Digest& digest, std::size_t) const override {
    return to_bytes(kept.at(digest));
  }
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    return std::unique_ptr<ByteSource>(std::make_unique<TextSource>(kept.at(digest)));
  }
  [[nodiscard]] Result<std::uint64_t> used() const override { return used_bytes; }
  [[nodiscard]] Status remove(const Digest&) override { return {}; }
  [[nodiscard]] Result<std::uint64_t> used_by(std::span<const Digest> digests) const override {
    std::uint64_t bytes = 0;
    for (const auto& digest : digests)
      if (const auto found = kept.find(digest); found != kept.end()) bytes += found->second.size();
    return bytes;
  }
  [[nodiscard]] Result<std::uint64_t> sweep(const blobs::SweepRoots&, std::int64_t) override {
    return std::uint64_t{0};
  }

  std::map<Digest, std::string> kept;
  std::uint64_t used_bytes = 0;
  int syncs = 0;
};

// What a pass knows before its first wave.
struct Planned {
  std::shared_ptr<const resource::Declared> declared;
  std::vector<core::Observation> before;
  std::shared_ptr<core::Plan> plan;

  [[nodiscard]] std::vector<std::uint32_t> first_wave() const { return core::next_wave(*plan, {}); }
};
// Looks at what is declared and at what is owned and left it.
inline Planned plan_for(Scene& scene, const core::State& state,
                        const std::vector<model::Resource>& resources) {
  Planned planned;
  planned.declared = declare(resources, state.owned);
  const auto& manifest = *planned.declared->manifest;
  resource::Observer observer(scene.shared(), planned.declared);
  for (const auto& one : manifest.resources) planned.before.push_back(observer.observe(*one));
  std::vector<core::LeavingObservation> leaving;
  for (const auto& [target, owned] : state.owned)
    if (std::none_of(manifest.resources.begin(), manifest.resources.end(),
                     [&](const auto& one) { return one->target == target; }))
      leaving.push_back(observer.observe_leaving(target, owned));
  core::PlanInput input;
  input.manifest = &manifest;
  input.observations = planned.before;
  input.leaving = leaving;
  input.state = &state;
  planned.plan = std::make_shared<core::Plan>(core::compute_plan(input));
  return planned;
}

// The outcome of a plan of one action in words, and what ownership needs of it.
inline std::string record_one(core::State& state, const core::Plan& plan,
                              const core::ActionResult& result) {
  if (result.skipped) return "skipped: " + result.message;
  if (result.error) return "failed: " + result.error->message();
  const auto& action = plan.actions[0];
  auto& owned = state.owned[action.target];
  owned.created = owned.created || action.kind == core::ActionKind::create;
  owned.left = result.left;
  owned.reference = action.reference;
  if (result.left.found == core::Found::absent) state.owned.clear();
  return "succeeded";
}

struct PassResult {
  std::vector<core::Observation> before;
  std::shared_ptr<core::Plan> plan;
  std::vector<resource::Prepared> prepared;
  std::map<std::uint32_t, core::ActionResult> results;
  Status space;

  // The one action on that path; aborts if there is none.
  [[nodiscard]] const core::Action& action(const std::string& path) const {
    for (const auto& action : plan->actions)
      if (action.target.name == path) return action;
    std::abort();
  }
  [[nodiscard]] const core::ActionResult& result(const std::string& path) const {
    return results.at(action(path).ordinal);
  }
  // "succeeded", "skipped: …", "failed: …" or "refused: …".
  [[nodiscard]] std::string outcome(const std::string& path) const {
    const auto& planned = action(path);
    if (!planned.refusal.empty()) return "refused: " + planned.refusal;
    const auto found = results.find(planned.ordinal);
    if (found == results.end()) return "not run";
    if (found->second.skipped) return "skipped: " + found->second.message;
    if (found->second.error) return "failed: " + found->second.error->message();
    return "succeeded";
  }
};

class Pass {
 public:
  explicit Pass(Scene& scene) : scene_(scene) {
    options.pass = 7;
    options.store.bytes = {1, 2, 3};
  }

  resource::WaveOptions options;
  MemoryBlobs blobs;
  core::State state;
  std::function<void(core::Plan&)> alter_plan;  // what a wave must withstand by itself
  std::function<void()> before_run;             // after observing, planning and keeping: a race

  PassResult run(const std::vector<model::Resource>& resources) {
    PassResult result;
    auto planned = plan_for(scene_, state, resources);
    result.before = std::move(planned.before);
    result.plan = std::move(planned.plan);
    if (alter_plan) alter_plan(*result.plan);
    run_waves(planned.declared, result);
    remember(result);
    return result;
  }

 private:
  void run_waves(const std::shared_ptr<const resource::Declared>& declared, PassResult& result) {
    std::vector<core::Phase> phases(result.plan->actions.size(), core::Phase::waiting);
    for (;;) {
      auto ordinals = core::next_wave(*result.plan, phases);
      if (ordinals.empty()) return;
      resource::FileWave wave(scene_.shared(), declared, result.plan, ordinals, options);
      result.space = wave.prove_space();
      if (!result.space) return;
      auto prepared = wave.keep_old(blobs);
      if (!prepared) std::abort();
      for (auto& one : *prepared) result.prepared.push_back(std::move(one));
      if (before_run) before_run();
      for (auto& one : wave.run()) {
        phases[one.ordinal] = one.skipped ? core::Phase::skipped
                              : one.error ? core::Phase::failed
                                          : core::Phase::succeeded;
        result.results.emplace(one.ordinal, std::move(one));
      }
    }
  }

  // What the events of the pass would leave in the state.
  void remember(const PassResult& result) {
    for (const auto& action : result.plan->actions) {
      const auto found = result.results.find(action.ordinal);
      const bool done =
          found != result.results.end() && !found->second.error && !found->second.skipped;
      if (action.kind == core::ActionKind::adopt) {
        state.owned[action.target].created = false;
      } else if (action.kind == core::ActionKind::release) {
        state.owned.erase(action.target);
      } else if (done && found->second.left.found == core::Found::absent) {
        state.owned.erase(action.target);
      } else if (done) {
        auto& owned = state.owned[action.target];
        owned.created = owned.created || action.kind == core::ActionKind::create;
        owned.left = found->second.left;
      }
      if (const auto known = state.owned.find(action.target); known != state.owned.end())
        known->second.reference = action.reference;
    }
  }

  Scene& scene_;
};

// A life that ends at `point` of the wave that makes `wanted`; recovery has to say whether it was
// made (`find_outcome` looks) and to remove what lies beside it; then a pass that nothing ends.
inline void die_and_pass_again(Scene& scene, Pass& pass, const model::Resource& wanted,
                               const std::string& point,
                               const std::function<core::RecoveredOutcome()>& find_outcome) {
  struct Ended {};
  pass.options.crash_point = [&](const char* at, std::uint32_t) {
    if (at == point) throw Ended();
  };
  CHECK_THROWS_AS(pass.run({wanted}), Ended);
  resource::DeadWave dead;
  dead.store = pass.options.store;
  dead.pass = pass.options.pass;
  dead.actions = {{0, core::ActionKind::create, wanted.target, core::Found::absent}};
  dead.observed = {Digest{}};
  const auto told = resource::recover_actions(scene.machine(), *declare({wanted}), dead);
  REQUIRE(told.size() == 1);
  CHECK(told[0].outcome == find_outcome());
  if (told[0].temporary_left)
    CHECK(resource::remove_leftover(scene.machine(), dead.store, {dead.pass, 0, wanted.target}));
  pass.options.crash_point = {};
  pass.run({wanted});
}
inline void die_and_pass_again(Scene& scene, Pass& pass, const model::Resource& wanted,
                               const std::string& point, const std::function<bool()>& is_done) {
  using core::RecoveredOutcome;
  const std::function<RecoveredOutcome()> find_outcome = [&] {
    return is_done() ? RecoveredOutcome::took_effect : RecoveredOutcome::did_not;
  };
  die_and_pass_again(scene, pass, wanted, point, find_outcome);
}

}  // namespace datum::test
