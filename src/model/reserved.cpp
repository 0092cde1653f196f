// See the header. The lists are short and complete rather than clever: a path that is missing here
// lets a document cut off the branch that Datum sits on.
#include "datum/model/reserved.hpp"

#include <algorithm>
#include <array>

#include "datum/model/spelled_target.hpp"

namespace datum::model {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 3> kOwnFolders{"/etc/datum", "/var/lib/datum", "/run/datum"};
// Where packages and hand-made installations put programs, and links to them on merged systems.
constexpr std::array<Names, 6> kProgramFolders{"/usr/bin", "/usr/sbin",      "/bin",
                                               "/sbin",    "/usr/local/bin", "/usr/local/sbin"};
constexpr std::array<Names, 3> kPrograms{"datum", "datum-host", "datum-control"};
constexpr std::array<Names, 2> kPrivateFolders{"/usr/lib/datum", "/usr/libexec/datum"};
// The unit search path of systemd.unit(5) that a document can reach.
constexpr std::array<Names, 6> kUnitFolders{
    "/etc/systemd/system", "/run/systemd/system",           "/usr/lib/systemd/system",
    "/lib/systemd/system", "/usr/local/lib/systemd/system", "/etc/systemd/system.control"};
constexpr std::array<Names, 3> kUnits{"datum-host.service", "datum-rollback.service",
                                      "datum-control.service"};
constexpr std::array<Names, 8> kAccountFiles{"/etc/passwd",  "/etc/shadow",  "/etc/group",
                                             "/etc/gshadow", "/etc/passwd-", "/etc/shadow-",
                                             "/etc/group-",  "/etc/gshadow-"};
constexpr Names kSysctlPrefix = "/etc/sysctl.d/70-datum-";

bool is_at_or_below(Names path, Names folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}
bool is_below(Names path, Names folder) {
  if (folder == "/") return path != "/";
  return path.size() > folder.size() && is_at_or_below(path, folder);
}

// Calls `visit` with every own path until it returns true.
template <class Visit>
bool any_own_path(Visit visit) {
  for (const auto folder : kOwnFolders)
    if (visit(folder)) return true;
  for (const auto folder : kPrivateFolders)
    if (visit(folder)) return true;
  std::string path;
  for (const auto folder : kProgramFolders)
    for (const auto program : kPrograms)
      if (visit(path.assign(folder).append("/").append(program))) return true;
  for (const auto folder : kUnitFolders)
    for (const auto unit : kUnits) {
      if (visit(path.assign(folder).append("/").append(unit))) return true;
      if (visit(path.append(".d"))) return true;
    }
  return false;
}

Status check_account(Names name) {
  const bool numeric = name.find_first_not_of("0123456789") == Names::npos;
  if (name.empty() || name.front() == '-' || numeric ||
      name.find_first_of(":/ \t,\n") != Names::npos)
    return fail(
        ErrorCode::invalid_argument,
        "an account's name is not a number, does not begin with - and has no : / , or space");
  return {};
}

Status check_package(Names name) {
  if (name.empty() || name.front() == '-' || name.find_first_of(" \t=/*?[]") != Names::npos)
    return fail(ErrorCode::invalid_argument,
                "a package's name does not begin with - and has no space, = / or wildcard");
  return {};
}

// A `/` in a key stands for a dot within one name, so "/" and "//" would be the folders `.` and
// `..`.
Status check_sysctl(Names key) {
  while (true) {
    const auto dot = key.find('.');
    const auto part = key.substr(0, dot);
    if (part.empty() || part == "/" || part == "//" || part.find('%') != Names::npos ||
        part.find_first_of(" \t=") != Names::npos)
      return fail(ErrorCode::invalid_argument,
                  "a sysctl key is names joined by dots, for example net.ipv4.ip_forward");
    if (dot == Names::npos) return {};
    key.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string sysctl_drop_in(std::string_view key) {
  std::string path(kSysctlPrefix);
  for (const char c : key) c == '/' ? path.append("%2F") : path.append(1, c);
  return path.append(".conf");
}

RepositoryFiles repository_files(std::string_view id) {
  const std::string name(id);
  return {
      "/etc/apt/sources.list.d/" + name + ".sources", "/etc/apt/keyrings/" + name + ".asc",
      "/etc/apt/keyrings/" + name + ".gpg",           "/etc/apt/preferences.d/" + name + ".pref",
      "/etc/yum.repos.d/" + name + ".repo",           "/etc/pki/rpm-gpg/RPM-GPG-KEY-" + name};
}

std::vector<std::string> provider_paths(const Resource& resource) {
  switch (resource.target.family) {
    case TargetFamily::sysctl:
      return {sysctl_drop_in(resource.target.name)};
    case TargetFamily::repository: {
      auto files = repository_files(resource.target.name);
      return {std::move(files.apt_source),  std::move(files.apt_key_asc),
              std::move(files.apt_key_gpg), std::move(files.apt_pin),
              std::move(files.dnf_source),  std::move(files.dnf_key)};
    }
    case TargetFamily::user:
    case TargetFamily::group:
      return {kAccountFiles.begin(), kAccountFiles.end()};
    case TargetFamily::hostname:
      return {"/etc/hostname"};
    case TargetFamily::timezone:
      return {"/etc/localtime", "/etc/timezone"};
    case TargetFamily::setting:
      if (auto setting = find_setting_target(resource.target.name))
        return {std::move(setting->path)};
      return {};
    case TargetFamily::mount:
      return {"/etc/fstab"};
    case TargetFamily::timer:
      return {timer_file(resource.target.name)};
    default:
      return {};
  }
}

std::optional<std::string_view> find_provider_of(std::string_view path) {
  if (std::find(kAccountFiles.begin(), kAccountFiles.end(), path) != kAccountFiles.end())
    return "User and Group";
  if (path.starts_with(kSysctlPrefix)) return "Sysctl";
  return std::nullopt;
}

bool is_own_path(std::string_view path) {
  // Every one of them holds the word; most paths of a fleet do not.
  if (path.find("datum") == std::string_view::npos) return false;
  return any_own_path([path](Names own) { return is_at_or_below(path, own); });
}

bool is_parent_of_own_path(std::string_view path) {
  return any_own_path([path](Names own) { return is_below(own, path); });
}

bool is_own_unit(std::string_view unit) {
  return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end();
}

bool is_own_package(std::string_view package) {
  return std::find(kPrograms.begin(), kPrograms.end(), package.substr(0, package.find(':'))) !=
         kPrograms.end();
}

Status check_target(const Target& target) {
  switch (target.family) {
    case TargetFamily::path:
      return check_path(target.name);
    case TargetFamily::user:
    case TargetFamily::group:
      return check_account(target.name);
    case TargetFamily::package:
      return check_package(target.name);
    case TargetFamily::sysctl:
      return check_sysctl(target.name);
    case TargetFamily::repository:
      if (!is_document_name(target.name) || target.name.view().front() == '.')
        return fail(ErrorCode::invalid_argument,
                    "a repository's id has letters, digits and . - _ + @ : and no dot in front");
      return {};
    case TargetFamily::unit:
      if (target.name.view().find_first_of("/ \t*?[]") != Names::npos)
        return fail(ErrorCode::invalid_argument, "a unit's name has no / space or wildcard");
      return {};
    default:
      return check_spelled_target(target);
  }
  return {};
}

}  // namespace datum::model
