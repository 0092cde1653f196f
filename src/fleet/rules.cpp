// Rules about one resource with all its values. They are asked after merging where nothing varies
// by host, and after substitution otherwise, so that a label cannot bring in what a document may
// not.
#include <algorithm>
#include <array>

#include "datum/model/reserved.hpp"
#include "datum/yaml/scalar.hpp"
#include "kind_rules.hpp"
#include "merge.hpp"

namespace datum::fleet {
namespace {

using model::Field;
using model::FieldKind;
using model::Resource;
using model::ResourceType;

constexpr std::uint32_t kSetIds = 06000;
constexpr std::uint32_t kWorldWritable = 0002;
// Folders whose files others execute or obey.
constexpr std::array<std::string_view, 5> kSystemFolders{"/etc", "/usr", "/bin", "/sbin", "/lib"};
// The kernel's own file systems: what stands there is no file that could be kept.
constexpr std::array<std::string_view, 3> kKernelFolders{"/proc", "/sys", "/dev"};

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// Folders that every Linux system has (Filesystem Hierarchy Standard 3.0, and the multilib ones):
// no declaration that removes one, or all that it does not name in one, is meant.
constexpr std::array<std::string_view, 34> kStandingFolders{
    "/bin",      "/boot",      "/dev",     "/etc",       "/home",      "/lib",         "/lib32",
    "/lib64",    "/libx32",    "/proc",    "/root",      "/run",       "/sbin",        "/sys",
    "/usr",      "/usr/bin",   "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local",
    "/usr/sbin", "/usr/share", "/var",     "/var/cache", "/var/lib",   "/var/log",     "/var/mail",
    "/var/opt",  "/var/spool", "/var/tmp", "/var/lock",  "/var/run",   "/usr/include"};
// These may be emptied by a purge, and not removed.
constexpr std::array<std::string_view, 5> kMountFolders{"/media", "/mnt", "/opt", "/srv", "/tmp"};

template <std::size_t size>
bool is_one_of(const std::array<std::string_view, size>& folders, std::string_view path) {
  return std::find(folders.begin(), folders.end(), path) != folders.end();
}

class Checker {
 public:
  Checker(const Documents& documents, const Merged& merged, const Resource& resource,
          Faults& faults)
      : documents_(documents), merged_(merged), resource_(resource), faults_(faults) {}

  void run() {
    if (!check_required()) return;
    check_texts();
    check_names();
    check_mode();
    check_place();
    check_account_paths();
    check_own_files();
    check_standing_folders();
    check_provider_path();
    if (resource_.reference.type == ResourceType::service) check_service();
    if (resource_.reference.type == ResourceType::repository) check_repository();
    if (resource_.reference.type == ResourceType::file) check_sensitive();
    check_kind(resource_, [this](Field field, std::string message, std::string hint) {
      fault(field, std::move(message), std::move(hint));
    });
  }

 private:
  void fault(Field field, std::string message, std::string hint, bool warning = false) {
    faults_.push_back(
        {merged_.place_of(documents_, field), std::move(message), std::move(hint), warning});
  }
  [[nodiscard]] std::string name() const { return resource_.reference.text(); }

  bool check_required() {
    const auto& type = model::describe(resource_.reference.type);
    bool complete = true;
    for (const auto& field : type.fields) {
      if (!field.required || resource_.find(field.id)) continue;
      if (resource_.absent() && field.id != type.target_field) continue;
      complete = false;
      const auto sample = field.choices.empty() ? std::string("…") : std::string(field.choices[0]);
      fault(field.id,
            name() + " has no " + std::string(field.name) + ", which a " + std::string(type.name) +
                " needs",
            "add " + std::string(field.name) + ": " + sample + " below desired (" +
                std::string(field.summary) + ")");
    }
    return complete;
  }

