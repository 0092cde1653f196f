#include "pass_chain.hpp"

#include <algorithm>

namespace datum::inspect {

namespace {

// What a recovery found is the break's doing and no failure of its own.
bool went_wrong(const ActionStory& action) {
  if (action.recovered) return false;
  return action.phase == core::Phase::failed || action.phase == core::Phase::skipped;
}

using ByReference = std::map<model::Reference, const ActionStory*>;

// The first of its causes that has an action here and did not succeed.
const ActionStory* cause_of(const PassStory& story, const ByReference& places,
                            const ActionStory& action) {
  for (const auto& reference : action.blocked_by) {
    const auto place = places.find(reference);
    if (place == places.end() || place->second == &action) continue;
    if (place->second->phase != core::Phase::succeeded) return place->second;
  }
  for (const auto ordinal : action.after) {
    const auto* cause = story.find(ordinal);
    if (cause == nullptr) continue;
    if (went_wrong(*cause) || cause->phase == core::Phase::blocked) return cause;
  }
  return nullptr;
}

// Each step goes to an action that is not in the chain yet, so a damaged plan cannot make it long.
std::vector<std::uint32_t> chain_of(const PassStory& story, const ByReference& places,
                                    const ActionStory& action) {
  std::vector<std::uint32_t> chain;
  const auto* at = &action;
  while (at->phase == core::Phase::blocked) {
    at = cause_of(story, places, *at);
    if (at == nullptr || at->ordinal == action.ordinal) break;
    if (std::find(chain.begin(), chain.end(), at->ordinal) != chain.end()) break;
    chain.push_back(at->ordinal);
  }
  return chain;
}

// Of those that failed, the one that most of the others wait for; of equals the one that ended
// first.
std::optional<std::uint32_t> find_first_failure(const PassStory& story) {
  std::map<std::uint32_t, std::size_t> waiting;
  for (const auto& action : story.actions)
    if (!action.chain.empty()) ++waiting[action.chain.back()];
  const ActionStory* first = nullptr;
  for (const auto& action : story.actions) {
    if (!went_wrong(action)) continue;
    if (first == nullptr) {
      first = &action;
      continue;
    }
    const auto many = waiting[action.ordinal];
    const auto most = waiting[first->ordinal];
    if (many > most || (many == most && action.ended.seq < first->ended.seq)) first = &action;
  }
  if (first == nullptr) return std::nullopt;
  return first->ordinal;
}

}  // namespace

void find_chains(PassStory& story) {
  ByReference places;
  for (const auto& action : story.actions)
    if (!action.reference.name.empty()) places.emplace(action.reference, &action);
  for (auto& action : story.actions)
    if (action.phase == core::Phase::blocked) action.chain = chain_of(story, places, action);
  story.first_failure = find_first_failure(story);
}

}  // namespace datum::inspect
