// What the journal says of a guarded declaration, from its records alone.
#include "datum/engine/guard_story.hpp"

#include <catch2/catch.hpp>

using namespace datum;
using namespace datum::engine;

namespace {

core::DeclarationId declaration() {
  core::DeclarationId id;
  id.node = "h1";
  id.epoch = 1;
  id.number = 7;
  return id;
}

model::Target path(const char* name) {
  return {model::TargetFamily::path, std::string(name)};
}

// A journal of one declaration; each record is a second after the one before.
struct Told {
  GuardReader reader{declaration()};
  Seq seq = 100;
  PassId pass = 0;

  Seq tell(core::Event event) {
    core::EventPlace place;
    place.seq = ++seq;
    place.wall = WallNs{static_cast<std::int64_t>(seq) * kNsPerSecond};
    reader.take({place, std::move(event)});
    return seq;
  }
  PassId begin(PassId reverts = 0, core::Mode mode = core::Mode::enforce) {
    core::PassStarted started;
    started.mode.mode = mode;
    started.reverts = reverts;
    if (reverts == 0) started.declaration = declaration();
    started.actor.kind = core::ActorKind::service;
    return pass = tell(started);
  }
  void change(const char* name) {
    core::ActionSucceeded event;
    event.pass = pass;
    event.target = path(name);
    tell(event);
  }
  void refuse(const char* name, const char* why) {
    core::ActionFailed event;
    event.pass = pass;
    event.target = path(name);
    event.reference = {model::ResourceType::file, "x"};
    event.message = why;
    tell(event);
  }
  void recover(const char* name, core::RecoveredOutcome outcome) {
    core::ActionRecovered event;
    event.pass = pass;
    event.target = path(name);
    event.outcome = outcome;
    tell(event);
  }
  Seq finish() {
    core::PassFinished event;
    event.pass = pass;
    return tell(event);
  }
  Seq die() { return tell(core::PassInterrupted{pass, core::Interruption::crash, {}}); }
  GuardStory end() { return std::move(reader).finish(); }
};

WallNs wall(Seq seq) {
  return WallNs{static_cast<std::int64_t>(seq) * kNsPerSecond};
}

}  // namespace

TEST_CASE("guard story: every pass of it that changed something is to be undone, newest first") {
  Told told;
  const auto dead = told.begin();
  told.recover("/a", core::RecoveredOutcome::took_effect);
  told.die();
  told.begin();  // nothing was left to do
  const auto end = told.finish();
  const auto later = told.begin();
  told.change("/b");
  told.finish();
  told.begin(0, core::Mode::observe);
  told.finish();
  const auto story = told.end();
  CHECK(story.to_undo == std::vector<PassId>{later, dead});
  CHECK(story.finished_at == end);
  CHECK(story.is_finished);
  CHECK(*story.from == wall(end));
}

TEST_CASE("guard story: where no pass ends the time counts from the first that changed something") {
  Told told;
  told.begin();
  told.recover("/a", core::RecoveredOutcome::did_not);
  told.die();
  const auto first = told.begin();
  told.recover("/a", core::RecoveredOutcome::untellable);
  told.die();
  const auto second = told.begin();
  told.change("/a");
  told.die();
  const auto story = told.end();
  CHECK(story.to_undo == std::vector<PassId>{second, first});
  CHECK(story.finished_at == 0);
  CHECK_FALSE(story.is_finished);
  CHECK(*story.from == wall(first));
}

TEST_CASE(
    "guard story: the time runs for a pass that died, until a look says that it did nothing") {
  Told told;
  const auto pass = told.begin();
  core::ActionsAnnounced announced;
  announced.pass = pass;
  const auto at = told.tell(announced);
  SECTION("not looked at") {
    const auto story = told.end();
    CHECK(*story.from == wall(pass));
    CHECK(story.changed_at == at);
    CHECK(story.to_undo.empty());
  }
  SECTION("looked at") {
    told.recover("/a", core::RecoveredOutcome::did_not);
    told.die();
    CHECK_FALSE(told.end().from);
  }
}

TEST_CASE("guard story: passes that changed nothing let no time run") {
  Told told;
  told.begin();
  const auto end = told.finish();
  auto story = told.end();
  CHECK(story.to_undo.empty());
  CHECK(story.finished_at == end);
  CHECK_FALSE(story.from);
}

TEST_CASE("guard story: an undoing that died is not ended, and what stays is named once it is") {
  Told told;
  const auto pass = told.begin();
  told.change("/a");
  told.change("/b");
  told.finish();
  told.begin(pass);
  told.change("/a");
  told.refuse("/b", "conflict: changed since");
  told.die();
  SECTION("it died") {
    const auto story = told.end();
    CHECK(story.to_undo == std::vector<PassId>{pass});
    CHECK(story.is_begun);
    CHECK(story.ended_by == 0);
    CHECK(story.not_undone.empty());
  }
  SECTION("it was done again") {
    const auto by = told.begin(pass);
    told.refuse("/b", "conflict: changed since");
    told.finish();
    const auto story = told.end();
    CHECK(story.to_undo.empty());
    CHECK(story.ended_by == by);
    CHECK(story.has_undone);
    CHECK(describe_undoing(story, 5 * kNsPerSecond, {}) ==
          "reverted: no link within 5 s after it was applied; not undone: "
          "File[x] (/b): conflict: changed since");
  }
}

TEST_CASE("guard story: where nothing could be put back it is not told as reverted") {
  Told told;
  const auto pass = told.begin();
  told.change("/a");
  told.finish();
  told.begin(pass);
  told.refuse("/a", "cannot be undone: what a package was before is not recorded");
  told.finish();
  const auto story = told.end();
  CHECK_FALSE(story.has_undone);
  const auto words = describe_undoing(story, 5 * kNsPerSecond, {"pass 3: gone"});
  CHECK(words ==
        "cannot be reverted: no link within 5 s after it was applied; not undone: pass 3: gone, "
        "File[x] (/a): cannot be undone: what a package was before is not recorded");
  const std::vector<std::string> many(200, std::string(100, 'x'));
  CHECK(describe_undoing(story, 5 * kNsPerSecond, many).find("more were not undone") !=
        std::string::npos);
}

TEST_CASE("guard story: its end is what the journal says, and that only of this declaration") {
  Told told;
  told.begin();
  told.change("/a");
  told.finish();
  auto other = declaration();
  other.number = 8;
  told.tell(core::DeclarationRejected{other, "its signer is none"});
  SECTION("of another") {
    CHECK(told.end().told.empty());
  }
  SECTION("of this") {
    told.tell(core::DeclarationRejected{declaration(), "reverted: no link"});
    CHECK(told.end().told == "reverted: no link");
  }
}

TEST_CASE("guard story: a link counts where it was made after the end of a pass") {
  Told told;
  told.tell(core::LinkUp{"a"});
  told.begin();
  told.change("/a");
  told.tell(core::LinkUp{"a"});
  told.finish();
  SECTION("before") {
    CHECK_FALSE(told.end().linked_since);
  }
  SECTION("after") {
    told.tell(core::LinkUp{"a"});
    CHECK(told.end().linked_since);
  }
}
