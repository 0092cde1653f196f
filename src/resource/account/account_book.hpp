// The root's local accounts, from passwd, shadow, group and gshadow alone: never through NSS, so
// that a name means the same on a dead machine's disk. Read once for one look; belongs to one
// thread and is never brought up to date.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"

namespace datum::resource {

class Sight;

struct UserEntry {
  std::string name;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string comment;
  std::string home;
  std::string shell;
  // The crypt field, of shadow or, where it stands there, of passwd; nothing where shadow has no
  // line. Never leaves this process.
  std::optional<std::string> password;
};

struct GroupEntry {
  std::string name;
  std::uint32_t gid = 0;
  std::set<std::string> members;
};

class AccountBook {
 public:
  // A missing file is an empty one. Lines of NIS (+, -) are passed over, as the tools do; a name
  // that stands twice, or whose line is not of the format, is a `problem`.
  [[nodiscard]] Status read(Sight& sight);

  [[nodiscard]] const UserEntry* find_user(std::string_view name) const;
  [[nodiscard]] const GroupEntry* find_group(std::string_view name) const;
  // "staff", or the number where no group has it.
  [[nodiscard]] std::string group_name(std::uint32_t gid) const;
  // All groups that list the user, without the primary one.
  [[nodiscard]] std::set<std::string> supplementary_groups(const UserEntry& user) const;

  // Without it the tools put a hash into passwd, which everybody reads.
  [[nodiscard]] bool has_shadow() const { return has_shadow_; }
  // Why nothing can be said of the name, and no tool is to be let near it: "/etc/group: adm stands
  // twice". Empty if nothing is wrong.
  [[nodiscard]] std::string user_problem(std::string_view name) const;
  [[nodiscard]] std::string group_problem(std::string_view name) const;
  // Where the two files of a group or user do not agree, in words; empty where they do.
  [[nodiscard]] std::string user_discord(const std::string& name) const;
  [[nodiscard]] std::string group_discord(std::string_view name) const;

 private:
  template <class T>
  using ByName = std::map<std::string, T, std::less<>>;

  void add_users(std::string_view passwd);
  void add_passwords(std::string_view shadow);
  void add_groups(std::string_view group);
  void add_group_shadows(std::string_view gshadow);

  ByName<UserEntry> users_;
  ByName<GroupEntry> groups_;
  ByName<std::set<std::string>> group_shadows_;
  ByName<std::string> user_problems_, group_problems_;
  bool has_shadow_ = false, has_group_shadow_ = false;
  ByName<std::string> shadows_;
};

// Who holds the lock that changes of accounts need, in words ("pid 812 (apt-get)"); empty if nobody
// does, or it cannot be told.
[[nodiscard]] std::string find_lock_holder(Sight& sight);

}  // namespace datum::resource
