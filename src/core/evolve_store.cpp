// Events of the store, the lifecycle, holds and declarations.
#include <algorithm>
#include <utility>

#include "evolve.hpp"

namespace datum::core {

void Evolver::operator()(const StoreCreated& event) const {
  state_.store = event.store;
  state_.root = event.root;
  state_.host = event.host;
  state_.source = event.source;
  state_.version = event.version;
  // Whoever creates a store has it open: no record of its own says so.
  state_.open = true;
  state_.boot = place_.boot;
}

// Another version of the program may survive what killed the last one.
void Evolver::operator()(const StoreOpened& event) const {
  if (event.version != state_.version) {
    state_.quarantined.clear();
    state_.suspects.clear();
  }
  state_.open = true;
  state_.boot = event.boot;
  state_.version = event.version;
}

void Evolver::operator()(const StoreClosed&) const {
  state_.open = false;
}

// What was lost before and is undecided still stays so.
void Evolver::operator()(const StoreLossDetected& event) const {
  auto before = std::exchange(state_.loss, event);
  auto& list = state_.loss->last_known_owned;
  if (before)
    list.insert(list.end(), before->last_known_owned.begin(), before->last_known_owned.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  state_.lost = event.witness;
  state_.lost_declaration = event.declaration;
}

void Evolver::operator()(const LifecycleChanged& event) const {
  state_.lifecycle = event.to;
}

void Evolver::operator()(const HoldSet& event) const {
  auto& hold = event.origin == HoldOrigin::link ? state_.link_hold : state_.local_hold;
  hold = Hold{event.origin, event.until, event.reason, event.actor};
}

void Evolver::operator()(const HoldLifted& event) const {
  auto& hold = event.origin == HoldOrigin::link ? state_.link_hold : state_.local_hold;
  hold.reset();
}

void Evolver::operator()(const VersionConfirmed& event) const {
  state_.confirmed_version = event.version;
  if (state_.rolled_back && state_.rolled_back->to != event.version) state_.rolled_back.reset();
}

// What was put back had been confirmed before, if by a record that is gone meanwhile.
void Evolver::operator()(const RolledBack& event) const {
  state_.rolled_back = event;
  state_.confirmed_version = event.to;
}

void Evolver::operator()(const DeclarationStored& event) const {
  state_.stored = event.declaration;
}

// A newer declaration lifts what was kept until it, and gives quarantined actions another chance.
// Another mesh, or another epoch of one, numbers anew.
void Evolver::operator()(const DeclarationAccepted& event) const {
  const auto& next = event.declaration;
  const auto before = std::exchange(state_.accepted, next);
  const bool counts_on = !before || (before->mesh == next.mesh && before->epoch == next.epoch);
  std::erase_if(state_.kept, [&](const auto& entry) {
    return !counts_on || entry.second.until_generation <= next.number;
  });
  state_.quarantined.clear();
  state_.suspects.clear();
}

void Evolver::operator()(const RebootRequired& event) const {
  state_.reboot_required_by = event.by;
}

void Evolver::operator()(const RebootSeen&) const {
  state_.reboot_required_by.clear();
}

}  // namespace datum::core
