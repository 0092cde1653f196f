#include "datum/resource/reboot.hpp"

#include <algorithm>
#include <set>

#include "path_facts.hpp"
#include "show.hpp"
#include "sight.hpp"

namespace datum::resource {

namespace {

// A list of package names; a longer one is shown to this length.
constexpr std::size_t kMaxText = 64 * 1024;
constexpr std::size_t kMaxReboots = 20;
constexpr std::string_view kImage = "vmlinuz-";

class RebootSigns {
 public:
  explicit RebootSigns(const Machine& machine)
      : files_(*machine.files), walker_(files_, *machine.root, machine.trusted_uid) {}

  // Nothing where there is no such file.
  Result<std::optional<std::string>> read(const std::string& path) {
    const auto where = walker_.locate(path);
    auto file = where ? files_.open_file(where->folder->handle, where->name, os::Access::read)
                      : Result<os::Handle>(fail(where.error()));
    if (!file && is_missing(file.error())) return std::optional<std::string>();
    if (!file) return fail(std::move(file).error());
    std::string text(kMaxText, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
      DATUM_ASSIGN(const auto count,
                   files_.read(*file, {reinterpret_cast<std::byte*>(text.data()) + size,
                                       text.size() - size}));
      if (count == 0) break;
      size += count;
    }
    text.resize(size);
    return std::optional(std::move(text));
  }

  // Names in a folder that begin with `prefix`, without it.
  Result<std::vector<std::string>> list(const std::string& folder, std::string_view prefix) {
    std::vector<std::string> names;
    const auto inside = walker_.locate(folder + "/x");
    if (!inside && is_missing(inside.error())) return names;
    if (!inside) return fail(inside.error());
    DATUM_ASSIGN(const auto entries, files_.list(inside->folder->handle));
    for (const auto& entry : entries)
      if (entry.name.starts_with(prefix)) names.push_back(entry.name.substr(prefix.size()));
    return names;
  }

 private:
  os::Files& files_;
  os::Walker walker_;
};

std::set<std::string> lines_of(std::string_view text) {
  std::set<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string named(const std::set<std::string>& names) {
  std::string text;
  std::size_t count = 0;
  for (const auto& name : names) {
    if (count++ == kMaxReboots) return text + ", …";
    text += (text.empty() ? "" : ", ") + shown(name);
  }
  return text;
}

Result<std::string> find_request(RebootSigns& look) {
  const std::string path = "/run/reboot-required";
  DATUM_ASSIGN(const auto flag, look.read(path));
  if (!flag) return std::string();
  DATUM_ASSIGN(const auto packages, look.read(path + ".pkgs"));
  const auto names = packages ? named(lines_of(*packages)) : std::string();
  return names.empty() ? path : path + " (" + names + ")";
}

// "amd64" of "6.1.0-40-amd64", "cloud-amd64" of "6.1.0-40-cloud-amd64"; of releases of other
// distributions, which begin each part with a digit, nothing.
std::string_view flavour_of(std::string_view release) {
  for (auto dash = release.find('-'); dash != std::string_view::npos;
       dash = release.find('-', dash + 1)) {
    const auto rest = release.substr(dash + 1);
    if (!rest.empty() && (rest[0] < '0' || rest[0] > '9')) return rest;
  }
  return {};
}

Result<std::string> find_newer_kernel(RebootSigns& look) {
  DATUM_ASSIGN(const auto release, look.read("/proc/sys/kernel/osrelease"));
  if (!release) return std::string();
  const auto running = release->substr(0, release->find('\n'));
  DATUM_ASSIGN(const auto images, look.list("/boot", kImage));
  // A container's kernel is the host's.
  if (std::find(images.begin(), images.end(), running) == images.end()) return std::string();
  auto newest = running;
  for (const auto& image : images)
    if (flavour_of(image) == flavour_of(running) && os::compare_debian_versions(image, newest) > 0)
      newest = image;
  if (newest == running) return std::string();
  return "kernel " + shown(newest) + " is installed, " + shown(running) + " runs";
}

}  // namespace

std::optional<std::string> find_reboot_reason(const Machine& machine) {
  if (machine.root_path != "/") return std::nullopt;
  RebootSigns look(machine);
  const auto request = find_request(look);
  const auto kernel = find_newer_kernel(look);
  if (!request || !kernel) return std::nullopt;
  return *request + (request->empty() || kernel->empty() ? "" : "; ") + *kernel;
}

}  // namespace datum::resource
