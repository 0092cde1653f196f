// Which resource drifts on how many nodes, read from their journals as far as they are kept here.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/control/report.hpp"

namespace datum::control {

struct DriftRow {
  std::string resource;            // its reference
  std::vector<std::string> nodes;  // in order
};
struct DriftTable {
  std::vector<DriftRow> rows;       // of most nodes first, then by name
  std::vector<std::string> unread;  // "web-1: why", of nodes whose journal could not be folded
};

// Nodes that last reported drift, each with the store of its journal.
[[nodiscard]] std::vector<std::pair<std::string, Id128>> drifted_nodes(const View& view);
// Folds the copies in `folder` (NodeJournals), one after the other. Blocks, for about a second for
// each half a million records; any thread. Ends early, with what it has, once `stop` is set.
[[nodiscard]] DriftTable read_drift(const std::string& folder,
                                    const std::vector<std::pair<std::string, Id128>>& nodes,
                                    const std::atomic<bool>& stop);
[[nodiscard]] std::string drift_report(const DriftTable& table, const View& view);

}  // namespace datum::control
