// Shared judgements: corrections, contests, holds, notifications. Pure functions of the state.
#include "judgement.hpp"

#include <algorithm>

namespace datum::core {

bool is_correction(const State& state, ActionKind kind) {
  if (!state.pass || !state.last_pass) return false;
  const bool corrects = kind == ActionKind::create || kind == ActionKind::update ||
                        kind == ActionKind::replace || kind == ActionKind::remove ||
                        kind == ActionKind::purge;
  return corrects &&
         state.last_pass->declaration.manifest == state.pass->started.declaration.manifest;
}

std::int64_t elapsed_ns(const Correction& earlier, const Correction& later) {
  if (!later.boot.empty() && earlier.boot == later.boot) return later.mono.ns - earlier.mono.ns;
  return std::max(later.wall.ns - earlier.wall.ns, later.mono.ns);
}

bool within_contest(const std::vector<Correction>& corrections) {
  if (corrections.size() < kContestedAfter) return false;
  std::int64_t elapsed = 0;
  for (auto i = corrections.size() - kContestedAfter + 1; i < corrections.size(); ++i)
    elapsed += elapsed_ns(corrections[i - 1], corrections[i]);
  return elapsed <= kContestedWithinNs;
}

bool is_contested_at(const Contest& contest, const Correction& now) {
  return contest.contested && !contest.corrections.empty() &&
         elapsed_ns(contest.corrections.back(), now) <= kContestedWithinNs;
}

static bool stands(const std::optional<Hold>& hold, WallNs now) {
  return hold && (hold->until.ns == 0 || hold->until > now);
}

bool is_held_at(const State& state, WallNs now) {
  return stands(state.local_hold, now) || stands(state.link_hold, now);
}

bool adds_notification(const PendingNotification* pending, bool restart,
                       const model::Reference& by) {
  if (pending == nullptr || (restart && !pending->restart)) return true;
  if (pending->started && !pending->again) return true;
  return pending->by.size() < kMaxNotificationCauses &&
         std::find(pending->by.begin(), pending->by.end(), by) == pending->by.end();
}

}  // namespace datum::core
