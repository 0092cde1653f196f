// Power cuts, failed syncs and failed calls in the middle of a wave, over the modelled file system.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;
using model::Field;
using support::Call;

namespace {

struct Modelled {
  support::ModelFiles model;
  Scene scene{model};
  Pass pass{scene};

  // Every action that the pass had announced.
  resource::DeadWave dead_wave(const PassResult& cut) const {
    resource::DeadWave dead{pass.options.store, pass.options.pass, {}, {}};
    for (const auto& action : cut.plan->actions)
      if (core::is_mutating(action.kind))
        dead.actions.push_back({action.ordinal, action.kind, action.target, action.found});
    return dead;
  }
  core::RecoveredAction recover(const core::AnnouncedState& action,
                                const std::vector<model::Resource>& declared) {
    const resource::DeadWave dead{pass.options.store, pass.options.pass, {action}, {}};
    return resource::recover_actions(scene.machine(), *declare(declared), dead).front();
  }
  bool clean_up(const core::AnnouncedState& action) {
    return resource::remove_leftover(scene.machine(), pass.options.store,
                                     {pass.options.pass, action.ordinal, action.target});
  }

  std::string text(const std::string& path) {
    return model.find_content(path).value_or("(nothing)");
  }
  std::string leftovers() {
    std::string names;
    for (const auto& path : model.paths())
      if (path.find("/.datum-") != std::string::npos) names += path + "\n";
    return names;
  }
};

// One of everything a wave can do.
struct Everything {
  std::vector<model::Resource> declared;

  explicit Everything(Modelled& m, int more_files = 0) {
    m.model.put_file("/etc/replaced", "old", 0644);
    m.model.put_file("/etc/in-place", "old and long", 0644);
    m.model.put_file("/etc/metadata", "same", 0644);
    m.model.put_file("/etc/removed", "old");
    m.model.put_file("/etc/purged/entry", "old");
    m.model.put_symlink("/etc/link", "old");
    m.model.put_directory("/srv/changed", 0755);
    m.model.settle();
    auto& content = m.scene.content;
    declared = {a_file("/etc/replaced").content(content, "new").mode("0600").owner("test").done(),
                a_file("/etc/created").content(content, "new").mode("0640").done(),
                a_file("/etc/metadata").content(content, "same").mode("0600").owner("test").done(),
                a_file("/etc/removed").absent().done(),
                a_symlink("/etc/link", "new").done(),
                a_symlink("/srv/new-link", "new").done(),
                a_directory("/srv/changed").mode("0700").done(),
                a_directory("/srv/created").mode("0750").owner("test").done(),
                a_directory("/etc/purged").with(Field::purge, true).done(),
                a_file("/etc/in-place")
                    .content(content, "new")
                    .with(Field::replace, std::string("inPlace"))
                    .done()};
    for (int i = 0; i < more_files; ++i)
      declared.push_back(a_file("/srv/more-" + std::to_string(i))
                             .content(content, "more " + std::to_string(i))
                             .done());
  }
};

}  // namespace

TEST_CASE("resource: [L13] what a wave reports as done is there after the power goes") {
  for (const int more : {0, 200}) {
    for (const bool reports : {true, false}) {
      INFO(more << reports);
      Modelled m;
      m.model.set_reports_sync_errors(reports);
      const Everything all(m, more);
      const auto done = m.pass.run(all.declared);
      for (const auto& action : done.plan->actions)
        if (core::is_mutating(action.kind)) CHECK(done.outcome(action.target.name) == "succeeded");
      m.model.crash_losing_everything();
      m.scene.open("/");
      CHECK(m.text("/etc/replaced") == "new");
      for (const auto& one : all.declared) {
        INFO(one.target.name);
        const auto seen = m.scene.observe(declare(all.declared), one);
        CHECK(drifts_of(seen).empty());
        CHECK(seen.purge.empty());
      }
    }
  }
}

