#include "datum/inspect/pass_story.hpp"

#include "datum/codec/documents.hpp"
#include "datum/inspect/postmortem.hpp"
#include "datum/inspect/replay.hpp"
#include "told.hpp"

using namespace datum;
using namespace datum::inspect;
using namespace datum::inspect::test;

namespace {

core::PassStarted started(core::Mode mode = core::Mode::enforce) {
  core::PassStarted event;
  event.trigger = core::Trigger::manual;
  event.actor = {core::ActorKind::person, "root", 0, "datum reconcile"};
  event.mode = {mode, core::ModeTerm::argument, "--mode"};
  return event;
}

// a ← b ← c, and d alone.
core::Plan chain_plan() {
  core::Plan plan;
  for (const auto* name : {"a", "b", "c", "d"}) {
    core::Action action;
    action.ordinal = static_cast<std::uint32_t>(plan.actions.size());
    action.kind = core::ActionKind::create;
    action.target = path(std::string("/") + name);
    action.reference = file(name);
    if (action.ordinal == 1 || action.ordinal == 2) action.after = {action.ordinal - 1};
    plan.actions.push_back(action);
  }
  return plan;
}

core::ActionsAnnounced announced(PassId pass, const Digest& plan,
                                 const std::vector<std::uint32_t>& ordinals) {
  core::ActionsAnnounced event{pass, 1, plan, {}};
  for (const auto ordinal : ordinals) {
    const auto action = chain_plan().actions[ordinal];
    event.actions.push_back({ordinal, action.kind, action.target, core::Found::absent, {}});
  }
  return event;
}

core::ActionSucceeded succeeded(PassId pass, std::uint32_t ordinal) {
  const auto action = chain_plan().actions[ordinal];
  core::ActionSucceeded event;
  event.pass = pass;
  event.ordinal = ordinal;
  event.kind = action.kind;
  event.target = action.target;
  event.reference = action.reference;
  return event;
}

PassStory tell(Told& told, PassId pass = 0) {
  auto story = tell_pass(told.reader(), told.contents, pass);
  if (!story) FAIL(story.error().message());
  return std::move(*story);
}

Replayed passes(Told& told, Seq at) {
  Style wide;
  wide.width = 200;
  auto listed = replay(told.reader(), Projection::passes, at, wide);
  if (!listed) FAIL(listed.error().message());
  return std::move(*listed);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("inspect: a failure explains everything that waited for it, however far away") {
  Told told;
  const auto plan = told.contents.add(codec::encode_plan(chain_plan()));
  const auto pass = told.add(started());
  told.add(core::PlanComputed{pass, plan, {}});
  told.add(announced(pass, plan, {0, 3}));
  core::ActionFailed failed;
  failed.pass = pass;
  failed.target = path("/a");
  failed.reference = file("a");
  failed.error = ErrorCode::no_space;
  failed.message = "the disk is full";
  told.add(failed);
  told.add(core::ActionBlocked{pass, 1, path("/b"), file("b"), {file("a")}, "File[a] failed"});
  told.add(core::ActionBlocked{pass, 2, path("/c"), file("c"), {file("b")}, "File[b] is blocked"});
  told.add(succeeded(pass, 3));
  core::PassFinished finished;
  finished.pass = pass;
  finished.condition = core::Condition::drifted;
  finished.plan = plan;
  told.add(finished);

  const auto story = tell(told);
  REQUIRE(story.first_failure);
  CHECK(*story.first_failure == 0);
  CHECK(story.actions[2].chain == std::vector<std::uint32_t>{1, 0});
  CHECK(story.actions[3].chain.empty());
  CHECK_FALSE(story.interruption);
  const auto text = postmortem_text(story, {});
  CHECK(holds(text, "1 done, 1 failed, 2 blocked."));
  CHECK(holds(text, "Why: File[a] /a failed: the disk is full. 2 other actions did not happen"));
  CHECK(holds(text, "File[c] /c is blocked by File[b] /b, which is blocked by File[a] /a, which"));
}

TEST_CASE("inspect: a death is told by the last record before it and the first one after it") {
  Told told;
  const auto plan = told.contents.add(codec::encode_plan(chain_plan()));
  const auto pass = told.add(started());
  told.add(announced(pass, plan, {0, 1, 3}));
  const auto last = told.add(succeeded(pass, 3));
  SECTION("nobody has looked yet") {
    const auto story = tell(told);
    REQUIRE(story.interruption);
    CHECK(story.interruption->last.seq == last);
    CHECK(story.interruption->open == 2);
    CHECK(story.interruption->reopened.seq == 0);
    CHECK(story.interruption->recorded.seq == 0);
    CHECK(holds(postmortem_text(story, {}), "has no end, while 2 actions were under way"));
  }
  SECTION("the next run looked, and went on") {
    told.boot = Id128{{8}};
    const auto opened = told.add(core::StoreOpened{told.boot, "1", core::LastEnd::rebooted});
    core::ActionRecovered recovered;
    recovered.pass = pass;
    recovered.target = path("/a");
    recovered.outcome = core::RecoveredOutcome::took_effect;
    told.add(recovered);
    recovered.ordinal = 1;
    recovered.target = path("/b");
    recovered.outcome = core::RecoveredOutcome::did_not;
    recovered.temporary_left = true;
    told.add(recovered);
    told.add(core::PassInterrupted{pass, core::Interruption::reboot, "2 actions had no end"});
    const auto next = told.add(started());
    const auto story = tell(told, pass);
    REQUIRE(story.interruption);
    const auto& cut = *story.interruption;
    CHECK(cut.last.seq == last);
    CHECK(cut.last_kind == "actionSucceeded");
    CHECK(cut.open == 2);
    CHECK(cut.reopened.seq == opened);
    CHECK(cut.followed_by == next);
    CHECK(story.actions[0].recovered == core::RecoveredOutcome::took_effect);
    CHECK(story.actions[1].leftover);
    CHECK_FALSE(story.first_failure);
    const auto text = postmortem_text(story, {});
    CHECK(
        holds(text, "was cut off by a reboot while 2 actions were under way: 2 done, 2 not done."));
    CHECK(holds(text, "1 took effect, 1 did not, 0 cannot be told; 1 file of dead actions"));
    CHECK(holds(text, "the ends of 1,"));
  }
}

TEST_CASE(
    "inspect: without the plan's body a pass is told from its announcements, and it says so") {
  Told told;
  const auto pass = told.add(started());
  told.add(announced(pass, crypto::sha256(as_bytes("a plan that is not here")), {0}));
  told.add(succeeded(pass, 0));
  told.add(core::PassInterrupted{pass, core::Interruption::stop, "somebody stopped it"});
  const auto story = tell(told);
  CHECK_FALSE(story.plan_missing.empty());
  REQUIRE(story.actions.size() == 1);
  CHECK(story.actions[0].target == path("/a"));
  const auto text = postmortem_text(story, {});
  CHECK(holds(text, "its body is not here"));
  CHECK(holds(text, "was ended early (stop): 1 done; what else was planned is not known."));
  CHECK(holds(text, "plan       of unknown size"));
  const auto json = postmortem_json(story);
  CHECK(holds(json, R"("changes":null,"untold":null,)"));
}

TEST_CASE("inspect: without the plan's body only what records name is told, and the rest counted") {
  Told told;
  const auto plan = crypto::sha256(as_bytes("a plan that is not here"));
  core::PlanCounts counts;
  counts.create = 5;
  counts.adopt = 2;
  const auto pass = told.add(started());
  // The record of its plan, or that of an equal plan of an earlier pass.
  const bool is_earlier = GENERATE(false, true);
  told.add(core::PlanComputed{pass, plan, counts});
  if (is_earlier) told.add(core::PassInterrupted{pass, core::Interruption::stop, {}});
  const auto state = tell(told);
  const auto meant =
      state.interruption && state.interruption->recorded.seq != 0 ? told.add(started()) : pass;
  // 3 is announced, 1 and 2 are not: nobody knows what they are.
  told.add(announced(meant, plan, {0, 3}));
  told.add(succeeded(meant, 0));
  core::ActionRecovered recovered;
  recovered.pass = meant;
  recovered.ordinal = 3;
  recovered.target = path("/d");
  recovered.outcome = core::RecoveredOutcome::did_not;
  told.add(core::StoreOpened{Id128{{8}}, "1", core::LastEnd::crashed});
  told.add(recovered);
  told.add(core::PassInterrupted{meant, core::Interruption::crash, {}});

  const auto story = tell(told, meant);
  REQUIRE(story.actions.size() == 2);
  CHECK(story.actions[1].ordinal == 3);
  CHECK(story.find(3) == &story.actions[1]);
  CHECK(story.find(1) == nullptr);
  CHECK(story.changes() == 5);
  CHECK(story.untold() == 3);
  const auto text = postmortem_text(story, {});
  CHECK(
      holds(text, ": 1 done, 1 not done; 3 more changes of the plan not begun, or only observed"));
  CHECK(holds(text, "plan       5 changes; sha256:"));
  CHECK(holds(text, "so only what records name is told: 2 actions"));
  const auto json = postmortem_json(story);
  CHECK(holds(json, R"("changes":5,"untold":3,)"));
  CHECK(std::count(json.begin(), json.end(), '\n') == 3);
  CHECK_FALSE(holds(json, R"("ordinal":1,)"));
  const auto page = postmortem_html(story);
  CHECK(holds(page, "3 more changes of the plan not begun, or only observed"));
  CHECK_FALSE(holds(page, "id=a1 "));
}

TEST_CASE("inspect: what only the plan knows of an action is not made up without it") {
  Told told;
  const auto plan = crypto::sha256(as_bytes("a plan that is not here"));
  core::PlanCounts counts;
  counts.create = 3;
  const auto pass = told.add(started());
  told.add(core::PlanComputed{pass, plan, counts});
  core::ActionFailed failed;
  failed.pass = pass;
  failed.ordinal = 1;
  failed.target = path("/b");
  failed.reference = file("b");
  failed.message = "the disk is full";
  told.add(failed);
  told.add(core::ActionBlocked{pass, 7, path("/h"), file("h"), {file("b")}, "File[b] failed"});
  told.add(core::ActionsNotStarted{pass, {9}, "a newer declaration"});
  told.add(core::PassInterrupted{pass, core::Interruption::superseded, {}});
  const auto story = tell(told);
  REQUIRE(story.actions.size() == 3);
  CHECK(story.first_failure == 1);
  CHECK(story.untold() == 0);
  CHECK(story.actions[1].chain == std::vector<std::uint32_t>{1});
  const auto text = postmortem_text(story, {});
  CHECK(holds(text, "1 failed, 1 blocked, 1 not begun."));
  CHECK(holds(text, "File[h] /h is blocked by File[b] /b, which failed: the disk is full"));
  CHECK_FALSE(holds(text, "update"));
  CHECK(holds(text, "(only the plan names its target)"));
  CHECK(holds(postmortem_json(story), R"("ordinal":9,"action":"","target":"","reference":"",)"));
}

TEST_CASE("inspect: the list of passes counts what recovery found, as the post-mortem does") {
  Told told;
  const auto plan = told.contents.add(codec::encode_plan(chain_plan()));
  const auto pass = told.add(started());
  told.add(core::PlanComputed{pass, plan, {}});
  told.add(announced(pass, plan, {0, 1, 2, 3}));
  told.add(succeeded(pass, 3));
  told.add(core::StoreOpened{Id128{{8}}, "1", core::LastEnd::crashed});
  const auto recover = [&](std::uint32_t ordinal, core::RecoveredOutcome outcome) {
    core::ActionRecovered event;
    event.pass = pass;
    event.ordinal = ordinal;
    event.target = chain_plan().actions[ordinal].target;
    event.outcome = outcome;
    told.add(event);
  };
  recover(0, core::RecoveredOutcome::took_effect);
  recover(1, core::RecoveredOutcome::untellable);
  recover(2, core::RecoveredOutcome::did_not);
  recover(0, core::RecoveredOutcome::took_effect);  // only that its file has gone
  const std::string counts = "2 done, 1 whose outcome cannot be told";
  SECTION("and the pass was closed") {
    const auto head = told.add(core::PassInterrupted{pass, core::Interruption::crash, {}});
    CHECK(holds(passes(told, head).text, counts));
    CHECK(holds(postmortem_text(tell(told), {}), ": 2 done, 1 not done, 1 whose outcome"));
  }
  SECTION("and the pass went on to its end") {
    told.add(core::PassResumed{pass, {}});
    told.add(announced(pass, plan, {2}));
    told.add(succeeded(pass, 2));
    core::PassFinished finished;
    finished.pass = pass;
    finished.plan = plan;
    finished.succeeded = 2;  // of its own processes
    const auto head = told.add(finished);
    CHECK(holds(passes(told, head).text, "3 done, 1 whose outcome cannot be told"));
    CHECK(holds(passes(told, head).json, R"("succeeded":3,)"));
    CHECK(holds(postmortem_text(tell(told), {}), ": 3 done, 1 whose outcome cannot be told"));
  }
}

TEST_CASE("inspect: document lines come from the blob that the pass named") {
  Told told;
  model::Manifest manifest;
  auto resource = std::make_shared<model::Resource>();
  resource->reference = file("a");
  resource->origins = {{"low/a.yaml", 3, "low"}, {"high/a.yaml", 7, "high"}};
  manifest.resources.push_back(resource);
  auto begin = started();
  begin.provenance.documents = told.contents.add(codec::encode_documents(manifest));
  const auto plan = told.contents.add(codec::encode_plan(chain_plan()));
  const auto pass = told.add(begin);
  told.add(core::PlanComputed{pass, plan, {}});
  const auto story = tell(told);
  CHECK(story.actions[0].documents == "low/a.yaml:3, high/a.yaml:7");
  CHECK(story.actions[1].documents.empty());
  CHECK(codec::decode_documents(as_bytes("something else")).error().code() == ErrorCode::corrupt);
  auto cut = codec::encode_documents(manifest);
  cut.pop_back();
  CHECK(codec::decode_documents(cut).error().code() == ErrorCode::corrupt);
}

TEST_CASE("inspect: a notification is told until it was delivered, though that came passes later") {
  Told told;
  const model::Target unit{model::TargetFamily::unit, "web.service"};
  const auto pass = told.add(started());
  told.add(core::NotificationRaised{pass, unit, file("web"), file("a"), false});
  told.add(core::NotificationRaised{pass, unit, file("web"), file("b"), true});
  core::PassFinished finished;
  finished.pass = pass;
  told.add(finished);
  CHECK(tell(told, pass).notifications.at(0).end == "pending");
  const auto next = told.add(started());
  told.add(core::DeliveryStarted{unit, true, "0123"});
  const auto delivered = told.add(core::NotificationDelivered{unit, true, false});
  const auto story = tell(told, pass);
  REQUIRE(story.notifications.size() == 1);
  CHECK(story.notifications[0].restart);
  CHECK(story.notifications[0].by == std::vector<model::Reference>{file("a"), file("b")});
  CHECK(story.notifications[0].end == "delivered");
  CHECK(story.notifications[0].ended.seq == delivered);
  CHECK(tell(told, next).notifications.empty());
}

TEST_CASE("inspect: what is no pass, or no pass at all, is refused") {
  Told told;
  CHECK(tell_pass(told.reader(), told.contents, 0).error().code() == ErrorCode::not_found);
  CHECK(tell_pass(told.reader(), told.contents, 1).error().code() == ErrorCode::not_found);
  CHECK(tell_pass(told.reader(), told.contents, 9).error().code() == ErrorCode::not_found);
}
