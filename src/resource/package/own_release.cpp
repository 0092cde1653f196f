// The package of the service itself: which release is installed, and what comes before another one
// is. Reads the installed program's file and runs it nowhere.
#include <array>

#include "../show.hpp"
#include "datum/model/reserved.hpp"
#include "package_observer.hpp"
#include "package_wave.hpp"

namespace datum::resource {

namespace {

constexpr std::string_view kServicePackage = "datum-host";
constexpr std::string_view kProgramFolder = "/usr/sbin";
constexpr std::string_view kProgram = "datum-host";
constexpr std::string_view kMark = "datum-version=";
// The note lies in the first page of the file; a script of that name has it in its first lines.
constexpr std::size_t kHead = std::size_t{64} * 1024;
constexpr const char* kKeeper = "/usr/lib/datum/datum-release";
// It copies some 30 MiB and runs the copy once.
constexpr std::int64_t kKeepNs = 120 * kNsPerSecond;

// "0.2.0 (commit)" → "0.2.0".
std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \n\0"));
}

std::optional<std::string> read_installed(const Machine& machine) {
  const auto folder = machine.files->open_root(std::string(kProgramFolder));
  if (!folder) return {};
  const auto file = machine.files->open_file(*folder, kProgram, os::Access::read);
  if (!file) return {};
  Bytes bytes(kHead);
  const auto size = machine.files->read(*file, bytes);
  if (!size) return {};
  const auto head = as_text(ByteView(bytes).first(*size));
  const auto at = head.find(kMark);
  if (at == std::string_view::npos) return {};
  return std::string(first_word(head.substr(at + kMark.size())));
}

}  // namespace

bool is_service_package(const model::Target& target) {
  const auto name = target.name.view();
  return target.family == model::TargetFamily::package &&
         name.substr(0, name.find(':')) == kServicePackage;
}

std::string_view release_of(std::string_view package_version) {
  if (const auto colon = package_version.find(':'); colon != std::string_view::npos)
    package_version.remove_prefix(colon + 1);
  return package_version.substr(0, package_version.rfind('-'));
}

std::optional<std::string> find_other_release(const Machine& machine,
                                              const model::Resource& resource,
                                              const os::InstalledPackage& package) {
  if (!is_service_package(resource.target) || os::is_interrupted(package)) return {};
  auto installed = read_installed(machine);
  if (!installed || installed->empty() || *installed == release_of(package.version)) return {};
  return installed;
}

// Not again what did not run here: only another version that the declaration names lifts it.
void PackageWave::refuse_rolled_back(Work& work) {
  if (!options_.rolled_back || work.resource == nullptr) return;
  const auto& back = *options_.rolled_back;
  const auto wanted = work.resource->text(model::Field::version);
  if (wanted.empty() || release_of(wanted) != first_word(back.from)) return;
  work.error = Error(ErrorCode::refused,
                     "version " + shown(back.from) + " was rolled back to " + shown(back.to) +
                         ": " + shown(back.cause) +
                         "; it is not installed again until the declaration names another version");
}

// The release that runs, while it is still the one that is installed. Without it there would be
// nothing to go back to, so that there is no upgrade either.
std::optional<ToolStep> PackageWave::keep_release() {
  stage_ = Stage::lists;
  const auto book = machine_->packages->read();
  for (auto& work : works_) {
    if (!is_service_package(work.action->target)) continue;
    refuse_rolled_back(work);
    if (!work.going() || work.removes() || !book) continue;
    const auto* package = book->find(work.action->target.name);
    if (package == nullptr || !os::is_present(*package)) continue;
    keeping_ = true;
    return ToolStep{
        "keep the running release",
        {{kKeeper, "keep"},
         {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/root", "TERM=dumb"}},
        kKeepNs,
        0};
  }
  return {};
}

void PackageWave::end_keeping(const ToolStepEnd& end) {
  keeping_ = false;
  if (end.succeeded) return;
  auto why = end.error ? end.error->message() : end.how;
  if (!end.output.empty()) why += ": " + shown(end.output);
  fail_all(Error(ErrorCode::refused,
                 "the running release could not be kept, so there would be no way back: " + why));
}

// Files of another release than the database's, where the database's is what is wanted.
bool PackageWave::needs_own_files(const Work& work, const os::InstalledPackage& package) const {
  return work.resource != nullptr && !work.resource->text(model::Field::version).empty() &&
         find_other_release(*machine_, *work.resource, package).has_value();
}

}  // namespace datum::resource
