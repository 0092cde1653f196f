// The total order of a plan: what must come first comes first, and where nothing decides, the
// reference's text does, then the target. The same input gives the same order in whatever sequence
// it came.
#include <algorithm>
#include <numeric>
#include <queue>

#include "planning.hpp"

namespace datum::core {
namespace {

bool comes_before(const Draft& first, const Draft& second) {
  if (first.order_class != second.order_class) return first.order_class < second.order_class;
  const auto& a = first.action;
  const auto& b = second.action;
  if (a.reference != b.reference) return a.reference < b.reference;
  if (a.target != b.target) return a.target < b.target;
  return a.kind < b.kind;
}

// Kahn's algorithm over ranks. Contradictions are resolved when nothing is free any more: the first
// node that no folder holds back goes next, whatever documents still want before it.
class Order {
 public:
  explicit Order(const std::vector<Draft>& drafts)
      : drafts_(drafts), rank_(drafts.size()), by_rank_(drafts.size()) {
    std::iota(by_rank_.begin(), by_rank_.end(), 0U);
    std::sort(by_rank_.begin(), by_rank_.end(),
              [&](Node a, Node b) { return comes_before(drafts[a], drafts[b]); });
    for (Node i = 0; i < by_rank_.size(); ++i) rank_[by_rank_[i]] = i;
    count_edges();
  }

  std::vector<Node> run() {
    std::vector<Node> order;
    order.reserve(drafts_.size());
    for (Node node = 0; node < drafts_.size(); ++node)
      if (strong_left_[node] + weak_left_[node] == 0) free_.push(rank_[node]);
    while (order.size() < drafts_.size()) {
      const auto node = free_.empty() ? find_stalled() : pop();
      if (done_[node]) continue;
      done_[node] = true;
      order.push_back(node);
      release(node);
    }
    return order;
  }

 private:
  void count_edges() {
    const auto size = drafts_.size();
    strong_left_.assign(size, 0);
    weak_left_.assign(size, 0);
    done_.assign(size, false);
    strong_after_.resize(size);
    weak_after_.resize(size);
    for (Node node = 0; node < size; ++node) {
      for (const auto before : drafts_[node].strong) strong_after_[before].push_back(node);
      for (const auto before : drafts_[node].weak) weak_after_[before].push_back(node);
      strong_left_[node] = drafts_[node].strong.size();
      weak_left_[node] = drafts_[node].weak.size();
    }
  }

  Node pop() {
    const auto rank = free_.top();
    free_.pop();
    return by_rank_[rank];
  }

  // Folders alone hold nothing back in a circle (a path is not its own ancestor); should they ever,
  // the first node goes.
  Node find_stalled() {
    const auto waits = [&](Node node) { return !done_[node] && strong_left_[node] == 0; };
    auto found = std::find_if(by_rank_.begin(), by_rank_.end(), waits);
    if (found == by_rank_.end())
      found =
          std::find_if(by_rank_.begin(), by_rank_.end(), [&](Node node) { return !done_[node]; });
    return *found;
  }

  void release(Node node) {
    const auto lower = [&](std::vector<std::size_t>& left, Node after) {
      --left[after];
      if (!done_[after] && strong_left_[after] + weak_left_[after] == 0) free_.push(rank_[after]);
    };
    for (const auto after : strong_after_[node]) lower(strong_left_, after);
    for (const auto after : weak_after_[node]) lower(weak_left_, after);
  }

  const std::vector<Draft>& drafts_;
  std::vector<Node> rank_, by_rank_;
  std::vector<std::size_t> strong_left_, weak_left_;
  std::vector<std::vector<Node>> strong_after_, weak_after_;
  std::vector<bool> done_;
  std::priority_queue<Node, std::vector<Node>, std::greater<>> free_;
};

// Folders won over what the documents say: the package comes too late to bring what is missing, and
// run all the same the action would fail in each pass anew.
void refuse_unbrought(Action& action, const Action& package) {
  action.note.clear();
  action.refusal = "missing: " + package.reference.text() +
                   ", which may bring what is not there, can only come after this, because of the "
                   "folders that its own requirements lie in; require something else";
}

}  // namespace

// What waits for an action that is only observed is blocked on it and comes after it, but does not
// wait for its success, which never comes.
std::vector<Action> order_actions(Planning& planning) {
  const auto order = Order(planning.drafts).run();
  std::vector<std::uint32_t> ordinal(order.size());
  std::vector<bool> observed(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    ordinal[order[i]] = i;
    observed[order[i]] = planning.drafts[order[i]].action.observe_only;
  }
  std::vector<Action> actions;
  actions.reserve(order.size());
  for (const auto node : order) {
    auto& draft = planning.drafts[node];
    auto action = std::move(draft.action);
    action.ordinal = ordinal[node];
    for (const auto* edges : {&draft.strong, &draft.weak})
      for (const auto before : *edges)
        if (ordinal[before] < action.ordinal && (!observed[before] || action.observe_only))
          action.after.push_back(ordinal[before]);
    std::sort(action.after.begin(), action.after.end());
    action.after.erase(std::unique(action.after.begin(), action.after.end()), action.after.end());
    if (draft.bringer && ordinal[*draft.bringer] > action.ordinal)
      refuse_unbrought(action, planning.drafts[*draft.bringer].action);
    actions.push_back(std::move(action));
  }
  return actions;
}

}  // namespace datum::core
