#include "account_book.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "../show.hpp"
#include "../sight.hpp"

namespace datum::resource {

namespace {

// A million accounts (os::read_accounts has the same limit).
constexpr std::size_t kMaxAccountFile = 64 * 1024 * 1024;

// Nothing where there is no such file.
Result<std::optional<std::string>> read_text(Sight& sight, const std::string& path) {
  const auto where = sight.walker().locate(path);
  if (!where && where.error().code() == ErrorCode::not_found) return std::optional<std::string>();
  if (!where) return fail(where.error());
  auto& files = sight.files();
  const auto file = files.open_file(where->folder->handle, where->name, os::Access::read);
  if (!file && file.error().code() == ErrorCode::not_found) return std::optional<std::string>();
  if (!file) return fail(Error(file.error()).context(path));
  std::string text;
  const auto room = sight.buffer();
  for (;;) {
    DATUM_ASSIGN(const auto count, files.read(*file, room));
    if (count == 0) return std::optional(std::move(text));
    text.append(as_text(room.first(count)));
    // The tools end a line there and write the file again without the rest of it.
    if (text.find('\0', text.size() - count) != std::string::npos)
      return fail(
          ErrorCode::corrupt,
          path + ": there is a NUL byte in it; mend it by hand, the tools would lose lines");
    if (text.size() > kMaxAccountFile)
      return fail(ErrorCode::limit_exceeded, path + ": above 64 MiB");
  }
}

using Fields = std::vector<std::string_view>;

Fields split(std::string_view line, char by) {
  Fields fields;
  for (;;) {
    const auto end = line.find(by);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

// The fields of each line that has a name and at least `count` of them; the name of each other one.
template <class Take, class Spoilt>
void for_each_entry(std::string_view text, std::size_t count, Take take, Spoilt spoilt) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool is_nis = !line.empty() && (line.front() == '+' || line.front() == '-');
    if (is_nis || line.empty() || line.front() == '#') continue;
    const auto fields = split(line, ':');
    if (fields[0].empty()) continue;
    if (fields.size() >= count)
      take(fields);
    else
      spoilt(fields[0]);
  }
}

std::optional<std::uint32_t> find_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

std::set<std::string> members_of(std::string_view text) {
  std::set<std::string> members;
  for (const auto name : split(text, ','))
    if (!name.empty()) members.emplace(name);
  return members;
}

std::string twice(const char* file, std::string_view name) {
  return std::string(file) + ": " + std::string(name) + " stands twice; mend it by hand";
}

// The tools pass such a line over, and would add another one with the same name.
std::string malformed(const char* file, std::string_view name) {
  return std::string(file) + ": the line of " + shown(name) +
         " is not of the format; mend it by hand";
}

template <class Map>
std::string text_of(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? std::string() : found->second;
}

}  // namespace

Status AccountBook::read(Sight& sight) {
  DATUM_ASSIGN(const auto passwd, read_text(sight, "/etc/passwd"));
  DATUM_ASSIGN(const auto shadow, read_text(sight, "/etc/shadow"));
  DATUM_ASSIGN(const auto group, read_text(sight, "/etc/group"));
  DATUM_ASSIGN(const auto gshadow, read_text(sight, "/etc/gshadow"));
  has_shadow_ = shadow.has_value();
  has_group_shadow_ = gshadow.has_value();
  add_passwords(shadow.value_or(std::string()));
  add_users(passwd.value_or(std::string()));
  add_groups(group.value_or(std::string()));
  add_group_shadows(gshadow.value_or(std::string()));
  return {};
}

namespace {

template <class Map>
auto add_malformed(Map& problems, const char* file) {
  return [&problems, file](std::string_view name) {
    problems.emplace(std::string(name), malformed(file, name));
  };
}

}  // namespace

void AccountBook::add_passwords(std::string_view shadow) {
  constexpr const char* kFile = "/etc/shadow";
  const auto take = [&](const Fields& fields) {
    const bool fresh = shadows_.emplace(std::string(fields[0]), std::string(fields[1])).second;
    if (!fresh) user_problems_.emplace(std::string(fields[0]), twice(kFile, fields[0]));
  };
  for_each_entry(shadow, 2, take, add_malformed(user_problems_, kFile));
}

void AccountBook::add_users(std::string_view passwd) {
  constexpr const char* kFile = "/etc/passwd";
  const auto spoilt = add_malformed(user_problems_, kFile);
  const auto take = [&](const Fields& fields) {
    const auto uid = find_number(fields[2]);
    const auto gid = find_number(fields[3]);
    if (!uid || !gid) return spoilt(fields[0]);
    UserEntry user{
        std::string(fields[0]), *uid,        *gid, std::string(fields[4]), std::string(fields[5]),
        std::string(fields[6]), std::nullopt};
    const auto own = shadows_.find(fields[0]);
    if (fields[1] != "x")
      user.password = std::string(fields[1]);
    else if (own != shadows_.end())
      user.password = own->second;
    if (!users_.emplace(user.name, user).second)
      user_problems_.emplace(user.name, twice(kFile, user.name));
  };
  for_each_entry(passwd, 7, take, spoilt);
}

void AccountBook::add_groups(std::string_view group) {
  constexpr const char* kFile = "/etc/group";
  const auto spoilt = add_malformed(group_problems_, kFile);
  const auto take = [&](const Fields& fields) {
    const auto gid = find_number(fields[2]);
    if (!gid) return spoilt(fields[0]);
    GroupEntry entry{std::string(fields[0]), *gid, members_of(fields[3])};
    if (!groups_.emplace(entry.name, entry).second)
      group_problems_.emplace(entry.name, twice(kFile, entry.name));
  };
  for_each_entry(group, 4, take, spoilt);
}

void AccountBook::add_group_shadows(std::string_view gshadow) {
  constexpr const char* kFile = "/etc/gshadow";
  const auto take = [&](const Fields& fields) {
    const std::string name(fields[0]);
    if (!group_shadows_.emplace(name, members_of(fields[3])).second)
      group_problems_.emplace(name, twice(kFile, name));
  };
  for_each_entry(gshadow, 4, take, add_malformed(group_problems_, kFile));
}

const UserEntry* AccountBook::find_user(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

const GroupEntry* AccountBook::find_group(std::string_view name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

std::string AccountBook::group_name(std::uint32_t gid) const {
  for (const auto& [name, group] : groups_)
    if (group.gid == gid) return name;
  return std::to_string(gid);
}

std::set<std::string> AccountBook::supplementary_groups(const UserEntry& user) const {
  std::set<std::string> names;
  for (const auto& [name, group] : groups_)
    if (group.gid != user.gid && group.members.contains(user.name)) names.insert(name);
  return names;
}

std::string AccountBook::user_problem(std::string_view name) const {
  return text_of(user_problems_, name);
}

std::string AccountBook::group_problem(std::string_view name) const {
  return text_of(group_problems_, name);
}

std::string AccountBook::user_discord(const std::string& name) const {
  const bool there = find_user(name) != nullptr;
  const bool hidden = shadows_.contains(name);
  if (there && !hidden && has_shadow_)
    return "/etc/shadow has no line for " + std::string(name) + ", which is in /etc/passwd";
  if (!there && hidden)
    return "/etc/shadow has a line for " + std::string(name) + ", which is not in /etc/passwd";
  std::set<std::string> groups;  // of which only one of the two files says that the user is in it
  for (const auto& [group, hidden_members] : group_shadows_) {
    const auto* open = find_group(group);
    if (open != nullptr && open->members.contains(name) != hidden_members.contains(name))
      groups.insert(group);
  }
  if (groups.empty()) return {};
  std::string text;
  for (const auto& group : groups) text += (text.empty() ? "" : ", ") + group;
  return "/etc/group and /etc/gshadow do not agree on whether " + std::string(name) + " is in " +
         text;
}

std::string AccountBook::group_discord(std::string_view name) const {
  if (!has_group_shadow_) return {};
  const auto* group = find_group(name);
  const auto hidden = group_shadows_.find(name);
  const std::string shown(name);
  if (group != nullptr && hidden == group_shadows_.end())
    return "/etc/gshadow has no line for " + shown + ", which is in /etc/group";
  if (group == nullptr && hidden != group_shadows_.end())
    return "/etc/gshadow has a line for " + shown + ", which is not in /etc/group";
  if (group != nullptr && group->members != hidden->second)
    return "/etc/group and /etc/gshadow do not agree on who is in " + shown;
  return {};
}

namespace {

std::string name_process(Sight& sight, const os::Handle& proc, const std::string& pid) {
  auto& files = sight.files();
  const auto folder = files.open_directory(proc, pid, os::Follow::no);
  if (!folder) return {};
  const auto file = files.open_file(*folder, "comm", os::Access::read);
  std::array<std::byte, 64> room{};
  const auto count = file ? files.read(*file, room) : Result<std::size_t>(0);
  std::string name(as_text(ByteView(room).first(count.value_or(0))));
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return "pid " + pid + (name.empty() ? "" : " (" + name + ")");
}

bool is_number(std::string_view text) {
  return find_number(text).has_value();
}

// A lock file of the tools says who made it; one whose maker is dead holds nobody up.
std::string find_lock_file_owner(Sight& sight, const os::Handle& proc) {
  for (const auto* path :
       {"/etc/passwd.lock", "/etc/shadow.lock", "/etc/group.lock", "/etc/gshadow.lock"}) {
    const auto text = read_text(sight, path);
    if (!text || !*text) continue;
    std::string pid = **text;
    while (!pid.empty() && (pid.back() == '\0' || pid.back() == '\n')) pid.pop_back();
    if (!is_number(pid)) continue;
    if (auto who = name_process(sight, proc, pid); !who.empty()) return who + " by " + path;
  }
  return {};
}

// "1: POSIX  ADVISORY  WRITE 812 08:01:131 0 EOF": the inode's file system is not compared; the
// device numbers of /proc are not those of stat on every file system.
// The tools lock this machine's own file under another root too; only what runs in that root by
// chroot locks the root's.
std::vector<std::string> lock_inodes(Sight& sight) {
  std::vector<std::string> inodes;
  const auto add = [&](const os::Handle& etc) {
    if (const auto stat = sight.files().stat_at(etc, ".pwd.lock"))
      inodes.push_back(":" + std::to_string(stat->inode));
  };
  if (const auto etc = sight.files().open_root("/etc")) add(*etc);
  if (const auto where = sight.walker().locate("/etc/.pwd.lock")) add(where->folder->handle);
  return inodes;
}

std::string find_record_lock_owner(Sight& sight, const os::Handle& proc) {
  const auto inodes = lock_inodes(sight);
  auto& files = sight.files();
  const auto file = files.open_file(proc, "locks", os::Access::read);
  if (!file) return {};
  std::string text;
  const auto room = sight.buffer();
  while (text.size() < kMaxAccountFile) {
    const auto count = files.read(*file, room);
    if (!count || *count == 0) break;
    text.append(as_text(room.first(*count)));
  }
  for (const auto line : split(text, '\n')) {
    Fields words;
    for (const auto word : split(line, ' '))
      if (!word.empty()) words.push_back(word);
    if (words.size() < 6 || words[1] == "->") continue;
    const bool is_it = std::any_of(inodes.begin(), inodes.end(), [&](const std::string& inode) {
      return words[5].ends_with(inode);
    });
    if (!is_it) continue;
    if (auto who = name_process(sight, proc, std::string(words[4])); !who.empty())
      return who + " by /etc/.pwd.lock";
  }
  return {};
}

}  // namespace

std::string find_lock_holder(Sight& sight) {
  const auto proc = sight.files().open_root("/proc");
  if (!proc) return {};
  auto who = find_record_lock_owner(sight, *proc);
  return who.empty() ? find_lock_file_owner(sight, *proc) : who;
}

}  // namespace datum::resource