TEST_CASE("resource: [L13] files written in place beside backups are durable, few and many") {
  const int count = GENERATE(3, 100);
  Modelled m;
  std::vector<model::Resource> many;
  for (int i = 0; i < count; ++i) {
    const auto path = "/etc/" + std::to_string(i);
    m.model.put_file(path, "theirs " + std::to_string(i));
    auto file = a_file(path).content(m.scene.content, "ours");
    file.with(Field::replace, std::string("inPlace"));
    many.push_back(file.with(Field::on_conflict, std::string("backup")).done());
  }
  m.model.settle();
  m.pass.run(many);
  m.model.crash_losing_everything();
  for (int i = 0; i < count; ++i) {
    CHECK(m.text("/etc/" + std::to_string(i)) == "ours");
    CHECK(m.text("/etc/" + std::to_string(i) + ".datum-orig") == "theirs " + std::to_string(i));
  }
}

TEST_CASE("resource: [R06] a power cut at any moment leaves old content or new content, whole") {
  std::uint64_t changes = 0;
  {
    Modelled m;
    const Everything all(m);
    const auto before = m.model.changing_calls();
    m.pass.run(all.declared);
    changes = m.model.changing_calls() - before;
  }
  REQUIRE(changes > 20);
  for (std::uint64_t at = 1; at <= changes; ++at) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      INFO("change " << at << " seed " << seed);
      Modelled m;
      const Everything all(m);
      m.model.stop_at_change(at);
      m.pass.run(all.declared);
      m.model.crash(seed);
      const auto replaced = m.text("/etc/replaced");
      CHECK((replaced == "old" || replaced == "new"));
      const auto created = m.text("/etc/created");
      CHECK((created == "new" || created == "(nothing)"));
      const auto link = m.model.find_target("/etc/link");
      CHECK((link == "old" || link == "new"));
      // Never with a mode that nobody gave it.
      if (created == "new") CHECK(m.model.find_stat("/etc/created")->mode == 0640);
      if (replaced == "new") CHECK(m.model.find_stat("/etc/replaced")->uid == 1234);
      if (const auto folder = m.model.find_stat("/srv/created")) CHECK(folder->mode == 0750);
    }
  }
}

TEST_CASE(
    "resource: after a crash at any moment, recovery and one more pass converge without a trace") {
  std::uint64_t changes = 0;
  {
    Modelled m;
    const Everything all(m);
    const auto before = m.model.changing_calls();
    m.pass.run(all.declared);
    changes = m.model.changing_calls() - before;
  }
  for (std::uint64_t at = 1; at <= changes; ++at) {
    INFO("change " << at);
    Modelled m;
    const Everything all(m);
    m.model.stop_at_change(at);
    const auto cut = m.pass.run(all.declared);
    m.model.end_process();
    m.scene.open("/");
    const auto dead = m.dead_wave(cut);
    const auto tree = m.model.paths();
    const auto seen = resource::recover_actions(m.scene.machine(), *declare(all.declared), dead);
    CHECK(m.model.paths() == tree);  // looking changes nothing
    for (std::size_t i = 0; i < seen.size(); ++i) {
      // What was reported as done took effect.
      if (cut.outcome(dead.actions[i].target.name) == "succeeded")
        CHECK(seen[i].outcome == core::RecoveredOutcome::took_effect);
      if (!seen[i].temporary_left) continue;
      const core::Leftover left{dead.pass, seen[i].ordinal, dead.actions[i].target};
      CHECK(resource::remove_leftover(m.scene.machine(), dead.store, left));
    }
    CHECK(m.leftovers().empty());
    Pass next(m.scene);
    const auto again = next.run(all.declared);
    for (const auto& action : again.plan->actions)
      if (core::is_mutating(action.kind)) CHECK(again.outcome(action.target.name) == "succeeded");
    const auto last = next.run(all.declared);
    CHECK(last.results.empty());
  }
}

