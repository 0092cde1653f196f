// A plan in the making. Each file plan_*.cpp does one step: draft what is declared, draft what
// left, tie the drafts together, brake, order. Internal to core.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "datum/core/plan.hpp"
#include "datum/core/reversal.hpp"
#include "datum/core/state.hpp"

namespace datum::core {

using Node = std::uint32_t;  // index of a draft

// Accounts: who is in a group leaves before the group does, and what has a number declared takes it
// before anything else could be given it. Datum's own package: its upgrade ends the service, so all
// else that can be done is done before.
inline constexpr std::uint8_t kUserLeaves = 0, kNumberedAccount = 1, kUsualOrder = 2,
                              kGroupLeaves = 3, kOwnPackage = 4;

struct Draft {
  Action action;
  std::vector<Node> strong;  // must come first, because of folders
  std::vector<Node> weak;    // must come first, as documents say; gives way to folders
  bool needs_empty = false;  // a folder that is not empty yet
  std::uint32_t entries = 0;
  std::uint8_t order_class = kUsualOrder;  // lower ones first, where nothing else decides
  std::optional<Node> bringer;  // a package that may bring what is missing, if it comes first
};

// One resource of the manifest with all that is known of it.
struct Subject {
  const model::Resource* resource = nullptr;
  const Observation* observation = nullptr;  // null: none came
  const Owned* owned = nullptr;
  bool observe_only = false;
  std::optional<Node> own;    // action on its own target
  std::vector<Node> purging;  // actions on entries
};

struct Planning {
  explicit Planning(const PlanInput& plan_input);

  // The place of the resource with that name among `subjects`, their number if there is none.
  [[nodiscard]] std::size_t index_of(const model::Reference& reference) const;
  [[nodiscard]] const Subject* find(const model::Reference& reference) const;
  Node add(Action action);
  // Whether a resource declares the target; whether one, or one that is declared present, lies
  // below the path.
  [[nodiscard]] bool is_declared(const model::Target& target) const;
  [[nodiscard]] bool is_above_any(std::string_view path) const;
  [[nodiscard]] bool is_above_present(std::string_view path) const;
  // Whether the target is only observed because it is kept: never in a reverting pass.
  [[nodiscard]] bool keeps(const model::Target& target) const;

  const PlanInput& input;
  const State& state;
  std::set<model::Reference> observe_list;  // a set: an unsorted list must not raise a mode
  std::vector<Subject> subjects;            // sorted by reference
  std::vector<Draft> drafts;
  std::unordered_map<model::Target, Node, model::TargetHash> by_target;
  Brake brake;

 private:
  // Made when somebody first asks: a plan without purges and removals never does.
  struct Places {
    std::unordered_set<model::Target, model::TargetHash> declared;
    std::unordered_set<std::string_view> above_present, above_any;  // ancestors of paths
  };
  [[nodiscard]] const Places& places() const;
  mutable std::optional<Places> places_;
};

// Calls `visit` with each proper ancestor of a path, nearest first, down to "/".
template <class Visit>
void for_each_ancestor(std::string_view path, Visit visit) {
  while (path.size() > 1) {
    const auto slash = path.rfind('/');
    if (slash == std::string_view::npos) return;
    path = slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
    visit(path);
  }
}
[[nodiscard]] std::string_view parent_of(std::string_view path);
// "missing folder: /d does not exist"; `parent` as an observation has it.
[[nodiscard]] std::string missing_folder_words(std::string_view parent);
[[nodiscard]] bool is_own_package(const model::Target& target);

[[nodiscard]] bool builds(ActionKind kind);   // create, update, replace
[[nodiscard]] bool removes(ActionKind kind);  // remove, purge, leave

// The change that brings a drifted resource to what is declared, with what will refuse it.
[[nodiscard]] Action drifted_action(const Planning& planning, const Subject& subject);

void draft_declared(Planning& planning);
void draft_purges(Planning& planning, bool observe_only);
void draft_leaving(Planning& planning);
// Instead of these, in a reverting pass: what the manifest declares is what was there before.
void draft_undone(Planning& planning);
// Folders that are not empty: removed after their entries if these are all that is in them.
void settle_full_folders(Planning& planning);
void add_edges(Planning& planning);
// What of a resource is missing may come with a package that it requires: it comes after that one.
// Where folders leave no such order (order_actions), it is refused.
void check_parents(Planning& planning);
void apply_brake(Planning& planning);
// Where an action waits for one that is only observed, it is blocked on that instead.
void block_on_observed(Planning& planning);
[[nodiscard]] std::vector<Action> order_actions(Planning& planning);
void count_and_notify(const Planning& planning, Plan& plan);

}  // namespace datum::core
