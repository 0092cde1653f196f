// See the header. Nodes that are on no cycle are peeled off from both ends first, which leaves
// nothing in the ordinary case; what remains is searched breadth first from each node.
#include "graph.hpp"

#include <algorithm>
#include <cstddef>

namespace datum::fleet {
namespace {

using Node = std::uint32_t;
using Edges = std::vector<std::vector<Node>>;
constexpr Node kNoNode = UINT32_MAX;

// Searches for the shortest way back are quadratic in what remains; beyond this a cycle is still
// found, but through the first node only.
constexpr std::size_t kMaxSearched = 2'000;

// Removes, again and again, nodes that nothing remaining refers to. What is left lies on a cycle or
// on a way from one.
std::vector<bool> peel(const Edges& edges) {
  std::vector<std::uint32_t> incoming(edges.size(), 0);
  for (const auto& targets : edges)
    for (const auto to : targets) ++incoming[to];
  std::vector<Node> free;
  for (Node node = 0; node < edges.size(); ++node)
    if (incoming[node] == 0) free.push_back(node);
  std::vector<bool> left(edges.size(), true);
  while (!free.empty()) {
    const auto node = free.back();
    free.pop_back();
    left[node] = false;
    for (const auto to : edges[node])
      if (--incoming[to] == 0) free.push_back(to);
  }
  return left;
}

class Search {
 public:
  Search(const Edges& edges, const std::vector<bool>& left)
      : edges_(edges), left_(left), before_(edges.size(), kNoNode), round_(edges.size(), 0) {}

  // The shortest way from `start` back to it, empty if there is none or none below `limit`.
  std::vector<Node> shortest(Node start, std::size_t limit) {
    ++current_;
    std::vector<Node> wave{start};
    for (std::size_t length = 1; !wave.empty() && length < limit; ++length) {
      std::vector<Node> next;
      for (const auto node : wave)
        for (const auto to : edges_[node]) {
          if (to == start) return path(start, node);
          if (!left_[to] || round_[to] == current_) continue;
          round_[to] = current_;
          before_[to] = node;
          next.push_back(to);
        }
      wave = std::move(next);
    }
    return {};
  }

  // All nodes that `start` reaches, itself included only if it lies on a cycle.
  void reach(Node start, const Edges& edges, std::vector<bool>& reached) const {
    std::vector<Node> open{start};
    while (!open.empty()) {
      const auto node = open.back();
      open.pop_back();
      for (const auto to : edges[node]) {
        if (!left_[to] || reached[to]) continue;
        reached[to] = true;
        open.push_back(to);
      }
    }
  }

 private:
  std::vector<Node> path(Node start, Node last) const {
    std::vector<Node> way;
    for (auto node = last; node != start; node = before_[node]) way.push_back(node);
    way.push_back(start);
    std::reverse(way.begin(), way.end());
    return way;
  }

  const Edges& edges_;
  const std::vector<bool>& left_;
  std::vector<Node> before_;
  std::vector<std::uint32_t> round_;
  std::uint32_t current_ = 0;
};

Edges reversed(const Edges& edges) {
  Edges back(edges.size());
  for (Node node = 0; node < edges.size(); ++node)
    for (const auto to : edges[node]) back[to].push_back(node);
  return back;
}

}  // namespace

std::vector<std::vector<Node>> find_cycles(const Edges& edges) {
  auto left = peel(edges);
  if (std::find(left.begin(), left.end(), true) == left.end()) return {};
  const auto back = reversed(edges);
  const auto left_behind = peel(back);
  for (Node node = 0; node < edges.size(); ++node) left[node] = left[node] && left_behind[node];
  Search search(edges, left);
  std::vector<bool> done(edges.size(), false);
  std::vector<std::vector<Node>> cycles;
  for (Node node = 0; node < edges.size(); ++node) {
    if (!left[node] || done[node]) continue;
    std::vector<bool> forward(edges.size(), false);
    std::vector<bool> backward(edges.size(), false);
    search.reach(node, edges, forward);
    search.reach(node, back, backward);
    std::vector<Node> knot;
    for (Node each = 0; each < edges.size(); ++each)
      if (forward[each] && backward[each]) knot.push_back(each);
    done[node] = true;
    if (!forward[node]) continue;
    std::vector<Node> best;
    for (std::size_t i = 0; i < knot.size() && i < kMaxSearched; ++i) {
      done[knot[i]] = true;
      auto cycle = search.shortest(knot[i], best.empty() ? SIZE_MAX : best.size());
      if (!cycle.empty()) best = std::move(cycle);
    }
    for (const auto each : knot) done[each] = true;
    std::rotate(best.begin(), std::min_element(best.begin(), best.end()), best.end());
    cycles.push_back(std::move(best));
  }
  return cycles;
}

}  // namespace datum::fleet
