// What a change owes to a unit: each promise of the design's "Notifications", told by the journal
// and by the modelled service manager.
#include <catch2/catch.hpp>

#include "datum/crypto/digest.hpp"
#include "sim_host.hpp"

using namespace datum;
using namespace datum::simulation;
using core::NotificationEnd;

namespace {

const model::Target kApp{model::TargetFamily::unit, "app.service"};

model::ResourcePtr a_file(const std::string& name, const std::string& text) {
  auto resource = std::make_shared<model::Resource>();
  resource->reference = {model::ResourceType::file, name};
  model::Content content;
  content.size = text.size();
  content.has_bytes = true;
  content.digest = crypto::sha256(as_bytes(text));
  content.bytes = text;
  resource->fields = {{model::Field::path, "/etc/" + name}, {model::Field::content, content}};
  model::finish_resource(*resource);
  return resource;
}

struct Wanted {
  std::string text;
  bool restart = false;
  bool declared = true;
  bool observe_only = false;
  std::string state = "running";
  bool told = true;  // of its files
};

// Two files, and the unit that reads them.
model::ManifestPtr declare_app(const Wanted& wanted) {
  auto manifest = std::make_shared<model::Manifest>();
  manifest->host = "sim";
  manifest->resources = {a_file("a", wanted.text), a_file("b", wanted.text)};
  auto service = std::make_shared<model::Resource>();
  service->reference = {model::ResourceType::service, "app"};
  service->fields = {{model::Field::state, wanted.state}, {model::Field::enabled, true}};
  auto& causes = wanted.restart ? service->restart_on : service->reload_on;
  if (wanted.told) causes = {{model::ResourceType::file, "a"}, {model::ResourceType::file, "b"}};
  service->observe_only = wanted.observe_only;
  model::finish_resource(*service);
  if (wanted.declared) manifest->resources.push_back(service);
  REQUIRE(model::finish_manifest(*manifest));
  return manifest;
}
model::ManifestPtr declare_app(const std::string& text) {
  Wanted wanted;
  wanted.text = text;
  return declare_app(wanted);
}

// The app runs and has read version one.
struct Node : Host {
  support::ModelUnit& app = site.units.at("app.service");
  std::vector<std::string> read;  // at each start and reload

  Node() {
    app.reads = [this] { read.push_back(text("/etc/a") + text("/etc/b")); };
    REQUIRE(live(declare_app("1")));
    REQUIRE(report->status.condition == core::Condition::converged);
    REQUIRE(read == std::vector<std::string>{"11"});
    read.clear();
  }
  bool live_with(const model::ManifestPtr& manifest, Fault fault) {
    Order order;
    order.manifest = manifest;
    order.faults.push_back(fault);
    return live(std::move(order));
  }
  static Fault unit_fault(FaultKind kind, std::uint64_t nth, bool after) {
    Fault fault;
    fault.kind = kind;
    fault.nth = nth;
    fault.after = after;
    return fault;
  }
  const core::NotificationOutcome& outcome() {
    REQUIRE(report);
    REQUIRE(report->notifications.size() == 1);
    return report->notifications.front();
  }
  [[nodiscard]] bool converged() const {
    return report->status.condition == core::Condition::converged;
  }
};

}  // namespace

TEST_CASE(
    "notification: a unit that is started after its files were made owes and is owed nothing") {
  Node node;
  CHECK(node.state.pending.empty());
  CHECK(node.events<core::DeliveryStarted>().empty());
  const auto dropped = node.events<core::NotificationDropped>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped.front().reason == "it was started after the change, and so has read it");
}

TEST_CASE("notification: two changed files are one reload, after both") {
  Node node;
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.read == std::vector<std::string>{"22"});
  CHECK(node.app.reloads == 1);
  CHECK(node.outcome().end == NotificationEnd::delivered);
  CHECK(node.converged());
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.app.reloads == 1);
}

TEST_CASE(
    "notification: who undoes a pushed declaration tells the units that had read it at once") {
  for (const bool pushed : {true, false}) {
    Node node;
    Order order;
    order.manifest = declare_app("2");
    order.pushed = pushed;
    REQUIRE(node.live(order));
    REQUIRE(node.read == std::vector<std::string>{"22"});
    order.undo = node.report->pass;
    order.pushed = false;
    REQUIRE(node.live(order));
    CHECK(node.text("/etc/a") == "1");
    CHECK(node.outcome().end == (pushed ? NotificationEnd::delivered : NotificationEnd::pending));
    CHECK(node.read.back() == (pushed ? "11" : "22"));
    CHECK(node.state.pending.empty() == pushed);
    if (pushed) continue;
    // What was undone is kept; that it was is told by the next pass over the declaration.
    order.undo = 0;
    REQUIRE(node.live(order));
    CHECK(node.read.back() == "11");
    CHECK(node.state.pending.empty());
  }
}

