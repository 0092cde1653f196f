// Trees and claims against what is known. No file is opened here.
#include <algorithm>

#include "datum/selftest/oracle.hpp"

namespace datum::selftest {
namespace {

const Entry* find(const Tree& tree, const std::string& path) {
  const auto found = tree.find(path);
  return found == tree.end() ? nullptr : &found->second;
}

bool is_same(const Entry* one, const Entry* two) {
  return one == nullptr || two == nullptr ? one == two : *one == *two;
}

std::string describe(const Entry* entry) {
  if (entry == nullptr) return "nothing";
  char mode[8] = {};
  for (int i = 0; i < 4; ++i)
    mode[i] = static_cast<char>('0' + ((entry->mode >> (9 - 3 * i)) & 7U));
  if (entry->kind == Kind::symlink) return "a link";
  if (entry->kind == Kind::directory) return std::string("a folder, ") + mode;
  return "a file of " + std::to_string(entry->body.size()) + " bytes, " + mode;
}

bool is_temporary(const std::string& path) {
  return path.substr(path.rfind('/') + 1).starts_with(".datum-");
}

// Every name that a round is about.
std::set<std::string> names_of(const Expected& expected) {
  std::set<std::string> names = expected.strays;
  for (const auto* tree : {&expected.before, &expected.after})
    for (const auto& [path, entry] : *tree) names.insert(path);
  return names;
}

// What lay there before: a stray is a file of whoever put it there, `before` has it too.
bool changes(const Expected& expected, const std::string& path) {
  return !is_same(find(expected.before, path), find(expected.after, path));
}

std::uint32_t times(const std::map<std::string, std::uint32_t>& counts, const std::string& path) {
  const auto found = counts.find(path);
  return found == counts.end() ? 0 : found->second;
}

void judge_strangers(const std::set<std::string>& names, const Tree& seen, bool has_ended,
                     Violations& violations) {
  for (const auto& [path, entry] : seen) {
    if (names.contains(path) || (is_temporary(path) && !has_ended)) continue;
    violations.push_back(path + (is_temporary(path) ? ": a temp file is left behind"
                                                    : ": nobody declared it, and it is there"));
  }
}

void judge_claims(const Expected& expected, const Tree& seen, const Claims& claims,
                  Violations& violations) {
  for (const auto& [path, count] : claims.effects)
    if (!is_same(find(seen, path), find(expected.after, path)))
      violations.push_back(path + ": the journal claims that it was done, and there is " +
                           describe(find(seen, path)));
  for (const auto& path : claims.repeated)
    violations.push_back(path + ": it was done, and was announced once more");
}

void judge_deliveries(const Expected& expected, const Claims& claims, Violations& violations) {
  if (expected.reloads > claims.deliveries)
    violations.push_back("the unit was told, and no announcement of that is durable");
  if (claims.delivered > expected.reloads)
    violations.push_back("the journal claims a delivery, and the unit was not told");
}

}  // namespace

Violations judge_cut(const Expected& expected, const Tree& seen, const Claims& claims) {
  Violations violations;
  const auto names = names_of(expected);
  for (const auto& path : names) {
    const auto* now = find(seen, path);
    const bool is_old = is_same(now, find(expected.before, path));
    const bool is_new = is_same(now, find(expected.after, path));
    if (!is_old && !is_new)
      violations.push_back(path + ": neither the old nor the new: " + describe(now));
    if (!is_old && !claims.announced.contains(path))
      violations.push_back(path + ": it was changed, and no announcement of that is durable");
    if (!is_new && claims.passes_finished > 0 && !expected.has_failure)
      violations.push_back(path + ": the pass is recorded as finished, and there is " +
                           describe(now));
  }
  judge_claims(expected, seen, claims, violations);
  judge_deliveries(expected, claims, violations);
  judge_strangers(names, seen, false, violations);
  return violations;
}

namespace {

void judge_counts(const Expected& expected, const Claims& claims, Violations& violations) {
  for (const auto& path : names_of(expected)) {
    const auto effects = times(claims.effects, path);
    const bool is_due = changes(expected, path);
    const bool may_lack = expected.has_failure || claims.untellable.contains(path);
    if (effects > 1 || (effects == 1 && !is_due) || (effects == 0 && is_due && !may_lack))
      violations.push_back(path + ": it was to be done " + (is_due ? "once" : "never") +
                           ", and the journal claims it " + std::to_string(effects) + " times");
    const bool goes = find(expected.before, path) != nullptr &&
                      find(expected.after, path) == nullptr && !expected.strays.contains(path);
    const auto removals = times(claims.removals, path);
    if (removals > 1 || (removals == 1 && !goes) || (removals == 0 && goes && !may_lack))
      violations.push_back(path + ": its removal is recorded " + std::to_string(removals) +
                           " times");
  }
}

void judge_ownership(const Expected& expected, const Claims& claims, Violations& violations) {
  for (const auto& [path, entry] : expected.after)
    if (!claims.owned.contains(path))
      violations.push_back(path + ": it is declared and there, and not owned");
  for (const auto& path : claims.owned)
    if (!expected.after.contains(path))
      violations.push_back(path + ": it is owned, and not declared any more");
}

// Told once for what changed, and neither lost nor repeated where the unit can tell.
void judge_notification(const Expected& expected, const Claims& claims, Violations& violations) {
  const auto told = std::to_string(expected.reloads);
  if (claims.heard == 0 && !expected.has_failure)
    violations.push_back("the notification of the pass was never raised");
  if (claims.heard > 0 && expected.reloads == 0)
    violations.push_back("the notification of the pass was raised, and the unit was never told");
  if (claims.is_pending)
    violations.push_back("a notification is pending, and the unit was told " + told + " times");
  if (expected.reloads > 1 + claims.doubtful)
    violations.push_back("the unit was told " + told + " times of one change");
}

}  // namespace

Violations judge_end(const Expected& expected, const Tree& seen, const Claims& claims) {
  Violations violations;
  for (const auto& [path, entry] : expected.after)
    if (!is_same(find(seen, path), &entry))
      violations.push_back(path + ": after the last pass there is " + describe(find(seen, path)) +
                           ", and declared is " + describe(&entry));
  std::set<std::string> declared;
  for (const auto& [path, entry] : expected.after) declared.insert(path);
  judge_strangers(declared, seen, true, violations);
  judge_claims(expected, seen, claims, violations);
  judge_deliveries(expected, claims, violations);
  judge_counts(expected, claims, violations);
  judge_ownership(expected, claims, violations);
  judge_notification(expected, claims, violations);
  if (claims.passes_finished == 0) violations.push_back("no pass is recorded as finished");
  if (claims.has_leftovers)
    violations.push_back("the journal still knows of temp files after the last pass");
  return violations;
}

}  // namespace datum::selftest