TEST_CASE("resource: a sync that fails makes exactly its actions fail as not durable") {
  Modelled m;
  m.model.put_file("/etc/a", "old");
  m.model.put_file("/srv/b", "old");
  m.model.mount("/srv");
  m.model.put_file("/srv/b", "old");
  const std::vector<model::Resource> both = {
      a_file("/etc/a").content(m.scene.content, "new").done(),
      a_file("/srv/b").content(m.scene.content, "new").done()};
  m.model.fail_call(Call::sync, 1, EIO);
  const auto done = m.pass.run(both);
  CHECK(done.outcome("/etc/a").starts_with("failed: not durable"));
  CHECK(done.result("/etc/a").error->code() == ErrorCode::io_error);
  CHECK(done.outcome("/srv/b") == "succeeded");
  CHECK(m.text("/etc/a") == "old");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: more than 64 files of one file system are staged under one sync") {
  Modelled m;
  m.model.put_directory("/srv");
  std::vector<model::Resource> many;
  for (int i = 0; i < 500; ++i)
    many.push_back(a_file("/srv/" + std::to_string(i)).content(m.scene.content, "x").done());
  std::size_t open = 0;
  m.model.set_before_call([&](Call call, std::string_view) {
    if (call == Call::rename) open = std::max(open, m.model.open_handles());
  });
  m.pass.run(many);
  m.model.set_before_call({});
  CHECK(m.model.calls(Call::sync_file_system) == 1);
  CHECK(m.model.calls(Call::sync) == 1);  // the folder
  CHECK(open < 10);
}

TEST_CASE("resource: when the one sync of many files fails, none of them goes live") {
  Modelled m;
  m.model.put_directory("/srv");
  std::vector<model::Resource> many;
  for (int i = 0; i < 100; ++i)
    many.push_back(a_file("/srv/" + std::to_string(i)).content(m.scene.content, "x").done());
  m.model.fail_call(Call::sync_file_system, 1, EIO);
  const auto done = m.pass.run(many);
  for (const auto& one : many)
    CHECK(done.outcome(one.target.name).starts_with("failed: not durable"));
  CHECK(m.model.paths() == std::vector<std::string>{"/srv"});
}

TEST_CASE("resource: many files in many folders do not use up the descriptors") {
  Modelled m;
  std::vector<model::Resource> many;
  for (int i = 0; i < 700; ++i) {
    m.model.put_directory("/srv/" + std::to_string(i));
    many.push_back(a_file("/srv/" + std::to_string(i) + "/x").content(m.scene.content, "x").done());
  }
  std::size_t open = 0;
  m.model.set_before_call(
      [&](Call, std::string_view) { open = std::max(open, m.model.open_handles()); });
  const auto done = m.pass.run(many);
  m.model.set_before_call({});
  for (const auto& one : many) CHECK(done.outcome(one.target.name) == "succeeded");
  CHECK(open < 400);
}

TEST_CASE("resource: whichever call fails, the target is old or new and no temp file stays") {
  const std::vector<Call> kinds = {Call::open_directory,
                                   Call::open_file,
                                   Call::create_file,
                                   Call::stat,
                                   Call::stat_at,
                                   Call::read,
                                   Call::write,
                                   Call::truncate,
                                   Call::sync,
                                   Call::set_owner,
                                   Call::set_mode,
                                   Call::read_attributes,
                                   Call::make_directory,
                                   Call::make_symlink,
                                   Call::read_symlink,
                                   Call::rename,
                                   Call::remove_file,
                                   Call::remove_directory,
                                   Call::list};
  for (const auto kind : kinds) {
    for (std::uint64_t nth = 1; nth <= 12; ++nth) {
      INFO(support::to_string(kind) << " " << nth);
      Modelled m;
      const Everything all(m);
      m.pass.before_run = [&] { m.model.fail_call(kind, nth, EIO); };
      const auto done = m.pass.run(all.declared);
      const auto replaced = m.text("/etc/replaced");
      CHECK((replaced == "old" || replaced == "new"));
      if (done.outcome("/etc/replaced") == "succeeded") CHECK(replaced == "new");
      if (done.outcome("/etc/removed") == "succeeded") CHECK(m.text("/etc/removed") == "(nothing)");
      if (done.outcome("/etc/link") == "succeeded")
        CHECK(m.model.find_target("/etc/link") == "new");
      // A temp file whose own removal fails is named.
      if (kind != Call::remove_file && kind != Call::remove_directory &&
          kind != Call::open_directory)
        CHECK(m.leftovers().empty());
    }
  }
}

