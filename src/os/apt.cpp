#include "datum/os/apt.hpp"

#include <algorithm>

namespace datum::os {

namespace {

// apt waits this long by itself for a lock that was free a moment ago.
constexpr const char* kLockTimeout = "DPkg::Lock::Timeout=60";

std::vector<std::string> environment(bool replace_conffiles) {
  return {
      "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
      "LANG=C.UTF-8",
      "HOME=/root",
      "TERM=dumb",
      "DEBIAN_FRONTEND=noninteractive",
      "APT_LISTCHANGES_FRONTEND=none",
      // Services are restarted by what is declared, not by what a package's hook finds.
      "NEEDRESTART_SUSPEND=1",
      "NEEDRESTART_MODE=l",
      replace_conffiles ? "UCF_FORCE_CONFFNEW=1" : "UCF_FORCE_CONFFOLD=1",
  };
}

void add_option(std::vector<std::string>& argv, std::string value) {
  argv.emplace_back("-o");
  argv.push_back(std::move(value));
}

bool is_other_root(std::string_view root) {
  return root != "/";
}

void add_root(std::vector<std::string>& argv, std::string_view root) {
  if (!is_other_root(root)) return;
  const std::string path(root);
  add_option(argv, "Dir=" + path);
  add_option(argv, "Dir::State::status=" + path + "/var/lib/dpkg/status");
  add_option(argv, "Dir::Bin::methods=/usr/lib/apt/methods");
  add_option(argv, "DPkg::Options::=--root=" + path);
  add_option(argv, "DPkg::Options::=--force-script-chrootless");
}

Tool apt_get(std::string_view root, bool replace_conffiles) {
  Tool tool;
  tool.argv = {"/usr/bin/apt-get", "-q", "-y"};
  add_root(tool.argv, root);
  tool.environment = environment(replace_conffiles);
  return tool;
}

Tool install(std::string_view root, const PackageOrder& order, bool simulate) {
  auto tool = apt_get(root, order.replace_conffiles);
  auto& argv = tool.argv;
  if (simulate) argv.emplace_back("-s");
  add_option(argv, "Dpkg::Use-Pty=0");
  add_option(argv, kLockTimeout);
  add_option(argv, "APT::Get::AutomaticRemove=0");
  // apt believes its copy of dpkg's database by the second in which that changed.
  add_option(argv, "Dir::Cache::pkgcache=");
  add_option(argv, order.replace_conffiles ? "Dpkg::Options::=--force-confnew"
                                           : "Dpkg::Options::=--force-confold");
  const bool removes = std::any_of(order.wishes.begin(), order.wishes.end(),
                                   [](const PackageWish& wish) { return wish.remove; });
  // What changed since the simulation must not remove anything either; that one names what it
  // would.
  if (!removes && !simulate) argv.emplace_back("--no-remove");
  if (order.allow_downgrade) argv.emplace_back("--allow-downgrades");
  if (order.change_held) argv.emplace_back("--allow-change-held-packages");
  if (order.reinstall) argv.emplace_back("--reinstall");
  argv.emplace_back("install");
  argv.emplace_back("--");
  for (const auto& wish : order.wishes) {
    auto text = wish.name;
    if (wish.remove)
      text += "-";
    else if (!wish.version.empty())
      text += "=" + wish.version;
    argv.push_back(std::move(text));
  }
  return tool;
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view take_spaced_word(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const auto end = std::min(text.find(' '), text.size());
  const auto word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// "foo [1.0] (2.0 Debian:12/stable [amd64])": what is there now and what would be, where given.
ForeseenChange read_change(ForeseenChange::Kind kind, std::string_view line,
                           std::string_view native) {
  ForeseenChange change;
  change.kind = kind;
  auto name = take_spaced_word(line);
  const auto colon = name.find(':');
  if (colon != std::string_view::npos && name.substr(colon + 1) == native)
    name = name.substr(0, colon);
  change.name = name;
  auto word = take_spaced_word(line);
  if (word.size() > 2 && word.front() == '[' && word.back() == ']') {
    change.from = word.substr(1, word.size() - 2);
    word = take_spaced_word(line);
  }
  if (word.size() > 1 && word.front() == '(') change.to = word.substr(1);
  if (kind == ForeseenChange::Kind::remove) change.to.clear();
  return change;
}

// The name in an error that says that it, or its version, is not in the lists; empty for others.
std::string_view find_unknown(std::string_view line) {
  constexpr std::string_view kNoPackage = "E: Unable to locate package ";
  if (line.starts_with(kNoPackage)) return line.substr(kNoPackage.size());
  const bool no_version = line.ends_with("' was not found");
  const bool no_candidate = line.ends_with("' has no installation candidate");
  if (!line.starts_with("E: ") || !(no_version || no_candidate)) return {};
  const auto end = line.rfind('\'');
  const auto begin = line.rfind('\'', end - 1) + 1;
  return line.substr(begin, end - begin);
}

// Errors of apt, one line; notes and progress are left out.
void add_error(std::string& refusal, std::string_view line) {
  if (!line.starts_with("E: ")) return;
  if (!refusal.empty()) refusal += "; ";
  refusal += line.substr(3);
}

// Whether the line is about that package: "Setting up foo (1.0) ...", "… package foo:amd64 (…".
bool names(std::string_view line, std::string_view package) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  for (auto at = line.find(package); at != std::string_view::npos;
       at = line.find(package, at + 1)) {
    const auto end = at + package.size();
    const bool begins = at == 0 || !is_part(line[at - 1]);
    // A dot may end a sentence.
    const bool ends = end == line.size() || !is_part(line[end]) || line[end] == '.';
    if (begins && ends) return true;
  }
  return false;
}

// Where dpkg turns to another package.
bool is_turn(std::string_view line) {
  for (const std::string_view begin :
       {"Setting up ", "Unpacking ", "Preparing to unpack ", "Selecting previously ", "Removing ",
        "Purging configuration ", "Processing triggers for ", "dpkg: error processing ",
        "Errors were encountered", "Configuration file "})
    if (line.starts_with(begin)) return true;
  return false;
}

}  // namespace

Tool apt_transaction(std::string_view root, const PackageOrder& order) {
  return install(root, order, false);
}

Tool apt_simulation(std::string_view root, const PackageOrder& order) {
  return install(root, order, true);
}

Tool apt_refresh(std::string_view root) {
  auto tool = apt_get(root, false);
  add_option(tool.argv, kLockTimeout);
  tool.argv.emplace_back("update");
  return tool;
}

Tool apt_hold(std::string_view root, const std::vector<std::string>& names, bool held) {
  Tool tool;
  tool.argv = {"/usr/bin/apt-mark"};
  add_root(tool.argv, root);
  tool.argv.emplace_back(held ? "hold" : "unhold");
  tool.argv.insert(tool.argv.end(), names.begin(), names.end());
  tool.environment = environment(false);
  return tool;
}

Tool dpkg_configure(std::string_view root, bool replace_conffiles) {
  Tool tool;
  tool.argv = {"/usr/bin/dpkg"};
  if (is_other_root(root)) {
    tool.argv.push_back("--root=" + std::string(root));
    tool.argv.emplace_back("--force-script-chrootless");
  }
  tool.argv.emplace_back(replace_conffiles ? "--force-confnew" : "--force-confold");
  tool.argv.emplace_back("--configure");
  tool.argv.emplace_back("-a");
  tool.environment = environment(replace_conffiles);
  return tool;
}

Foresight read_simulation(std::string_view output, bool succeeded,
                          std::string_view native_architecture) {
  using Kind = ForeseenChange::Kind;
  Foresight seen;
  while (!output.empty()) {
    auto line = take_line(output);
    const auto whole = line;
    const auto word = take_spaced_word(line);
    if (word == "Inst")
      seen.changes.push_back(read_change(Kind::install, line, native_architecture));
    else if (word == "Remv" || word == "Purg")
      seen.changes.push_back(read_change(Kind::remove, line, native_architecture));
    else if (word == "Conf")
      seen.changes.push_back(read_change(Kind::configure, line, native_architecture));
    add_error(seen.refusal, whole);
    if (const auto name = find_unknown(whole); !name.empty()) seen.unknown.emplace_back(name);
  }
  if (succeeded)
    seen.refusal.clear();
  else if (seen.refusal.empty())
    seen.refusal = "it ended without saying why";
  return seen;
}

bool tells_of_unpacking(std::string_view output, std::string_view package) {
  const auto bare = package.substr(0, package.find(':'));
  while (!output.empty()) {
    const auto line = take_line(output);
    if (line.starts_with("Unpacking ") && names(line, bare)) return true;
  }
  return false;
}

std::string output_about(std::string_view output, std::string_view package, std::size_t limit) {
  const auto bare = package.substr(0, package.find(':'));
  std::string about;
  bool in_segment = false;
  while (!output.empty()) {
    const auto line = take_line(output);
    // What apt lists and fetches says nothing of how it went.
    const bool told = !line.starts_with("  ") && !line.starts_with("Get:");
    const bool named = told && names(line, bare);
    if (named)
      in_segment = is_turn(line) || in_segment;
    else if (is_turn(line) || line.starts_with("E: "))
      in_segment = false;
    if (named || in_segment) about.append(line).append("\n");
  }
  if (about.size() <= limit) return about;
  const auto cut = about.find('\n', about.size() - limit);
  return cut == std::string::npos ? about.substr(about.size() - limit) : about.substr(cut + 1);
}

}  // namespace datum::os
