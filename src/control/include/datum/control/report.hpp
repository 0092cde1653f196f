// What the control plane knows, for people and for programs: tables and JSON of State and of what
// is linked at this moment. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datum/control/state.hpp"
#include "datum/core/status.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"

namespace datum::control {

// What only the running server knows of a node.
struct Presence {
  bool is_linked = false;
  std::optional<WallNs> last_heard;
};

struct View {
  const State& state;
  std::function<Presence(const std::string& node)> presence;
  WallNs now;
  std::int64_t heartbeat_ns = 60 * kNsPerSecond;
  std::string version;
  bool json = false;
  bool colour = false;
  std::size_t width = 0;
  WallNs began;                    // of the server
  std::vector<core::Fact> labels;  // only nodes that have all of these
};
// It has the labels that the view is limited to.
[[nodiscard]] bool is_shown(const View& view, const Node& node);

// One node in one word, worst first: what was last reported; `unknown` where that is converged and
// older than three heartbeats, or of an older declaration than the newest released to it.
[[nodiscard]] core::Condition condition_of(const Node& node, const Presence& presence,
                                           const View& view);

struct Silence {
  std::string node;
  WallNs since;              // last heard of
  bool was_heard = false;    // since this server began; else that is `since`
  std::string upgrading_to;  // the version that it made room for, by its last report; empty: none
};
struct FleetCounts {
  std::size_t nodes = 0;  // that are enrolled
  std::size_t match = 0, drifted = 0, unknown = 0, linked = 0, waiting = 0, tokens = 0;
  // Names of these nodes, in order.
  std::vector<std::string> behind, newer, unacknowledged;
  std::map<core::StatusFlag, std::vector<std::string>> flags;
  std::map<std::string, std::vector<std::string>> versions;
  std::vector<Silence> silent;
};
[[nodiscard]] FleetCounts count_fleet(const View& view);
// "2 of 3 hosts match, 1 drifted, 0 unknown or silent"
[[nodiscard]] std::string fleet_line(const FleetCounts& counts);

// Each ends with a newline; lists as JSON lines.
[[nodiscard]] std::string status_report(const View& view);
// Who has been silent for at least so long.
struct SilenceReport {
  std::string text;
  bool is_any = false;
};
[[nodiscard]] SilenceReport silence_report(const View& view, std::int64_t longer_than_ns);
[[nodiscard]] std::string nodes_report(const View& view);
[[nodiscard]] std::string node_report(const View& view, const Node& node);
[[nodiscard]] std::string tokens_report(const View& view);
// The newest order to each node: of those that were acknowledged only with `all`.
struct OrdersReport {
  std::string text;
  bool is_open = false;  // some node has not acknowledged it, or refused it
};
// The members of an order, into the object that stands open.
void write_order(text::JsonWriter& json, const StandingOrder& order);
[[nodiscard]] OrdersReport orders_report(const View& view, bool all);
// For Prometheus, as node_exporter's textfile collector reads it.
[[nodiscard]] std::string metrics_report(const View& view);

}  // namespace datum::control