TEST_CASE("resource: a full disk fails the action, names what is missing and keeps the old bytes") {
  Modelled m;
  m.model.put_file("/srv/x", "old");
  m.model.set_free_bytes("/srv", 4'500);  // one block, and not the eighth that is kept
  const auto file = a_file("/srv/x").content(m.scene.content, "new").done();
  auto done = m.pass.run({file});
  REQUIRE_FALSE(done.space);
  CHECK(done.space.error().code() == ErrorCode::no_space);
  CHECK(done.space.error().message().find("/srv") != std::string::npos);
  CHECK(done.results.empty());

  m.model.set_free_bytes("/srv", 100'000);
  m.pass.before_run = [&] { m.model.set_free_bytes("/srv", 0); };
  done = m.pass.run({file});
  CHECK(done.result("/srv/x").error->code() == ErrorCode::no_space);
  CHECK(m.text("/srv/x") == "old");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: [L01] without inodes nothing of a wave is begun") {
  Modelled m;
  m.model.put_file("/srv/x", "old");
  m.model.set_free_inodes("/srv", 0);
  const auto done = m.pass.run({a_file("/srv/x").content(m.scene.content, "new").done()});
  REQUIRE_FALSE(done.space);
  CHECK(done.space.error().message().find("1 inodes are needed, and fewer are free") !=
        std::string::npos);
}

TEST_CASE("resource: a dead temp file of the same action is no obstacle") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  m.model.put_file("/etc/" + resource::temp_name(m.pass.options.store, m.pass.options.pass, 0),
                   "half");
  CHECK(m.pass.run({a_file("/etc/x").content(m.scene.content, "new").done()}).outcome("/etc/x") ==
        "succeeded");
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: recovery looks and changes nothing, and cleaning up is a step of its own") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  const auto temp = "/etc/" + resource::temp_name(m.pass.options.store, m.pass.options.pass, 3);
  m.model.put_file(temp, "half");
  const core::AnnouncedState announced{
      3, core::ActionKind::update, {model::TargetFamily::path, "/etc/x"}, core::Found::file};
  for (int i = 0; i < 2; ++i) {
    const auto seen = m.recover(announced, {});
    CHECK(seen.outcome == core::RecoveredOutcome::did_not);
    CHECK(seen.temporary_left);
    CHECK(m.text(temp) == "half");
  }
  // Not even where somebody else made the target what it should be: the temp file is the proof.
  const std::vector<model::Resource> wanted{
      a_file("/etc/x").content(m.scene.content, "old").done()};
  CHECK(m.recover(announced, wanted).outcome == core::RecoveredOutcome::did_not);
  CHECK(m.clean_up(announced));
  CHECK(m.text(temp) == "(nothing)");
  // Without it nobody knows whether the update happened, unless the declaration is at hand.
  CHECK(m.recover(announced, {}).outcome == core::RecoveredOutcome::untellable);
  CHECK_FALSE(m.recover(announced, {}).temporary_left);
  CHECK(m.recover(announced, wanted).outcome == core::RecoveredOutcome::took_effect);
}

TEST_CASE("resource: what was created is not claimed without the declaration it was made from") {
  Modelled m;
  m.model.put_file("/etc/x", "somebody else's");
  const core::AnnouncedState announced{
      0, core::ActionKind::create, {model::TargetFamily::path, "/etc/x"}, core::Found::absent};
  CHECK(m.recover(announced, {}).outcome == core::RecoveredOutcome::untellable);
  const std::vector<model::Resource> wanted{
      a_file("/etc/x").content(m.scene.content, "ours").done()};
  CHECK(m.recover(announced, wanted).outcome == core::RecoveredOutcome::untellable);
}

TEST_CASE("resource: a target that looks as it did before the wave was not changed") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  const auto declared = declare({a_file("/etc/x").content(m.scene.content, "new").done()});
  const auto& file = *declared->manifest->resources.front();
  resource::DeadWave dead{m.pass.options.store, m.pass.options.pass, {}, {}};
  dead.actions.push_back({0, core::ActionKind::update, file.target, core::Found::file});
  dead.observed.push_back(m.scene.observe(declared, file).digest);
  const auto look = [&] {
    return resource::recover_actions(m.scene.machine(), *declared, dead).front().outcome;
  };
  CHECK(look() == core::RecoveredOutcome::did_not);
  m.model.put_file("/etc/x", "half");
  CHECK(look() == core::RecoveredOutcome::untellable);
}

