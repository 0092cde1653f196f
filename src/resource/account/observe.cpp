#include "../path_facts.hpp"
#include "../show.hpp"
#include "account_facts.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::resource {

namespace {

using model::Field;

std::optional<std::uint32_t> find_number(const model::Resource& resource, Field field) {
  const auto* value = resource.find(field);
  if (value == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(std::get<std::int64_t>(*value));
}

// What makes the account what it is for ownership: everything in its line but the password. Of a
// group not who is in it: that is a matter of Users.
Digest digest_of(const UserEntry& user) {
  const auto line = user.name + ":" + std::to_string(user.uid) + ":" + std::to_string(user.gid) +
                    ":" + user.comment + ":" + user.home + ":" + user.shell;
  return crypto::sha256(as_bytes(line));
}
Digest digest_of(const GroupEntry& group) {
  return crypto::sha256(as_bytes(group.name + ":" + std::to_string(group.gid)));
}

void compare_text(const model::Resource& resource, Field field, std::string_view name,
                  const std::string& found, core::Observation& seen) {
  if (resource.find(field) == nullptr) return;
  const auto wanted = resource.text(field);
  if (wanted != found) add_drift(seen, name, shown(wanted), found.empty() ? "empty" : shown(found));
}

void compare_number(const model::Resource& resource, Field field, std::string_view name,
                    std::uint32_t found, core::Observation& seen) {
  const auto wanted = find_number(resource, field);
  if (!wanted || *wanted == found) return;
  add_drift(seen, name, std::to_string(*wanted), std::to_string(found));
  add_obstacle(seen, core::Obstacle::not_corrected,
               std::string(name) + " is " + std::to_string(found));
}

void compare_groups(const model::Resource& resource, const AccountBook& book, const UserEntry& user,
                    core::Observation& seen) {
  if (const auto primary = resource.text(Field::primary_group); !primary.empty()) {
    const auto* group = book.find_group(primary);
    if (group == nullptr || group->gid != user.gid)
      add_drift(seen, "primaryGroup", shown(primary), shown(book.group_name(user.gid)));
  }
  if (resource.find(Field::groups) == nullptr) return;
  auto found = book.supplementary_groups(user);
  // The group that becomes primary is none of the others, and the one that ceases to be is not yet.
  const auto declared = resource.text(Field::primary_group);
  const auto wanted =
      wanted_groups(resource, declared.empty() ? book.group_name(user.gid) : declared);
  if (!declared.empty()) found.erase(std::string(declared));
  auto expected = wanted;
  if (keeps_other_groups(resource)) expected.insert(found.begin(), found.end());
  if (expected != found) add_drift(seen, "groups", shown(joined(wanted)), shown(joined(found)));
}

// Neither value is shown, nor anything that tells of one.
void compare_password(const model::Resource& resource, const UserEntry& user,
                      const std::string& secret, core::Observation& seen) {
  if (resource.find(Field::password_ref) != nullptr &&
      (!user.password || without_lock(*user.password) != secret))
    add_drift(seen, "passwordRef", std::string(kRedacted), std::string(kRedacted));
  if (resource.find(Field::locked) == nullptr) return;
  const bool wanted = resource.flag(Field::locked);
  if (is_locked(user.password) == wanted) return;
  add_drift(seen, "locked", wanted ? "true" : "false", wanted ? "false" : "true");
}

// Unlocking is all that is left to do, and there is nothing to unlock.
void add_password_obstacle(const model::Resource& resource, const UserEntry& user,
                           core::Observation& seen) {
  const bool unlocks = resource.find(Field::locked) != nullptr && !resource.flag(Field::locked);
  if (!unlocks || has_password(user.password) || resource.find(Field::password_ref) != nullptr)
    return;
  for (const auto& drift : seen.drifts)
    if (drift.field != "locked" && drift.field != "uid") return;
  if (seen.drifts.empty()) return;
  seen.obstacle = core::Obstacle::no_password;
  seen.obstacle_detail = {};
}

bool read_book(Sight& sight, core::Observation& seen, const AccountBook** book) {
  const auto read = sight.accounts();
  if (!read) {
    set_unknown(seen, "the account files cannot be read", read.error());
    return false;
  }
  *book = *read;
  return true;
}

}  // namespace

bool is_locked(const std::optional<std::string>& password) {
  return password && !password->empty() && (password->front() == '!' || password->front() == '*');
}

bool is_unset(const std::optional<std::string>& password) {
  return !password || *password == "!" || *password == "!!";
}

std::string_view without_lock(std::string_view password) {
  return password.starts_with('!') ? password.substr(1) : password;
}

bool has_password(const std::optional<std::string>& password) {
  if (!password) return false;
  const auto rest = without_lock(*password);
  return !rest.empty() && rest.front() != '!' && rest.front() != '*';
}

bool is_crypt_hash(std::string_view text) {
  if (text.size() < 4 || text.size() > 512 || text.front() != '$') return false;
  if (text.find('$', 1) == std::string_view::npos || text.find('$', 1) == 1) return false;
  for (const char c : text)
    if (c <= ' ' || c > '~' || c == ':' || c == '*' || c == '!' || c == ';' || c == '\\')
      return false;
  return true;
}

std::set<std::string> wanted_groups(const model::Resource& user, std::string_view primary) {
  std::set<std::string> names;
  if (const auto* value = user.find(Field::groups))
    for (const auto& name : std::get<std::vector<std::string>>(*value))
      if (name != primary) names.insert(name);
  return names;
}

bool keeps_other_groups(const model::Resource& user) {
  return user.text(Field::groups_mode) == "include";
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

void observe_user(Sight& sight, const model::Resource& resource, core::Observation& seen) {
  const AccountBook* book = nullptr;
  if (!read_book(sight, seen, &book)) return;
  const std::string name = resource.target.name;
  if (auto problem = book->user_problem(name); !problem.empty())
    return set_unknown(seen, std::move(problem));
  seen.warning = book->user_discord(name);
  const auto* user = book->find_user(name);
  if (user == nullptr) {
    seen.found = core::Found::absent;
  } else {
    seen.found = core::Found::present;
    seen.content = digest_of(*user);
  }
  if (resource.absent()) {
    if (user != nullptr && user->uid == 0)
      return set_unknown(seen, "refused: an account with uid 0 is never removed");
    if (user != nullptr) add_state_drift(seen, true);
    return;
  }
  const auto secret = resource.text(Field::password_ref);
  const auto hash =
      secret.empty() ? Result<std::string>(std::string()) : sight.password_hash(secret);
  if (!hash) {
    set_unknown(seen, hash.error().message());
    return add_obstacle(seen, core::Obstacle::unresolved_secret, seen.reason);
  }
  if (!secret.empty() && !book->has_shadow())
    return set_unknown(seen,
                       "there is no /etc/shadow: the hash would stand in /etc/passwd, which "
                       "everybody reads; make it with pwconv");
  if (user == nullptr) return add_state_drift(seen, false);
  compare_number(resource, Field::uid, "uid", user->uid, seen);
  compare_groups(resource, *book, *user, seen);
  compare_text(resource, Field::home, "home", user->home, seen);
  compare_text(resource, Field::shell, "shell", user->shell, seen);
  compare_text(resource, Field::comment, "comment", user->comment, seen);
  compare_password(resource, *user, *hash, seen);
  add_password_obstacle(resource, *user, seen);
}

void observe_group(Sight& sight, const model::Resource& resource, core::Observation& seen) {
  const AccountBook* book = nullptr;
  if (!read_book(sight, seen, &book)) return;
  const std::string name = resource.target.name;
  if (auto problem = book->group_problem(name); !problem.empty())
    return set_unknown(seen, std::move(problem));
  seen.warning = book->group_discord(name);
  const auto* group = book->find_group(name);
  seen.found = group == nullptr ? core::Found::absent : core::Found::present;
  if (group != nullptr) seen.content = digest_of(*group);
  if (resource.absent() && group != nullptr && group->gid == 0)
    return set_unknown(seen, "refused: a group with gid 0 is never removed");
  if (resource.absent() == (group != nullptr)) return add_state_drift(seen, resource.absent());
  if (group != nullptr) compare_number(resource, Field::gid, "gid", group->gid, seen);
}

void observe_leaving_account(Sight& sight, core::LeavingObservation& seen) {
  const auto book = sight.accounts();
  const std::string name = seen.target.name;
  const bool is_user = seen.target.family == model::TargetFamily::user;
  seen.reason = book ? (is_user ? (*book)->user_problem(name) : (*book)->group_problem(name))
                     : book.error().message();
  if (!seen.reason.empty()) return;
  seen.found = core::Found::absent;
  const auto* user = is_user ? (*book)->find_user(name) : nullptr;
  const auto* group = is_user ? nullptr : (*book)->find_group(name);
  if (user == nullptr && group == nullptr) return;
  seen.found = core::Found::present;
  seen.content = user != nullptr ? digest_of(*user) : digest_of(*group);
  if (user != nullptr && !user->home.empty())
    seen.note = "its home " + shown(user->home) + " stays";
}

}  // namespace datum::resource