  // A comment and a kernel parameter may be empty; any other text is a name of something.
  void check_texts() {
    for (const auto& each : resource_.fields) {
      const auto& field = model::describe(resource_.reference.type, each.field);
      const auto* text = std::get_if<std::string>(&each.value);
      if (!text || field.kind != FieldKind::text) continue;
      if (field.id == Field::comment) {
        if (resource_.reference.type == ResourceType::user && text->find(':') != std::string::npos)
          fault(field.id, "comment of " + name() + " holds a colon",
                "leave it out: it separates the fields of /etc/passwd");
        continue;
      }
      if (text->empty() && field.id != Field::value && field.id != Field::options)
        fault(field.id, std::string(field.name) + " of " + name() + " is empty",
              "give it a value, or leave the key out");
      if (!is_free_text(field.id) && text->find_first_of(" \t") != std::string::npos)
        fault(field.id, std::string(field.name) + " of " + name() + " holds white space",
              "take it out");
    }
  }

  // What may have white space inside: the format that it is written in has a way for it.
  [[nodiscard]] bool is_free_text(Field field) const {
    switch (field) {
      case Field::value:
      case Field::target:
      case Field::options:
      case Field::section:
      case Field::device:
        return true;
      case Field::key:
        return resource_.reference.type != ResourceType::sysctl;
      default:
        return false;
    }
  }

  void check_names() {
    for (const auto field : {Field::owner, Field::group, Field::primary_group}) {
      const auto value = resource_.text(field);
      if (value.find_first_of(":/") != std::string_view::npos || value.starts_with('-'))
        fault(field, yaml::quoted(value) + " of " + name() + " is no account's name",
              "write a name, or a numeric id in quotes");
    }
    const auto target = model::derive_target(resource_);
    const auto& type = model::describe(resource_.reference.type);
    if (target.family == model::TargetFamily::path) return;
    if (const auto status = model::check_target(target); !status)
      fault(type.target_field, yaml::quoted(target.name) + " cannot be the target of " + name(),
            status.error().message());
  }

  void check_mode() {
    const auto mode = resource_.text(Field::mode);
    if (mode.empty() || resource_.absent() || resource_.flag(Field::allow_privileged)) return;
    const auto bits = model::mode_bits(mode);
    if ((bits & kSetIds) != 0)
      fault(Field::mode, "mode " + yaml::quoted(mode) + " of " + name() + " is setuid or setgid",
            "add allowPrivileged: true if that is meant");
    const auto path = resource_.text(Field::path);
    const bool system =
        std::any_of(kSystemFolders.begin(), kSystemFolders.end(),
                    [path](std::string_view folder) { return is_at_or_below(path, folder); });
    if ((bits & kWorldWritable) != 0 && system)
      fault(Field::mode,
            "mode " + yaml::quoted(mode) + " of " + name() + " lets everybody write to " +
                std::string(path),
            "add allowPrivileged: true if that is meant");
  }

  void check_place() {
    // What is mounted may well be a file system of the kernel's own.
    if (resource_.reference.type == ResourceType::mount) return;
    const auto path = resource_.text(Field::path);
    if (path == "/")
      return fault(Field::path, name() + " stands on /, which is no name in any folder",
                   "name what lies in it");
    for (const auto folder : kKernelFolders)
      if (is_at_or_below(path, folder))
        return fault(Field::path,
                     name() + " stands on " + std::string(path) + ", which is the kernel's",
                     folder == "/dev" ? "devices are made by the kernel and by udev's rules"
                                      : "a Sysctl is for values of the kernel");
  }

  // They become fields of a line of /etc/passwd.
  void check_account_paths() {
    for (const auto field : {Field::home, Field::shell}) {
      const auto value = resource_.text(field);
      if (value.find_first_of(":\n\r") == std::string_view::npos) continue;
      fault(field,
            std::string(model::describe(resource_.reference.type, field).name) + " " +
                yaml::quoted(value) + " of " + name() + " holds a colon or a line break",
            "take it out: it separates the fields of /etc/passwd");
    }
  }