TEST_CASE("resource: what recovery says to have taken effect survives a power cut") {
  for (const bool many : {false, true}) {
    Modelled m;
    m.model.put_directory("/srv");
    m.model.put_file("/etc/metadata", "same", 0644);
    m.model.settle();
    std::vector<model::Resource> declared{
        a_file("/etc/metadata").content(m.scene.content, "same").mode("0600").done(),
        a_file("/etc/new").content(m.scene.content, "new").done(),
        a_directory("/srv/folder").mode("0700").done()};
    for (int i = 0; many && i < 100; ++i)
      declared.push_back(a_file("/srv/" + std::to_string(i)).content(m.scene.content, "x").done());
    // Dies with everything renamed and no folder synced.
    std::size_t renamed = 0;
    m.pass.options.crash_point = [&](const char* point, std::uint32_t) {
      if (std::string(point) == "renamed" && ++renamed == declared.size())
        m.model.stop_at_change(1);
    };
    const auto cut = m.pass.run(declared);
    m.model.end_process();
    m.scene.open("/");
    const auto dead = m.dead_wave(cut);
    const auto seen = resource::recover_actions(m.scene.machine(), *declare(declared), dead);
    REQUIRE(seen.size() == declared.size());
    m.model.crash_losing_everything();
    CHECK(m.leftovers().empty());
    CHECK(m.text("/etc/new") == "new");
    CHECK(m.model.find_stat("/etc/metadata")->mode == 0600);
    CHECK(m.model.find_stat("/srv/folder"));
    for (const auto& one : seen) {
      CHECK(one.outcome == core::RecoveredOutcome::took_effect);
      CHECK_FALSE(one.temporary_left);
    }
  }
}

TEST_CASE("resource: recovery that cannot make durable what it sees says nothing of it") {
  Modelled m;
  m.model.put_file("/etc/x", "new");
  const auto file = a_file("/etc/x").content(m.scene.content, "new").done();
  m.model.fail_call(Call::sync, 1, EIO);
  const auto seen =
      m.recover({0, core::ActionKind::create, file.target, core::Found::absent}, {file});
  CHECK(seen.outcome == core::RecoveredOutcome::untellable);
  CHECK(seen.temporary_left);  // its rename may yet be undone
}

TEST_CASE("resource: what cannot be looked at again did not succeed") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  m.pass.options.crash_point = [&](const char* point, std::uint32_t) {
    if (std::string(point) == "observe") m.model.fail_call(Call::open_file, 1, EIO);
  };
  const auto done = m.pass.run({a_file("/etc/x").content(m.scene.content, "new").done()});
  CHECK(done.outcome("/etc/x").starts_with("failed: done, and it cannot be seen that it is"));
  CHECK(m.text("/etc/x") == "new");
}

