// What people and programs are told of the fleet.
#include "datum/control/report.hpp"

#include <catch2/catch.hpp>

#include "datum/control/drift_report.hpp"
#include "datum/core/status.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/text/json_reader.hpp"

using namespace datum;
using namespace datum::control;

namespace {

constexpr WallNs kNow{1'750'000'000 * kNsPerSecond};

struct Fleet {
  Node& add(const std::string& name, core::Condition condition) {
    core::control::NodeEnrolled enrolled;
    enrolled.applicant.node = name;
    enrolled.applicant.fingerprint = crypto::sha256(as_bytes(name));
    enrolled.labels = {{"role", name.substr(0, name.find('-'))}};
    evolve(state, enrolled, {state.seq + 1, {}});
    core::control::NodeReport report;
    report.condition = condition;
    report.host_version = "1.0";
    evolve(state, core::control::StatusChanged{name, report}, {state.seq + 1, {}});
    presences[name] = {true, kNow};
    return state.nodes.at(name);
  }
  [[nodiscard]] View view() const {
    View made{state, [this](const std::string& node) { return presences.at(node); }, kNow};
    made.began = WallNs{kNow.ns - 600 * kNsPerSecond};
    return made;
  }
  State state;
  std::map<std::string, Presence> presences;
};

std::uint32_t bit(core::StatusFlag flag) {
  return static_cast<std::uint32_t>(flag);
}

}  // namespace

TEST_CASE("report: a host matches only while it is heard of and at its newest declaration") {
  Fleet fleet;
  fleet.state.mesh = "prod";
  fleet.add("web-1", core::Condition::converged);
  fleet.add("web-2", core::Condition::drifted);
  fleet.add("web-3", core::Condition::converged).newest = {1, 2};
  fleet.add("web-4", core::Condition::converged);
  fleet.presences["web-4"] = {false, WallNs{kNow.ns - 3'600 * kNsPerSecond}};
  fleet.add("web-5", core::Condition::drifted);
  fleet.presences["web-5"] = {false, std::nullopt};
  fleet.add("web-6", core::Condition::converged).standing = Standing::revoked;
  const auto text = status_report(fleet.view());
  CHECK(text.starts_with("mesh prod: 1 of 5 hosts match, 2 drifted, 2 unknown or silent\n"));
  CHECK(text.find("behind the newest declaration: 1 host (web-3)\n") != std::string::npos);
  CHECK(text.find("web-4: silent for 1h\n") != std::string::npos);
  CHECK(text.find("web-5: not heard of since this server began, 10m ago\n") != std::string::npos);
  CHECK(text.find("datum-host") == std::string::npos);  // one version is no news
}

TEST_CASE("report: flags and versions name hosts, and a label leaves the others out") {
  Fleet fleet;
  fleet.add("db-1", core::Condition::converged).report->flags =
      bit(core::StatusFlag::held) | bit(core::StatusFlag::store_lost);
  auto& web = fleet.add("web-1", core::Condition::drifted);
  web.report->flags = bit(core::StatusFlag::contested);
  web.report->host_version = "1.1";
  auto view = fleet.view();
  const auto all = status_report(view);
  for (const auto* line :
       {"held: 1 host (db-1)\n", "store-lost: 1 host (db-1)\n", "contested: 1 host (web-1)\n",
        "datum-host 1.0: 1 host (db-1)\n", "datum-host 1.1: 1 host (web-1)\n"})
    CHECK(all.find(line) != std::string::npos);
  view.labels = {{"role", "db"}};
  const auto some = status_report(view);
  CHECK(some.find("1 of 1 host match") != std::string::npos);
  CHECK(some.find("web-1") == std::string::npos);
  CHECK(nodes_report(view).find("web-1") == std::string::npos);
  CHECK(drifted_nodes(view).empty());
  view.labels.clear();
  REQUIRE(drifted_nodes(view).size() == 1);
  CHECK(drifted_nodes(view).front().first == "web-1");
  view.json = true;
  const auto json = text::read_json(status_report(view));
  REQUIRE(json);
  CHECK(json->kind == text::JsonKind::object);
}

TEST_CASE(
    "report: who made room for another version and is silent since is told with that version") {
  Fleet fleet;
  fleet.add("a", core::Condition::converged).report->upgrading_to = "2.0 (abc)";
  fleet.add("b", core::Condition::converged).report->upgrading_to = "2.0 (abc)";
  fleet.add("c", core::Condition::converged).report->upgrading_to = "2.0 (abc)";
  fleet.presences["a"] = {false, WallNs{kNow.ns - 3'600 * kNsPerSecond}};
  fleet.presences["b"] = {false, std::nullopt};
  fleet.presences["c"] = {false, WallNs{kNow.ns - 60 * kNsPerSecond}};
  const auto text = status_report(fleet.view());
  CHECK(text.find("a: silent since upgrading to 2.0 (abc), for 1h\n") != std::string::npos);
  CHECK(text.find("b: not heard of since this server began, 10m ago; silent since upgrading to "
                  "2.0 (abc)\n") != std::string::npos);
  CHECK(text.find("c: ") == std::string::npos);  // it may be back in a moment
  auto view = fleet.view();
  view.json = true;
  CHECK(status_report(view).find(R"("node":"a","since":)") != std::string::npos);
  CHECK(status_report(view).find(R"x("wasHeard":true,"upgradingTo":"2.0 (abc)")x") !=
        std::string::npos);
}

TEST_CASE("report: who is silent for so long, and nobody else") {
  Fleet fleet;
  fleet.add("a", core::Condition::converged);
  fleet.presences["a"] = {false, WallNs{kNow.ns - 7'200 * kNsPerSecond}};
  fleet.add("b", core::Condition::converged);
  fleet.presences["b"] = {false, WallNs{kNow.ns - 1'000 * kNsPerSecond}};
  fleet.add("c", core::Condition::converged);
  const auto view = fleet.view();
  const auto hour = silence_report(view, 3'600 * kNsPerSecond);
  CHECK(hour.is_any);
  CHECK(hour.text == "a: silent for 2h\n");
  CHECK_FALSE(silence_report(view, 7'201 * kNsPerSecond).is_any);
  CHECK(silence_report(view, 1'000 * kNsPerSecond).text.find("b: ") != std::string::npos);
}

TEST_CASE("report: every flag is a number for Prometheus, and each name stands once") {
  Fleet fleet;
  fleet.add("web-1", core::Condition::converged).report->flags = bit(core::StatusFlag::held);
  const auto text = metrics_report(fleet.view());
  for (const auto* line :
       {"\ndatum_control_nodes_flagged{flag=\"held\"} 1\n", "{flag=\"awaiting-reboot\"} 0\n",
        "\ndatum_control_nodes_silent 0\n", "\ndatum_control_nodes_matching 1\n"}) {
    INFO(line);
    const auto at = text.find(line);
    REQUIRE(at != std::string::npos);
    CHECK(text.find(line, at + 1) == std::string::npos);
  }
}

TEST_CASE("report: drift is told by resource, of most nodes first") {
  const Fleet fleet;
  auto view = fleet.view();
  DriftTable table;
  CHECK(drift_report(table, view) == "no resource drifts, as far as journals are kept here\n");
  table.rows = {{"File[motd]", {"a", "b"}}, {"User[x]", {"a"}}};
  CHECK(drift_report(table, view).find("2  File[motd]  a, b\n") != std::string::npos);
  view.json = true;
  CHECK(drift_report(table, view) ==
        "{\"resource\":\"File[motd]\",\"count\":2,\"nodes\":[\"a\",\"b\"]}\n"
        "{\"resource\":\"User[x]\",\"count\":1,\"nodes\":[\"a\"]}\n");
}

TEST_CASE("report: a copy that cannot be read is named, and the others are read") {
  const std::atomic<bool> stop = false;
  const auto table = read_drift("/nonexistent", {{"web-1", Id128{}}, {"web-2", Id128{}}}, stop);
  CHECK(table.rows.empty());
  CHECK(table.unread.size() == 2);
}