  void check_own_files() {
    const auto path = resource_.text(Field::path);
    if (!path.empty() && model::is_own_path(path))
      return fault(Field::path, name() + " stands on Datum's own file " + std::string(path),
                   "leave Datum's files to its package and to agent.yaml");
    const auto unit = model::derive_target(resource_);
    if (unit.family == model::TargetFamily::unit && model::is_own_unit(unit.name))
      return fault(Field::unit, name() + " stands on Datum's own unit " + unit.name,
                   "use datum hold to stop its work, and its package to change it");
    const bool purges = resource_.flag(Field::purge);
    if (path.empty() || (!removes_path() && !purges)) return;
    if (model::is_parent_of_own_path(path))
      fault(purges ? Field::purge : Field::state,
            name() + (purges ? " purges " : " removes ") + std::string(path) +
                ", where Datum's own files lie",
            "manage its owner and mode only");
  }

  // A value of a file that is absent, or a mount, leaves what has the path.
  [[nodiscard]] bool removes_path() const {
    return resource_.absent() &&
           model::family_of(resource_.reference.type) == model::TargetFamily::path;
  }

  void check_standing_folders() {
    const auto path = resource_.text(Field::path);
    const bool purges = resource_.flag(Field::purge);
    // Those with something of Datum's below are refused already, in words of their own.
    if (path.empty() || !(removes_path() || purges)) return;
    if (model::is_parent_of_own_path(path)) return;
    if (removes_path() && (is_one_of(kStandingFolders, path) || is_one_of(kMountFolders, path)))
      fault(Field::state, name() + " removes " + std::string(path) + ", which every system has",
            "name what lies in it");
    else if (purges && is_one_of(kStandingFolders, path))
      fault(Field::purge, name() + " purges " + std::string(path) + ", which every system has",
            "purge a folder in it that is yours");
  }

  void check_provider_path() {
    const auto path = resource_.text(Field::path);
    const auto type = resource_.reference.type;
    if (path.empty() || type == ResourceType::directory || type == ResourceType::mount) return;
    const auto provider = model::find_provider_of(path);
    if (!provider || !claims_content(resource_)) return;
    fault(Field::path,
          name() + " stands on " + std::string(path) + ", which " + std::string(*provider) +
              " resources write",
          "declare those, and here owner and mode at most");
  }

  void check_service() {
    const auto unit = model::derive_target(resource_).name.str();
    const auto dot = unit.rfind('.');
    const bool bare_template = dot != std::string::npos && dot > 0 && unit[dot - 1] == '@';
    if (bare_template && resource_.text(Field::state) == "running")
      fault(Field::state, name() + " is a template, which cannot run",
            "name an instance, for example unit: \"" + unit.substr(0, dot) + "NAME.service\"");
  }

  void check_repository() {
    if (resource_.absent() || resource_.flag(Field::is_unsigned) ||
        resource_.find(Field::signing_key))
      return;
    fault(Field::signing_key, name() + " is neither signed nor declared unsigned",
          "add signingKey: with the key's file in the fleet, or unsigned: true");
  }

  void check_sensitive() {
    const auto* part = merged_.winner(Field::content);
    if (!part || !resource_.flag(Field::sensitive)) return;
    if (part->key != ContentKey::content && part->key != ContentKey::source) return;
    fault(Field::sensitive, name() + " is sensitive, but its content stands in the fleet",
          "put the content into a secret: secretRef, or a template with {{ secrets.NAME }}", true);
  }

  const Documents& documents_;
  const Merged& merged_;
  const Resource& resource_;
  Faults& faults_;
};

}  // namespace

bool claims_content(const Resource& resource) {
  return resource.reference.type != ResourceType::file || resource.absent() ||
         resource.find(Field::content) != nullptr;
}

void check_resource(const Documents& documents, const Merged& merged, const Resource& resource,
                    Faults& faults) {
  Checker(documents, merged, resource, faults).run();
}

}  // namespace datum::fleet
