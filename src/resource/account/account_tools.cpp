#include "account_tools.hpp"

#include <algorithm>

#include "account_facts.hpp"

namespace datum::resource {

namespace {

using model::Field;
using Arguments = std::vector<std::string>;

bool has_change(const core::Action& action, std::string_view field) {
  return std::any_of(action.changes.begin(), action.changes.end(),
                     [field](const core::FieldDrift& drift) { return drift.field == field; });
}

// The tools' own way to another root: they read and write its files, and run from this machine.
Arguments begin(const char* tool, const AccountJob& job) {
  Arguments argv{std::string("/usr/sbin/") + tool};
  if (job.root != "/") argv.insert(argv.end(), {"--prefix", job.root});
  return argv;
}

void add(Arguments& argv, const char* option, std::string value) {
  argv.emplace_back(option);
  argv.push_back(std::move(value));
}

void add_number(Arguments& argv, const model::Resource& resource, Field field, const char* option) {
  if (const auto* value = resource.find(field))
    add(argv, option, std::to_string(std::get<std::int64_t>(*value)));
}

ToolRun finish(Arguments argv, const std::string& name) {
  argv.push_back(name);
  return {std::move(argv), {}};
}

std::string list_of(const std::set<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// chpasswd reads "NAME:HASH" from its standard input; nothing of it can be seen from outside. It
// has no --prefix.
ToolRun set_password(const AccountJob& job, bool locked) {
  Arguments argv{"/usr/sbin/chpasswd"};
  if (job.root != "/") add(argv, "--root", job.root);
  argv.emplace_back("--encrypted");
  return {std::move(argv),
          job.action.target.name.str() + ":" + (locked ? "!" : "") + job.hash + "\n"};
}

// A group of the user's own name that is there already becomes the primary one where it is
// declared, as the primary one or as a Group; otherwise useradd refuses, in words.
ToolRun make_user(const AccountJob& job) {
  const auto& user = *job.resource;
  auto argv = begin("useradd", job);
  argv.emplace_back("--no-create-home");
  if (user.flag(Field::system)) argv.emplace_back("--system");
  add_number(argv, user, Field::uid, "--uid");
  const auto primary = user.text(Field::primary_group);
  if (!primary.empty())
    add(argv, "--gid", std::string(primary));
  else if (job.group_is_declared && job.book.find_group(job.action.target.name) != nullptr)
    add(argv, "--gid", job.action.target.name);
  if (const auto groups = wanted_groups(user, primary); !groups.empty())
    add(argv, "--groups", list_of(groups));
  if (user.find(Field::home) != nullptr)
    add(argv, "--home-dir", std::string(user.text(Field::home)));
  if (user.find(Field::shell) != nullptr)
    add(argv, "--shell", std::string(user.text(Field::shell)));
  if (user.find(Field::comment) != nullptr)
    add(argv, "--comment", std::string(user.text(Field::comment)));
  return finish(std::move(argv), job.action.target.name);
}

std::vector<ToolRun> create_user(const AccountJob& job) {
  std::vector<ToolRun> runs{make_user(job)};
  // What useradd makes is locked until there is a password.
  if (!job.hash.empty()) runs.push_back(set_password(job, job.resource->flag(Field::locked)));
  return runs;
}

void change_groups(Arguments& argv, const AccountJob& job) {
  const auto* user = job.book.find_user(job.action.target.name);
  const auto declared = job.resource->text(Field::primary_group);
  const auto primary =
      declared.empty() && user != nullptr ? job.book.group_name(user->gid) : std::string(declared);
  if (keeps_other_groups(*job.resource)) argv.emplace_back("--append");
  add(argv, "--groups", list_of(wanted_groups(*job.resource, primary)));
}

std::vector<ToolRun> update_user(const AccountJob& job) {
  const auto& user = *job.resource;
  const auto change = [&](std::string_view field) { return has_change(job.action, field); };
  std::vector<ToolRun> runs;
  auto argv = begin("usermod", job);
  const auto bare = argv.size();
  if (change("primaryGroup")) add(argv, "--gid", std::string(user.text(Field::primary_group)));
  if (change("groups")) change_groups(argv, job);
  if (change("home")) add(argv, "--home", std::string(user.text(Field::home)));
  if (change("shell")) add(argv, "--shell", std::string(user.text(Field::shell)));
  if (change("comment")) add(argv, "--comment", std::string(user.text(Field::comment)));
  if (argv.size() > bare) runs.push_back(finish(std::move(argv), job.action.target.name));
  const auto* now = job.book.find_user(job.action.target.name);
  const bool by_somebody = now != nullptr && is_locked(now->password) && !is_unset(now->password);
  const bool locked = user.flag(Field::locked, by_somebody && user.find(Field::locked) == nullptr);
  if (change("passwordRef")) {
    runs.push_back(set_password(job, locked));
  } else if (change("locked")) {
    argv = begin("usermod", job);
    argv.emplace_back(locked ? "--lock" : "--unlock");
    runs.push_back(finish(std::move(argv), job.action.target.name));
  }
  return runs;
}

ToolRun make_group(const AccountJob& job) {
  auto argv = begin("groupadd", job);
  if (job.resource->flag(Field::system)) argv.emplace_back("--system");
  add_number(argv, *job.resource, Field::gid, "--gid");
  return finish(std::move(argv), job.action.target.name);
}

}  // namespace

std::vector<ToolRun> tools_for(const AccountJob& job) {
  using core::ActionKind;
  const bool is_user = job.action.target.family == model::TargetFamily::user;
  switch (job.action.kind) {
    case ActionKind::remove:
    case ActionKind::leave:
      return {finish(begin(is_user ? "userdel" : "groupdel", job), job.action.target.name)};
    case ActionKind::create:
      if (is_user) return create_user(job);
      return {make_group(job)};
    case ActionKind::update:
      if (is_user) return update_user(job);
      return {};
    default:
      return {};
  }
}

ToolRun remake_group(const AccountJob& job, std::uint32_t gid) {
  auto argv = begin("groupadd", job);
  add(argv, "--gid", std::to_string(gid));
  return finish(std::move(argv), job.action.target.name);
}

}  // namespace datum::resource
