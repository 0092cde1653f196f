// Repositories over a modelled disk: each field, how it is spoilt, what is seen and what a repair
// leaves; keys, pins and removal; and what a power cut leaves.
#include <catch2/catch.hpp>

#include "pass.hpp"
#include "support/model_files.hpp"
#include "support/model_packages.hpp"

using namespace datum;
using namespace datum::test;
using core::Condition;
using model::Field;

namespace {

const std::string kList = "/etc/apt/sources.list.d/main.sources";
const std::string kKey = "/etc/apt/keyrings/main.asc";
const std::string kBinaryKey = "/etc/apt/keyrings/main.gpg";
const std::string kPin = "/etc/apt/preferences.d/main.pref";
const std::string kArmoured = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nabc\n";

struct World {
  support::ModelFiles files;
  support::ModelPackages packages;
  Scene scene{files};
  Pass pass{scene};
  std::string key = kArmoured;

  World() {
    files.put_directory("/etc/apt/sources.list.d");
    files.put_directory("/etc/apt/preferences.d");
    scene.machine().packages = &packages;
  }

  model::Resource repository(const std::map<Field, model::Value>& more = {}, bool with_key = true) {
    model::Resource resource;
    resource.reference = {model::ResourceType::repository, "main"};
    std::map<Field, model::Value> fields{
        {Field::id, std::string("main")},
        {Field::url, std::string("https://deb.example.org/debian")},
        {Field::suite, std::string("stable")},
        {Field::components, std::vector<std::string>{"main", "extra"}}};
    if (with_key) {
      model::Content content;
      content.digest = scene.content.add(key);
      content.size = key.size();
      fields[Field::signing_key] = content;
    }
    for (const auto& [field, value] : more) fields[field] = value;
    for (const auto& [field, value] : fields) resource.fields.push_back({field, value});
    model::finish_resource(resource);
    return resource;
  }
  std::string outcome(const model::Resource& resource) {
    const auto result = pass.run({resource});
    if (result.results.empty()) return result.plan->actions.empty() ? "nothing" : "not run";
    const auto& one = result.results.begin()->second;
    return one.error ? "failed: " + one.error->message() : one.skipped ? one.message : "done";
  }
  std::string drifts(const model::Resource& resource) {
    const auto seen = scene.observe(resource);
    return seen.condition == Condition::unknown ? "unknown: " + seen.reason.str() : drifts_of(seen);
  }
  std::string text(const std::string& path) {
    const auto found = files.find_content(path);
    return found ? *found : "absent";
  }
};

}  // namespace

TEST_CASE("repository: list, key and pin are written as apt reads them, readable by everybody") {
  World world;
  const auto wanted = world.repository({{Field::priority, std::int64_t{700}}});
  CHECK(world.drifts(wanted) == "state: absent -> present\n");
  CHECK(world.outcome(wanted) == "done");
  CHECK(world.text(kList) ==
        "# Written by Datum for Repository[main].\nTypes: deb\n"
        "URIs: https://deb.example.org/debian\nSuites: stable\nComponents: main extra\n"
        "Signed-By: /etc/apt/keyrings/main.asc\n");
  CHECK(world.text(kKey) == kArmoured);
  CHECK(world.text(kPin) ==
        "# Written by Datum for Repository[main].\nPackage: *\nPin: origin \"deb.example.org\"\n"
        "Pin-Priority: 700\n");
  for (const auto& path : {kList, kKey, kPin}) CHECK(world.files.find_stat(path)->mode == 0644);
  CHECK(world.drifts(wanted).empty());
  CHECK(world.outcome(wanted) == "nothing");
}

