// State, version and hold of one package, and why it may need a person.
#include "../path_facts.hpp"
#include "../show.hpp"
#include "package_observer.hpp"

namespace datum::resource {

namespace {

using model::Field;

std::string describe_state(const os::InstalledPackage& package) {
  if (!os::is_interrupted(package)) return "present";
  if (package.needs_reinstall) return "interrupted (needs to be installed again)";
  return "interrupted (" + std::string(os::to_string(package.state)) + ")";
}

std::string_view without_epoch(std::string_view version) {
  const auto colon = version.find(':');
  return colon == std::string_view::npos ? version : version.substr(colon + 1);
}

void compare_version(const model::Resource& resource, const os::InstalledPackage& package,
                     const std::optional<std::string>& other, core::Observation& seen) {
  const auto wanted = resource.text(Field::version);
  if (other && !wanted.empty()) {
    add_drift(seen, "version", std::string(wanted),
              shown(*other) + " (dpkg's database says " + shown(package.version) + ")");
    return;
  }
  if (has_wanted_version(resource, package)) return;
  auto observed = shown(package.version);
  // Both look the same to whoever leaves the epoch out.
  if (without_epoch(wanted) == without_epoch(package.version))
    observed += " (only the epoch differs)";
  add_drift(seen, "version", std::string(wanted), std::move(observed));
}

// A configuration file that somebody changed stays as it is; the package's own lies beside it.
void note_conffiles(const Machine& machine, const os::InstalledPackage& package,
                    core::Observation& seen) {
  std::string text;
  for (const auto& path : machine.packages->find_conffile_leftovers(package)) {
    if (text.size() > core::kMaxDriftText) break;
    text += (text.empty() ? "" : ", ") + shown(path);
  }
  if (!text.empty())
    seen.warning =
        "a changed configuration file was kept; the package's own lies beside it: " + text;
}

}  // namespace

bool has_wanted_version(const model::Resource& resource, const os::InstalledPackage& package) {
  const auto wanted = resource.text(Field::version);
  return wanted.empty() || wanted == package.version ||
         os::compare_debian_versions(wanted, package.version) == 0;
}

std::optional<std::string> find_package_absence(const Machine& machine) {
  if (machine.root_path != "/") return "not under --root";
  if (machine.packages == nullptr) return "no package manager is asked here";
  return machine.packages->find_absence();
}

void observe_package(Sight& sight, const model::Resource& resource, core::Observation& seen) {
  const auto book = sight.packages();
  if (!book) return set_unknown(seen, "the package database cannot be read", book.error());
  const auto* package = (*book)->find(resource.target.name);
  const bool present = package != nullptr && os::is_present(*package);
  seen.found = present ? core::Found::present : core::Found::absent;
  if (resource.absent()) {
    if (present) add_drift(seen, "state", "absent", describe_state(*package));
    return;
  }
  if (!present) return add_drift(seen, "state", "present", "absent");
  if (os::is_interrupted(*package)) add_drift(seen, "state", "present", describe_state(*package));
  compare_version(resource, *package, find_other_release(sight.machine(), resource, *package),
                  seen);
  if (resource.find(Field::pinned) != nullptr && resource.flag(Field::pinned) != package->held)
    add_drift(seen, "pinned", word_of(resource.flag(Field::pinned)), word_of(package->held));
  note_conffiles(sight.machine(), *package, seen);
}

void observe_leaving_package(Sight& sight, core::LeavingObservation& seen) {
  if (auto why = find_package_absence(sight.machine())) {
    seen.reason = std::move(*why);
    return;
  }
  const auto book = sight.packages();
  if (!book) {
    seen.reason = book.error().message();
    return;
  }
  const auto* package = (*book)->find(seen.target.name);
  const bool present = package != nullptr && os::is_present(*package);
  seen.found = present ? core::Found::present : core::Found::absent;
}

}  // namespace datum::resource
