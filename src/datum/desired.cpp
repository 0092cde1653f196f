#include "desired.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "datum/codec/manifest_file.hpp"
#include "datum/fleet/resolve.hpp"

namespace datum::program {

namespace {

// A file mapped for reading. Private pages: later writes to the file may or may not show, and every
// content read from it is checked against its digest.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return fail(error_from_errno(errno, path));
    struct stat info {};
    const bool known = ::fstat(descriptor, &info) == 0;
    const int saved = errno;
    void* at = MAP_FAILED;
    if (known && S_ISREG(info.st_mode) && info.st_size > 0)
      at = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE,
                  descriptor, 0);
    ::close(descriptor);
    if (!known) return fail(error_from_errno(saved, path));
    if (at == MAP_FAILED)
      return fail(ErrorCode::invalid_argument, path + ": an empty file, or not a regular one");
    return std::shared_ptr<const MappedFile>(
        new MappedFile(at, static_cast<std::size_t>(info.st_size)));
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { ::munmap(at_, size_); }

  [[nodiscard]] ByteView bytes() const { return {static_cast<const std::byte*>(at_), size_}; }

 private:
  MappedFile(void* at, std::size_t size) : at_(at), size_(size) {}
  void* at_;
  std::size_t size_;
};

Result<Desired> load_manifest(const Arguments& arguments) {
  DATUM_ASSIGN(const auto file, MappedFile::open(arguments.manifest));
  auto opened = codec::open_manifest(file->bytes(), file);
  if (!opened) return fail(std::move(opened).error().context(arguments.manifest));
  if (!arguments.host.empty() && arguments.host != opened->manifest->host)
    return fail(ErrorCode::invalid_argument, arguments.manifest + ": this manifest is for host " +
                                                 opened->manifest->host + ", not for " +
                                                 arguments.host);
  Desired desired;
  desired.manifest = opened->manifest;
  desired.content = opened->contents;
  desired.provenance.source = "manifest " + absolute_path(arguments.manifest);
  desired.provenance.revision = desired.manifest->revision;
  return desired;
}

Result<Desired> load_from_fleet(os::Files& files, const os::Handle& root,
                                const Arguments& arguments) {
  DATUM_ASSIGN(auto loaded, load_fleet_or_report(files, arguments));
  auto profile = local_profile(files, root);
  if (!arguments.profile.empty()) {
    DATUM_ASSIGN(profile, read_profile(arguments));
  }
  auto resolved = fleet::resolve(loaded, host_name(arguments), profile);
  print_findings(resolved.warnings, "warning");
  print_findings(resolved.errors, "error");
  if (!resolved.manifest)
    return fail(ErrorCode::invalid_argument,
                "the fleet has no valid manifest for host " + host_name(arguments));
  Desired desired;
  desired.manifest = resolved.manifest;
  desired.content = fleet::make_content_source(loaded, resolved.manifest);
  desired.provenance.source = "fleet " + absolute_path(arguments.fleet);
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

std::string absolute_path(const std::string& path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored).lexically_normal().string();
  if (absolute.size() > 1 && absolute.back() == '/') return absolute.substr(0, absolute.size() - 1);
  return absolute;
}

std::string host_name(const Arguments& arguments) {
  if (!arguments.host.empty()) return arguments.host;
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "localhost";
}

void print_findings(const fleet::Findings& findings, const char* word) {
  for (const auto& finding : findings)
    std::fprintf(stderr, "%s: %s\n", word, fleet::to_string(finding).c_str());
}

fleet::Parallel on_threads(std::size_t width) {
  return [width](std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
      for (auto i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(width, count); ++i) threads.emplace_back(run);
    run();
    for (auto& thread : threads) thread.join();
  };
}

Result<fleet::FleetPtr> load_fleet_or_report(os::Files& files, const Arguments& arguments) {
  fleet::LoadOptions options;
  options.parallel = on_threads(std::max(1U, std::thread::hardware_concurrency()));
  auto loaded = fleet::load_fleet(files, absolute_path(arguments.fleet), options);
  print_findings(loaded.warnings, "warning");
  print_findings(loaded.errors, "error");
  if (!loaded.fleet)
    return fail(ErrorCode::invalid_argument,
                std::to_string(loaded.errors.size()) + " error(s) in the fleet " + arguments.fleet);
  return loaded.fleet;
}

Result<fleet::Profile> read_profile(const Arguments& arguments) {
  if (arguments.profile.empty()) return fleet::Profile{};
  DATUM_ASSIGN(const auto file, MappedFile::open(arguments.profile));
  auto parsed = fleet::parse_profile(arguments.profile, as_text(file->bytes()));
  print_findings(parsed.errors, "error");
  if (!parsed.errors.empty())
    return fail(ErrorCode::invalid_argument, "the profile " + arguments.profile + " has errors");
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

Result<Desired> load_desired(os::Files& files, const os::Handle& root, const Arguments& arguments) {
  if (arguments.fleet.empty() && arguments.manifest.empty())
    return fail(ErrorCode::invalid_argument,
                arguments.command_line +
                    ": give the desired state: --fleet DIR [--host NAME], or --manifest FILE");
  auto desired = arguments.manifest.empty() ? load_from_fleet(files, root, arguments)
                                            : load_manifest(arguments);
  if (desired && arguments.final) {
    auto copy = std::make_shared<model::Manifest>(*desired->manifest);
    copy->final = true;
    desired->manifest = std::move(copy);
  }
  return desired;
}

}  // namespace datum::program