TEST_CASE("repository: each field that is spoilt is seen by its name and repaired") {
  struct Row {
    const char* from;
    const char* to;
    const char* drift;
  };
  const Row rows[] = {
      {"deb.example.org", "evil.example.org",
       "url: https://evil.example.org/debian -> https://deb.example.org/debian\n"},
      {"Suites: stable", "Suites: sid", "suite: sid -> stable\n"},
      {"main extra", "main", "components: main -> main extra\n"},
      {"Components: main extra\n", "", "components: none -> main extra\n"},
      {"/main.asc", "/other.asc",
       "signingKey: /etc/apt/keyrings/other.asc -> /etc/apt/keyrings/main.asc\n"},
      {"Suites", "Trusted: yes\nSuites", "unsigned: true -> false\n"},
      {"Suites", "Enabled: no\nSuites", "enabled: false -> true\n"},
      {"Suites", "Architectures: i386\nSuites", "content: other lines -> as Datum writes it\n"},
      {"main.asc\n", "main.asc\n\nTypes: deb\nURIs: x\n",
       "content: another repository too -> as Datum writes it\n"},
  };
  for (const auto& row : rows) {
    INFO(row.drift);
    World world;
    const auto wanted = world.repository({{Field::enabled, true}});
    REQUIRE(world.outcome(wanted) == "done");
    auto text = world.text(kList);
    const auto good = text;
    text.replace(text.find(row.from), std::string(row.from).size(), row.to);
    world.files.put_file(kList, text);
    CHECK(world.drifts(wanted) == row.drift);
    CHECK(world.text(kList) == text);
    CHECK(world.outcome(wanted) == "done");
    CHECK(world.text(kList) == good);
    CHECK(world.drifts(wanted).empty());
  }
}

TEST_CASE("repository: key, pin and mode are seen and repaired, each without the others") {
  World world;
  const auto wanted = world.repository({{Field::priority, std::int64_t{10}}});
  REQUIRE(world.outcome(wanted) == "done");
  world.files.put_file(kKey, "another");
  CHECK(world.drifts(wanted).find("signingKey: sha256:") == 0);
  CHECK(world.outcome(wanted) == "done");
  CHECK(world.text(kKey) == kArmoured);
  world.files.put_file(kPin, "Package: *\nPin: origin \"deb.example.org\"\nPin-Priority: 99\n");
  CHECK(world.drifts(wanted) == "priority: 99 -> 10\n");
  CHECK(world.outcome(wanted) == "done");
  CHECK(world.drifts(wanted).empty());
  world.files.put_file(kKey, kArmoured, 0600);
  CHECK(world.drifts(wanted) == "signingKey: mode 0600 -> mode 0644\n");
  CHECK(world.outcome(wanted) == "done");
  world.files.put_file(kList, world.text(kList), 0666);
  CHECK(world.drifts(wanted) == "mode: 0666 -> 0644\n");
  CHECK(world.outcome(wanted) == "done");
  CHECK(world.drifts(wanted).empty());
}

TEST_CASE("repository: another form of key takes the old one's place, and unsigned takes it away") {
  World world;
  REQUIRE(world.outcome(world.repository()) == "done");
  world.key = std::string("\x99\x01\x02", 3);
  CHECK(world.outcome(world.repository()) == "done");
  CHECK(world.text(kBinaryKey) == world.key);
  CHECK(world.text(kKey) == "absent");
  const auto open = world.repository({{Field::is_unsigned, true}}, false);
  CHECK(world.outcome(open) == "done");
  CHECK(world.text(kBinaryKey) == "absent");
  CHECK(world.text(kList).find("Trusted: yes\n") != std::string::npos);
  CHECK(world.text(kList).find("Signed-By") == std::string::npos);
  CHECK(world.drifts(open).empty());
}

