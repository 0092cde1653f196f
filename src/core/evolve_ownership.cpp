// Events of ownership and of people's judgements about targets.
#include <algorithm>

#include "evolve.hpp"

namespace datum::core {

// An orphan of a lost store is decided once its target is owned again, released or removed. The
// loss ends with the last of them; while a pass runs, with that pass.
void Evolver::settle_loss(const model::Target& target) const {
  if (!state_.loss) return;
  state_.orphans.erase(target);
  auto& list = state_.loss->last_known_owned;
  const auto at = std::lower_bound(list.begin(), list.end(), target);
  if (at == list.end() || *at != target) return;
  list.erase(at);
  if (list.empty() && !state_.pass) state_.loss.reset();
}

// What is declared needs no decision: the pass that found it so does with it what it does with
// whatever is declared.
void Evolver::end_loss() const {
  if (!state_.loss) return;
  auto& list = state_.loss->last_known_owned;
  const auto is_declared = [this](const model::Target& target) {
    return state_.resources.contains(target);
  };
  std::erase_if(list, is_declared);
  std::erase_if(state_.orphans, [&](const auto& entry) { return is_declared(entry.first); });
  if (list.empty()) state_.loss.reset();
}

void Evolver::operator()(const OwnershipCreated& event) const {
  Owned owned;
  owned.reference = event.reference;
  owned.created = true;
  owned.protect = event.protect;
  owned.since = place_.seq;
  if (event.left) owned.left = *event.left;
  owned.requirements = event.requirements;
  state_.owned[event.target] = std::move(owned);
  settle_loss(event.target);
}

void Evolver::operator()(const OwnershipAdopted& event) const {
  Owned owned;
  owned.reference = event.reference;
  owned.protect = event.protect;
  owned.since = place_.seq;
  owned.left = event.left;
  owned.requirements = event.requirements;
  state_.owned[event.target] = std::move(owned);
  settle_loss(event.target);
}

void Evolver::operator()(const OwnershipRenamed& event) const {
  const auto found = state_.owned.find(event.target);
  if (found == state_.owned.end()) return;
  found->second.reference = event.to;
  found->second.protect = event.protect;
  found->second.requirements = event.requirements;
}

void Evolver::operator()(const OwnershipReleased& event) const {
  state_.owned.erase(event.target);
  settle_loss(event.target);
}

void Evolver::operator()(const OwnershipRemoved& event) const {
  state_.owned.erase(event.target);
  settle_loss(event.target);
}

// Owned once, says a witness: it waits until a pass declares it or a person decides.
void Evolver::operator()(const TargetOrphaned& event) const {
  state_.owned.erase(event.target);
  if (!state_.loss) return;
  auto& list = state_.loss->last_known_owned;
  const auto at = std::lower_bound(list.begin(), list.end(), event.target);
  if (at == list.end() || *at != event.target) list.insert(at, event.target);
  if (!event.reference) return;
  Owned owned;
  owned.reference = *event.reference;
  owned.created = event.created;
  owned.protect = event.protect;
  owned.since = place_.seq;
  if (event.left) owned.left = *event.left;
  owned.requirements = event.requirements;
  state_.orphans[event.target] = std::move(owned);
}

void Evolver::operator()(const TargetContested& event) const {
  state_.contests[event.target].contested = true;
}

void Evolver::operator()(const TargetAcknowledged& event) const {
  if (event.until == kAcknowledgementLifted)
    state_.acknowledged.erase(event.target);
  else
    state_.acknowledged[event.target] = Acknowledgement{event.actor, event.reason, event.until};
}

void Evolver::operator()(const TargetKept& event) const {
  if (event.until_generation == 0)
    state_.kept.erase(event.target);
  else
    state_.kept[event.target] = Kept{event.until_generation, event.manifest, event.pass};
}

}  // namespace datum::core