TEST_CASE("notification: a restart serves both, and is watched while it settles") {
  Node node;
  Wanted wanted;
  wanted.text = "2";
  wanted.restart = true;
  REQUIRE(node.live(declare_app(wanted)));
  CHECK(node.app.starts == 2);
  CHECK(node.app.reloads == 0);
  CHECK(node.read == std::vector<std::string>{"22"});
  node.app.dies_at_once = true;
  wanted.text = "3";
  REQUIRE(node.live(declare_app(wanted)));
  CHECK(node.outcome().end == NotificationEnd::failed);
  CHECK(node.outcome().message.starts_with("it was restarted and ended soon after"));
  CHECK(node.report->status.condition == core::Condition::drifted);
}

TEST_CASE(
    "notification: the process that dies before the unit is asked delivers it in its next life") {
  Node node;
  REQUIRE_FALSE(
      node.live_with(declare_app("2"), Node::unit_fault(FaultKind::unit_death, 1, false)));
  CHECK(node.read.empty());
  REQUIRE(node.state.pending.at(kApp).started);
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.read == std::vector<std::string>{"22"});
  CHECK(node.converged());
  const auto delivered = node.events<core::NotificationDelivered>();
  REQUIRE(delivered.size() == 1);
  CHECK_FALSE(delivered.front().repeated);
}

TEST_CASE("notification: the process that dies after the unit was asked does not ask it again") {
  for (const bool restart : {false, true}) {
    Node node;
    Wanted wanted;
    wanted.text = "2";
    wanted.restart = restart;
    const auto manifest = declare_app(wanted);
    REQUIRE_FALSE(node.live_with(manifest, Node::unit_fault(FaultKind::unit_death, 1, true)));
    CHECK(node.read == std::vector<std::string>{"22"});
    REQUIRE(node.live(manifest));
    CHECK(node.read.size() == 1);
    CHECK(node.converged());
    const auto delivered = node.events<core::NotificationDelivered>();
    REQUIRE(delivered.size() == 1);
    CHECK_FALSE(delivered.front().repeated);
  }
}

TEST_CASE("notification: after a power cut the unit that came up again has read what was written") {
  Node node;
  auto fault = Node::unit_fault(FaultKind::unit_death, 1, false);
  fault.power = true;
  REQUIRE_FALSE(node.live_with(declare_app("2"), fault));
  CHECK(node.read == std::vector<std::string>{"22"});  // at its start
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.converged());
  CHECK(node.app.reloads == 0);
  CHECK(node.events<core::NotificationDelivered>().size() == 1);
}

TEST_CASE("notification: where the unit cannot tell, it is asked again and that is marked") {
  Node node;
  // Somebody else's reload is under way when the announcement is made.
  node.app.is_between = true;
  REQUIRE_FALSE(node.live_with(declare_app("2"), Node::unit_fault(FaultKind::unit_death, 1, true)));
  node.app.is_between = false;
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.read == std::vector<std::string>{"22", "22"});
  const auto delivered = node.events<core::NotificationDelivered>();
  REQUIRE(delivered.size() == 1);
  CHECK(delivered.front().repeated);
  CHECK(node.outcome().repeated);
  CHECK(node.converged());
}

TEST_CASE(
    "notification: an answer that is lost leaves it announced, and the unit tells of it later") {
  Node node;
  // The first call is the look before the announcement; the job is the second that can fail after.
  for (std::uint64_t nth = 1; nth <= 12; ++nth) {
    Node one;
    if (!one.live_with(declare_app("2"), Node::unit_fault(FaultKind::unit_fails, nth, true)))
      continue;
    REQUIRE(one.live(declare_app("2")));
    INFO("call " << nth);
    CHECK(one.read == std::vector<std::string>{"22"});
    CHECK(one.converged());
  }
  CHECK(node.read.empty());
}

TEST_CASE("notification: in observe it is pending and not converged; a later version coalesces") {
  Node node;
  node.app.reloads_badly = true;
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.outcome().end == NotificationEnd::failed);
  Order observe;
  observe.manifest = declare_app("2");
  observe.mode = core::Mode::observe;
  REQUIRE(node.live(observe));
  CHECK(node.outcome().end == NotificationEnd::pending);
  CHECK(node.report->status.condition == core::Condition::drifted);
  CHECK(node.app.reloads == 1);
  node.app.reloads_badly = false;
  REQUIRE(node.live(declare_app("3")));
  CHECK(node.read == std::vector<std::string>{"33"});
  CHECK(node.converged());
}

TEST_CASE("notification: a mode lowered between the change and the delivery keeps it pending") {
  Node node;
  bool delivered_late = false;
  for (std::uint64_t step = 1; step < 60 && !delivered_late; ++step) {
    Node one;
    Fault hold;
    hold.kind = FaultKind::hold;
    hold.after_steps = step;
    REQUIRE(one.live_with(declare_app("2"), hold));
    if (one.state.pending.empty()) continue;
    CHECK(one.app.reloads == 0);
    CHECK(one.report->cut_short.starts_with("the mode is observe now"));
    REQUIRE(one.live(declare_app("2")));
    CHECK(one.read == std::vector<std::string>{"22"});
    delivered_late = true;
  }
  CHECK(delivered_late);
}

