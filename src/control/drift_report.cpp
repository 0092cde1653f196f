#include "datum/control/drift_report.hpp"

#include <algorithm>
#include <map>

#include "datum/control/node_journals.hpp"
#include "datum/history/events.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"

namespace datum::control {
namespace {

using NodesByResource = std::map<std::string, std::vector<std::string>>;

Status add_node(const std::string& folder, const std::string& node, const Id128& store,
                NodesByResource& found) {
  DATUM_ASSIGN(const auto reader,
               journal::open_copy(NodeJournals::path_of(folder, node, store), store));
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, false));
  for (const auto& [target, resource] : state.resources)
    if (resource.condition == core::Condition::drifted)
      found[resource.reference.text()].push_back(node);
  return {};
}

}  // namespace

std::vector<std::pair<std::string, Id128>> drifted_nodes(const View& view) {
  std::vector<std::pair<std::string, Id128>> nodes;
  for (const auto& [name, node] : view.state.nodes)
    if (node.standing == Standing::enrolled && is_shown(view, node) && node.report &&
        node.report->condition == core::Condition::drifted)
      nodes.emplace_back(name, node.self.store);
  return nodes;
}

DriftTable read_drift(const std::string& folder,
                      const std::vector<std::pair<std::string, Id128>>& nodes,
                      const std::atomic<bool>& stop) {
  DriftTable table;
  NodesByResource found;
  for (const auto& [node, store] : nodes) {
    if (stop) break;
    const auto added = add_node(folder, node, store, found);
    if (!added) table.unread.push_back(node + ": " + added.error().message());
  }
  for (auto& [resource, names] : found) table.rows.push_back({resource, std::move(names)});
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& one, const auto& other) {
    return one.nodes.size() > other.nodes.size();
  });
  return table;
}

std::string drift_report(const DriftTable& table, const View& view) {
  std::string lines;
  text::Table shown({{"NODES", text::Align::right}, {"RESOURCE"}, {"ON"}});
  for (const auto& row : table.rows) {
    if (!view.json) {
      std::string on;
      for (const auto& node : row.nodes) on += (on.empty() ? "" : ", ") + node;
      shown.add_row({std::to_string(row.nodes.size()), row.resource, on});
      continue;
    }
    text::JsonWriter json;
    json.begin_object().member("resource", row.resource).member("count", row.nodes.size());
    json.key("nodes").begin_array();
    for (const auto& node : row.nodes) json.value(node);
    json.end_array().end_object();
    lines += json.take() + "\n";
  }
  if (view.json) return lines;
  if (table.rows.empty()) return "no resource drifts, as far as journals are kept here\n";
  return shown.render(text::Painter(view.colour), view.width);
}

}  // namespace datum::control
