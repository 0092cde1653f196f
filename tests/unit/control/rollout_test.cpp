// A push in stages: who gets it when, what stops it, and what a person may do.
#include "datum/control/rollout.hpp"

#include <catch2/catch.hpp>

#include "datum/core/status.hpp"

using namespace datum;
using namespace datum::control;
using Sizes = std::vector<std::size_t>;

namespace {

const core::Generation kGeneration{1, 4};
constexpr std::int64_t kSoakNs = 60 * kNsPerSecond;

// Four nodes, n1 to n4: the first has the declaration, then two, then all.
struct Scene {
  Scene() {
    for (const auto* name : {"n1", "n2", "n3", "n4"}) {
      core::control::NodeEnrolled enrolled;
      enrolled.applicant.node = name;
      apply(enrolled);
    }
    apply(core::control::PushBegun{kGeneration, "fleet", "r", 4, {}});
    apply(core::control::PushStaged{kGeneration, 3, kSoakNs, 0});
    release("n1");
    for (const auto& [name, stage] :
         {std::pair{"n2", 1U}, std::pair{"n3", 2U}, std::pair{"n4", 2U}})
      apply(core::control::ReleasePlanned{name, kGeneration, {}, 9, stage});
  }
  void apply(const core::control::Event& event) { evolve(state, event, {state.seq + 1, now}); }
  void release(const std::string& node) {
    apply(core::control::DeclarationReleased{node, kGeneration, {}, {}});
  }
  void report(const std::string& node, core::Condition condition, std::uint32_t flags = 0,
              core::Mode mode = core::Mode::enforce) {
    apply(core::control::DeclarationAnswered{node, kGeneration, core::DeclarationStep::applied, 1,
                                             ""});
    core::control::NodeReport said;
    said.accepted = kGeneration;
    said.condition = condition;
    said.flags = flags;
    said.mode = mode;
    apply(core::control::StatusChanged{node, said});
  }
  [[nodiscard]] Advance advance() const { return advance_push(state, now); }
  void wait(std::int64_t ns) { now.ns += ns; }

  State state;
  WallNs now{1'000 * kNsPerSecond};
};

}  // namespace

TEST_CASE("control: stages are numbers or shares, ascending, and the last one is all") {
  CHECK(*read_stages("", 10) == Sizes{10});
  CHECK(*read_stages("1,10%,50%", 40) == Sizes{1, 4, 20, 40});
  CHECK(*read_stages("1,10%,100%", 3) == Sizes{1, 3});
  CHECK(*read_stages("5%", 30) == Sizes{2, 30});
  CHECK(*read_stages("50", 10) == Sizes{10});
  for (const auto* wrong : {"0", "x", "-1", "101%", "5,2", "50%,1", "1,,2", "%", "1 ,2"}) {
    INFO(wrong);
    CHECK_FALSE(read_stages(wrong, 40).has_value());
  }
}

TEST_CASE("control: the next stage begins when all have it converged and the soak has passed") {
  Scene scene;
  scene.wait(2 * kSoakNs);
  CHECK_FALSE(scene.advance().next_stage);  // n1 has not answered
  scene.report("n1", core::Condition::drifted);
  CHECK_FALSE(scene.advance().next_stage);
  scene.report("n1", core::Condition::converged);
  CHECK(scene.advance().next_stage == 1U);
  scene.apply(core::control::StageBegun{kGeneration, 1});
  scene.release("n2");
  scene.report("n2", core::Condition::drifted, 0, core::Mode::observe);
  scene.wait(kSoakNs - 1);
  CHECK_FALSE(scene.advance().next_stage);
  scene.wait(1);
  CHECK(scene.advance().next_stage == 2U);
  scene.apply(core::control::StageBegun{kGeneration, 2});
  scene.release("n3");
  scene.release("n4");
  scene.wait(2 * kSoakNs);
  CHECK_FALSE(scene.advance().next_stage);
  CHECK(resume_push(scene.state, {}).error().code() == ErrorCode::conflict);
}

TEST_CASE(
    "control: a failed action or a rejection pauses a push, a person goes on without that node") {
  const auto failed = static_cast<std::uint32_t>(core::StatusFlag::failed);
  Scene scene;
  scene.report("n1", core::Condition::drifted, failed);
  const auto next = scene.advance();
  REQUIRE(next.pause);
  CHECK(next.pause->node == "n1");
  CHECK_FALSE(next.next_stage);
  scene.apply(*next.pause);
  CHECK_FALSE(scene.advance().pause);  // said once
  CHECK(stage_line(scene.state, scene.now) ==
        "stage 1 of 3: 0 of 1 node done, paused: n1: an action failed");
  const auto resumed = resume_push(scene.state, {});
  REQUIRE(resumed);
  CHECK(resumed->without == std::vector<std::string>{"n1"});
  scene.apply(*resumed);
  scene.apply(core::control::StageBegun{kGeneration, 1});
  scene.release("n2");
  scene.wait(kSoakNs);
  CHECK_FALSE(scene.advance().pause);
  scene.apply(core::control::DeclarationAnswered{"n2", kGeneration, core::DeclarationStep::rejected,
                                                 1, "no signer"});
  REQUIRE(scene.advance().pause);
  CHECK(scene.advance().pause->reason == "rejected it: no signer");
}

TEST_CASE("control: an aborted push releases nothing more, and another takes its place") {
  Scene scene;
  const auto aborted = abort_push(scene.state, "wrong", {});
  REQUIRE(aborted);
  scene.apply(*aborted);
  scene.report("n1", core::Condition::converged);
  scene.wait(2 * kSoakNs);
  CHECK_FALSE(scene.advance().next_stage);
  CHECK(abort_push(scene.state, "again", {}).error().code() == ErrorCode::conflict);
  scene.apply(core::control::PushBegun{{1, 5}, "fleet", "r", 4, {}});
  CHECK_FALSE(scene.state.push->is_aborted);
  // What is said of the former one changes nothing.
  scene.apply(core::control::StageBegun{kGeneration, 2});
  CHECK(scene.state.push->stage == 0);
}

TEST_CASE("control: nodes that are revoked or forgotten meanwhile keep no stage open") {
  Scene scene;
  scene.apply(core::control::CredentialEnded{"n2", Standing::revoked, "gone", {}});
  scene.apply(core::control::NodeForgotten{"n3", {}});
  CHECK(scene.state.push->planned.size() == 1);
  scene.apply(core::control::CredentialEnded{"n1", Standing::revoked, "gone", {}});
  scene.wait(kSoakNs);
  CHECK(scene.advance().next_stage == 1U);
}