TEST_CASE("resource: an action whose temp file may come back says so") {
  Modelled m;
  m.model.put_file("/etc/x", "old");
  const std::vector<model::Resource> wanted{
      a_file("/etc/x").content(m.scene.content, "new").done()};
  m.model.fail_call(Call::sync, 2, EIO);  // the folder's, after the rename
  const auto undurable = m.pass.run(wanted);
  CHECK(undurable.outcome("/etc/x").starts_with("failed: not durable"));
  CHECK(undurable.result("/etc/x").temporary_left);
  m.model.put_file("/etc/x", "old");
  m.model.fail_call(Call::rename, 1, EIO);
  m.model.fail_call(Call::remove_file, 1, EIO);
  const auto stuck = m.pass.run(wanted);
  CHECK(stuck.outcome("/etc/x").starts_with("failed"));
  CHECK(stuck.result("/etc/x").temporary_left);
  CHECK_FALSE(m.leftovers().empty());
  m.model.fail_call(Call::rename, 1, EIO);
  CHECK_FALSE(m.pass.run(wanted).result("/etc/x").temporary_left);
}

TEST_CASE("resource: a folder that was filled before a power cut took its name gets it back") {
  Modelled m;
  const auto temp = "/srv/" + resource::temp_name(m.pass.options.store, m.pass.options.pass, 0);
  m.model.put_file(temp + "/inside", "somebody's");
  const core::AnnouncedState announced{
      0, core::ActionKind::create, {model::TargetFamily::path, "/srv/x"}, core::Found::absent};
  CHECK(m.recover(announced, {}).temporary_left);
  CHECK(m.clean_up(announced));
  CHECK(m.text("/srv/x/inside") == "somebody's");
  m.model.put_file(temp + "/inside", "more");
  CHECK_FALSE(m.clean_up(announced));  // the name is taken: nothing is lost, and it is not hidden
  CHECK(m.text(temp + "/inside") == "more");
}

TEST_CASE("resource: recovery gives a name back that a change of type had emptied") {
  Modelled m;
  m.model.put_directory("/srv");
  m.pass.run({a_directory("/srv/x").mode("0711").done()});
  bool died = false;
  m.pass.options.crash_point = [&](const char* point, std::uint32_t) {
    if (std::string(point) != "aside") return;
    died = true;
    m.model.stop_at_change(1);
  };
  m.pass.run({a_file("/srv/x").content(m.scene.content, "text").done()});
  REQUIRE(died);
  m.model.end_process();
  m.scene.open("/");
  REQUIRE_FALSE(m.model.find_stat("/srv/x"));
  const core::AnnouncedState announced{
      0, core::ActionKind::replace, {model::TargetFamily::path, "/srv/x"}, core::Found::directory};
  const auto seen = m.recover(announced, {});
  CHECK(seen.outcome == core::RecoveredOutcome::did_not);
  REQUIRE(seen.temporary_left);
  CHECK(m.clean_up(announced));
  CHECK(m.model.find_stat("/srv/x")->mode == 0711);
  CHECK(m.leftovers().empty());
}

TEST_CASE("resource: a folder whose place cannot be taken gets its name back at once") {
  Modelled m;
  m.model.put_directory("/srv");
  m.pass.run({a_directory("/srv/x").mode("0711").done()});
  m.pass.options.crash_point = [&](const char* point, std::uint32_t) {
    if (std::string(point) == "aside") m.model.fail_call(Call::rename, 1, EIO);
  };
  const auto result = m.pass.run({a_file("/srv/x").content(m.scene.content, "text").done()});
  CHECK(result.result("/srv/x").error);
  REQUIRE(m.model.find_stat("/srv/x"));
  CHECK(m.model.find_stat("/srv/x")->mode == 0711);
  CHECK(m.leftovers().empty());
}