TEST_CASE("notification: of a Service that left, or shall not run, it is dropped with the reason") {
  for (const bool declared : {false, true}) {
    Node node;
    node.app.reloads_badly = true;
    REQUIRE(node.live(declare_app("2")));
    Wanted wanted;
    wanted.text = "2";
    wanted.declared = declared;
    wanted.state = "stopped";
    REQUIRE(node.live(declare_app(wanted)));
    CHECK(node.outcome().end == NotificationEnd::dropped);
    CHECK(node.outcome().message ==
          (declared ? "it is declared stopped" : "Service[app] left the declaration"));
    CHECK(node.state.pending.empty());
    CHECK(node.converged());
  }
}

TEST_CASE("notification: of a Service that is only observed it waits") {
  Node node;
  Wanted wanted;
  wanted.text = "2";
  wanted.observe_only = true;
  REQUIRE(node.live(declare_app(wanted)));
  CHECK(node.outcome().end == NotificationEnd::pending);
  CHECK(node.app.reloads == 0);
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.read == std::vector<std::string>{"22"});
}

TEST_CASE("notification: a unit that cannot reload fails it and is not restarted instead") {
  Node node;
  node.app.can_reload = false;
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.outcome().end == NotificationEnd::failed);
  CHECK(node.app.starts == 1);
  CHECK(node.state.pending.contains(kApp));
}

TEST_CASE(
    "notification: without a manager nothing is raised; one that comes back is told the rest") {
  Node node;
  node.app.reloads_badly = true;
  REQUIRE(node.live(declare_app("2")));
  node.app.reloads_badly = false;
  node.site.units.set_absent("systemd does not run here");
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.outcome().message == "systemd does not run here");
  CHECK(node.state.pending.contains(kApp));
  node.site.units.set_absent({});
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.read == std::vector<std::string>{"22"});
}

TEST_CASE(
    "notification: while one of its files could not be changed the unit is told nothing [V10]") {
  Node node;
  node.site.files.set_immutable("/etc/b", true);
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.outcome().end == NotificationEnd::pending);
  CHECK(node.outcome().message == "File[b] was not changed as planned");
  CHECK(node.app.runs);
  CHECK(node.read.empty());
  node.site.files.set_immutable("/etc/b", false);
  REQUIRE(node.live(declare_app("2")));
  CHECK(node.read == std::vector<std::string>{"22"});
}

TEST_CASE(
    "notification: a unit that somebody else starts in mid-pass has not read what comes after") {
  bool came_between = false;
  for (std::uint64_t step = 1; step < 40; ++step) {
    Node node;
    node.site.units.toggle("app.service");  // it rests when it is observed
    Order order;
    order.manifest = declare_app("2");
    Fault fault;
    fault.kind = FaultKind::foreign_writer;
    fault.after_steps = step;
    order.faults.push_back(fault);
    order.on_foreign_writer = [&] {
      if (!node.app.runs) node.site.units.toggle("app.service");
    };
    REQUIRE(node.live(std::move(order)));
    INFO("after " << step << " steps");
    came_between = came_between || (!node.read.empty() && node.read.front() == "11");
    REQUIRE(node.live(declare_app("2")));
    CHECK(node.converged());
    CHECK(node.read.back() == "22");
  }
  CHECK(came_between);
}

TEST_CASE("notification: a declaration that is replaced over a dead pass loses none") {
  Node node;
  node.die(declare_app("2"), "renamed", 2);  // both are live, nothing of it is told
  Wanted other;
  other.text = "2";
  other.restart = true;
  REQUIRE(node.live(declare_app(other)));
  CHECK(node.read.size() == 1);
  CHECK(node.read.back() == "22");
  CHECK(node.converged());
}

TEST_CASE("notification: a declaration that names no file any more tells what a dead pass owed") {
  for (const bool restart : {false, true}) {
    Node node;
    Wanted first;
    first.text = "2";
    first.restart = restart;
    node.die(declare_app(first), "renamed", 2);
    Wanted other = first;
    other.told = false;
    REQUIRE(node.live(declare_app(other)));
    CHECK(node.read == std::vector<std::string>{"22"});
    REQUIRE(node.live(declare_app(other)));
    CHECK(node.read.size() == 1);
    CHECK(node.converged());
  }
}

TEST_CASE("service: a start whose end is not seen blocks what follows until its job has ended") {
  Node node;
  node.site.units.toggle("app.service");  // stopped by somebody
  const auto manifest = declare_app("1");
  auto fault = Node::unit_fault(FaultKind::unit_fails, 1, true);
  bool left_running = false;
  for (fault.nth = 1; fault.nth < 8 && !left_running; ++fault.nth) {
    Node one;
    one.site.units.toggle("app.service");
    REQUIRE(one.live_with(manifest, fault));
    if (one.state.running_tools.empty()) continue;
    left_running = true;
    one.app.is_between = true;  // the job is still under way
    one.app.runs = false;
    REQUIRE(one.live(manifest));
    CHECK(one.state.running_tools.contains(kApp));
    one.app.is_between = false;
    one.app.runs = true;
    REQUIRE(one.live(manifest));
    CHECK(one.state.running_tools.empty());
    CHECK(one.converged());
  }
  CHECK(left_running);
}
