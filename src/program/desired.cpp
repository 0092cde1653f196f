#include "datum/program/desired.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "datum/codec/manifest_file.hpp"
#include "datum/fleet/resolve.hpp"
#include "datum/program/mapped_file.hpp"
#include "datum/program/session.hpp"

namespace datum::program {

namespace {

Result<Desired> load_manifest(const DesiredSource& source) {
  DATUM_ASSIGN(const auto file, MappedFile::open(source.manifest));
  auto desired = open_desired(file->bytes(), file, "manifest " + absolute_path(source.manifest));
  if (!desired) return fail(std::move(desired).error().context(source.manifest));
  const auto& host = desired->manifest->host;
  if (source.host.empty() || source.host == host) return desired;
  return fail(ErrorCode::invalid_argument,
              source.manifest + ": this manifest is for host " + host + ", not for " + source.host);
}

Result<Desired> load_from_fleet(os::Files& files, const os::Handle& root,
                                const DesiredSource& source, const TellFindings& tell) {
  DATUM_ASSIGN(auto loaded, load_fleet(files, source.fleet, tell));
  auto profile = local_profile(files, root);
  if (!source.profile.empty()) {
    DATUM_ASSIGN(profile, read_profile(source.profile, tell));
  }
  const auto host = host_name(source.host);
  auto resolved = fleet::resolve(loaded, host, profile);
  tell(resolved.warnings, "warning");
  tell(resolved.errors, "error");
  if (!resolved.manifest)
    return fail(ErrorCode::invalid_argument, "the fleet has no valid manifest for host " + host);
  Desired desired;
  desired.manifest = resolved.manifest;
  desired.content = fleet::make_content_source(loaded, resolved.manifest);
  desired.provenance.source = "fleet " + absolute_path(source.fleet);
  desired.provenance.revision = desired.manifest->revision;
  return desired;
}

// The value of KEY in a file of KEY=value lines, with quotes taken off.
std::string value_in(const std::string& text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    auto value = line.substr(key.size() + 1);
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

// Whether the name at the end of the folders exists below root.
bool exists(os::Files& files, const os::Handle& root, std::initializer_list<const char*> folders,
            const char* name) {
  os::Handle at;
  const os::Handle* parent = &root;
  for (const auto* folder : folders) {
    auto next = files.open_directory(*parent, folder, os::Follow::yes);
    if (!next) return false;
    at = std::move(*next);
    parent = &at;
  }
  return files.stat_at(*parent, name).has_value();
}

std::string read_os_release(os::Files& files, const os::Handle& root) {
  for (const auto* parent : {"etc", "usr"}) {
    auto folder = files.open_directory(root, parent, os::Follow::no);
    if (folder && std::string_view(parent) == "usr")
      folder = files.open_directory(*folder, "lib", os::Follow::no);
    if (!folder) continue;
    auto file = files.open_file(*folder, "os-release", os::Access::read);
    if (!file) continue;
    Bytes buffer(16 * 1024);  // a few hundred bytes in practice
    auto size = files.read(*file, buffer);
    if (size) return std::string(as_text(ByteView(buffer).first(*size)));
  }
  return {};
}

}  // namespace

std::string host_name(const std::string& given) {
  if (!given.empty()) return given;
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "localhost";
}

fleet::Parallel on_threads(std::size_t width) {
  return [width](std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
      for (auto i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(width, count); ++i) {
      try {
        threads.emplace_back(run);
      } catch (const std::system_error&) {
        break;  // no room for another thread: those that there are serve, this one at least
      }
    }
    run();
    for (auto& thread : threads) thread.join();
  };
}

Result<fleet::FleetPtr> load_fleet(os::Files& files, const std::string& folder,
                                   const TellFindings& tell) {
  fleet::LoadOptions options;
  options.parallel = on_threads(std::max(1U, std::thread::hardware_concurrency()));
  auto loaded = fleet::load_fleet(files, absolute_path(folder), options);
  tell(loaded.warnings, "warning");
  tell(loaded.errors, "error");
  if (!loaded.fleet)
    return fail(ErrorCode::invalid_argument,
                std::to_string(loaded.errors.size()) + " error(s) in the fleet " + folder);
  return loaded.fleet;
}

Result<fleet::Profile> read_profile(const std::string& path, const TellFindings& tell) {
  if (path.empty()) return fleet::Profile{};
  DATUM_ASSIGN(const auto file, MappedFile::open(path));
  auto parsed = fleet::parse_profile(path, as_text(file->bytes()));
  tell(parsed.errors, "error");
  if (!parsed.errors.empty())
    return fail(ErrorCode::invalid_argument, "the profile " + path + " has errors");
  return parsed.profile;
}

fleet::Profile local_profile(os::Files& files, const os::Handle& root) {
  fleet::Profile profile;
  const auto release = read_os_release(files, root);
  if (auto id = value_in(release, "ID"); !id.empty()) profile.facts["datum/os"] = id;
  if (auto id = value_in(release, "VERSION_ID"); !id.empty())
    profile.facts["datum/os-version"] = id;
  utsname names{};
  if (::uname(&names) == 0) profile.facts["datum/arch"] = names.machine;
  if (exists(files, root, {"lib", "systemd"}, "systemd")) profile.facts["datum/init"] = "systemd";
  if (exists(files, root, {"usr", "bin"}, "apt-get"))
    profile.facts["datum/package-manager"] = "apt";
  else if (exists(files, root, {"usr", "bin"}, "dnf"))
    profile.facts["datum/package-manager"] = "dnf";
  return profile;
}

Result<Desired> open_desired(ByteView bytes, std::shared_ptr<const void> owner,
                             std::string source) {
  DATUM_ASSIGN(auto opened, codec::open_manifest(bytes, std::move(owner)));
  Desired desired;
  desired.manifest = std::move(opened.manifest);
  desired.content = std::move(opened.contents);
  desired.provenance.source = std::move(source);
  desired.provenance.revision = desired.manifest->revision;
  return desired;
}

Result<Desired> load_desired(os::Files& files, const os::Handle& root, const DesiredSource& source,
                             const TellFindings& tell) {
  auto desired =
      source.fleet.empty() ? load_manifest(source) : load_from_fleet(files, root, source, tell);
  if (desired && source.final) {
    auto copy = std::make_shared<model::Manifest>(*desired->manifest);
    copy->final = true;
    desired->manifest = std::move(copy);
  }
  return desired;
}

}  // namespace datum::program