TEST_CASE("repository: what is not declared stays: a switch, a pin") {
  World world;
  world.files.put_file(kList, "Types: deb\nEnabled: no\nURIs: https://old\nSuites: stable\n");
  world.files.put_file(kPin, "Package: x\nPin: version 1\nPin-Priority: 1\n");
  CHECK(world.outcome(world.repository()) == "done");
  CHECK(world.text(kList).find("Enabled: no\n") != std::string::npos);
  CHECK(world.text(kPin) == "Package: x\nPin: version 1\nPin-Priority: 1\n");
  CHECK(world.drifts(world.repository()).empty());
  CHECK(world.drifts(world.repository({{Field::enabled, true}})) == "enabled: false -> true\n");
  CHECK_FALSE(world.pass.blobs.kept.empty());
}

TEST_CASE("repository: absent and leaving take list, key and pin; what somebody changed stays") {
  World world;
  const auto wanted = world.repository({{Field::priority, std::int64_t{10}}});
  const auto absent = world.repository({{Field::state, std::string("absent")}}, false);
  REQUIRE(world.outcome(wanted) == "done");
  CHECK(world.drifts(absent) == "state: present -> absent\n");
  CHECK(world.outcome(absent) == "done");
  for (const auto& path : {kList, kKey, kPin}) CHECK(world.text(path) == "absent");
  CHECK(world.drifts(absent).empty());
  REQUIRE(world.outcome(wanted) == "done");
  CHECK(world.pass.run({}).plan->actions.at(0).kind == core::ActionKind::leave);
  for (const auto& path : {kList, kKey, kPin}) CHECK(world.text(path) == "absent");
  REQUIRE(world.outcome(wanted) == "done");
  world.files.put_file(kList, world.text(kList) + "# mine\n");
  CHECK(world.pass.run({}).plan->actions.at(0).kind == core::ActionKind::release);
  CHECK(world.text(kKey) == kArmoured);
}

TEST_CASE("repository: what cannot be one is unknown or refused with the reason") {
  World world;
  auto odd = world.repository();
  for (auto& field : odd.fields)
    if (field.field == Field::id) field.value = std::string("a+b");
  model::finish_resource(odd);
  CHECK(world.drifts(odd).find("unknown: apt passes over files") == 0);
  const auto wanted = world.repository();
  world.scene.content.lie(kArmoured, "other bytes");
  CHECK(world.outcome(wanted) == "failed: signingKey: its bytes are not the declared ones");
  CHECK(world.text(kList) == "absent");
  world.files.put_directory(kList);
  CHECK(world.scene.observe(wanted).condition == Condition::drifted);
  CHECK(world.pass.run({wanted}).plan->actions.at(0).refusal.find("type conflict") == 0);
  world.scene.machine().root_path = "/mnt";
  CHECK(world.scene.observe(wanted).reason == "not under --root");
}

TEST_CASE("repository: a value with a line break cannot add a field") {
  World world;
  const auto wanted = world.repository({{Field::suite, std::string("stable\nTrusted: yes")}});
  REQUIRE(world.outcome(wanted) == "done");
  CHECK(world.text(kList).find("\nTrusted") == std::string::npos);
}

TEST_CASE(
    "repository: after a power cut at any step the next pass converges and nothing is left over") {
  for (std::uint64_t at = 1;; ++at) {
    INFO("change " << at);
    World world;
    const auto wanted = world.repository({{Field::priority, std::int64_t{10}}});
    world.files.settle();
    world.files.stop_at_change(at);
    static_cast<void>(world.pass.run({wanted}));
    const bool died = world.files.stopped();
    world.files.crash(at);
    world.pass.state = {};
    world.scene.open("/");
    world.scene.machine().packages = &world.packages;
    const core::Leftover left{world.pass.options.pass, 0, wanted.target};
    REQUIRE(resource::remove_leftover(world.scene.machine(), world.pass.options.store, left));
    const auto outcome = world.outcome(wanted);
    CHECK((outcome == "done" || outcome == "nothing" || outcome == "not run"));
    CHECK(world.drifts(wanted).empty());
    for (const auto& path : world.files.paths()) CHECK(path.find(".datum-") == std::string::npos);
    if (!died) {
      CHECK(at > 10);
      break;
    }
  }
}
