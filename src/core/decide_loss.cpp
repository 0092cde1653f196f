// Decisions about a store that was lost: that it is told, with all that was owned, and what becomes
// of the orphans.
#include "bounds.hpp"
#include "decisions.hpp"

namespace datum::core {
namespace {

// As many as one record holds; all of them are told one by one.
std::vector<model::Target> listed(const std::map<model::Target, Owned>& owned) {
  std::vector<model::Target> list;
  std::size_t bytes = 0;
  for (const auto& [target, record] : owned) {
    bytes += kElementOverhead + target.name.size();
    if (bytes > kMaxRecordBytes) break;
    list.push_back(target);
  }
  return list;
}

TargetOrphaned orphaned(const model::Target& target, const Owned& owned) {
  return {target, owned.reference, owned.created, owned.protect, owned.left, owned.requirements};
}

Event decided(const model::Target& target, const Owned& owned, OrphanDecision decision,
              const Actor& actor) {
  if (decision == OrphanDecision::remove && owned.created)
    return OwnershipCreated{0,          target, owned.reference, owned.protect, owned.requirements,
                            owned.left, actor};
  return OwnershipAdopted{0,          target, owned.reference, owned.protect, owned.requirements,
                          owned.left, actor};
}

}  // namespace

std::string_view to_string(OrphanDecision value) {
  return value == OrphanDecision::remove ? "remove" : "adopt";
}

void append_loss(const State& state, const LostStore& lost, Events& events) {
  auto owned = lost.owned;
  std::erase_if(owned, [&](const auto& entry) { return state.owned.contains(entry.first); });
  events.push_back(StoreLossDetected{lost.kind, listed(owned), lost.witness, lost.declaration});
  for (const auto& [target, record] : owned) events.push_back(orphaned(target, record));
}

Result<Events> Decider::operator()(const RecordLoss& command) const {
  if (!state_.open) return fail(ErrorCode::conflict, "the store is not open");
  Events events;
  append_loss(state_, command.lost, events);
  return events;
}

Result<Events> Decider::operator()(const DecideOrphans& command) const {
  Events events;
  for (const auto& target : command.targets) {
    const auto orphan = state_.orphans.find(target);
    if (orphan == state_.orphans.end())
      return fail(ErrorCode::refused,
                  target.text() + " is no orphan of a lost store that waits for a decision");
    events.push_back(decided(target, orphan->second, command.decision, command.actor));
  }
  return events;
}

}  // namespace datum::core
