#include "datum/program/machine_facts.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "datum/model/descriptor.hpp"
#include "datum/program/desired.hpp"

namespace datum::program {
namespace {

using Facts = std::vector<core::Fact>;

// A line of it is for people; a kernel's list can be long.
constexpr std::size_t kMaxFact = 512;
constexpr std::size_t kMostListed = 64;

void add_fact(Facts& facts, std::string name, std::string value) {
  while (!value.empty() && (value.back() == '\n' || value.back() == ' ')) value.pop_back();
  if (value.size() > kMaxFact) value.resize(kMaxFact);
  if (!value.empty()) facts.push_back({std::move(name), std::move(value)});
}

// The first line of a file of the kernel's; empty where there is none.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value behind `key` in lines of "key : value".
std::string value_behind(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

// What the firmware or the kernel says it runs on; the words of systemd-detect-virt where they fit.
std::string virtualisation() {
  std::error_code ignored;
  if (std::filesystem::exists("/.dockerenv", ignored)) return "docker";
  if (const auto container = first_line("/run/systemd/container"); !container.empty())
    return container;
  const auto vendor = first_line("/sys/class/dmi/id/sys_vendor");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kVendors{{
      {"QEMU", "kvm"},
      {"VMware", "vmware"},
      {"innotek", "oracle"},
      {"Microsoft", "microsoft"},
      {"Xen", "xen"},
      {"Amazon", "amazon"},
  }};
  for (const auto& [begin, word] : kVendors)
    if (vendor.starts_with(begin)) return std::string(word);
  if (value_behind("/proc/cpuinfo", "flags").find(" hypervisor") != std::string::npos) return "vm";
  return "none";
}

std::string managed_types() {
  std::string types;
  for (const auto& type : model::all_types())
    types += (types.empty() ? "" : ",") + std::string(model::to_string(type.type));
  return types;
}

void add_processors(Facts& facts) {
  const auto count = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (count > 0) add_fact(facts, "processors", std::to_string(count));
  add_fact(facts, "processor", value_behind("/proc/cpuinfo", "model name"));
  add_fact(facts, "memory", value_behind("/proc/meminfo", "MemTotal"));
  add_fact(facts, "swap", value_behind("/proc/meminfo", "SwapTotal"));
}

void add_machine(Facts& facts) {
  add_fact(facts, "vendor", first_line("/sys/class/dmi/id/sys_vendor"));
  add_fact(facts, "product", first_line("/sys/class/dmi/id/product_name"));
  add_fact(facts, "bios", first_line("/sys/class/dmi/id/bios_version"));
}

void add_disks(Facts& facts) {
  std::error_code ignored;
  std::vector<std::string> disks;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/block", ignored)) {
    const auto name = entry.path().filename().string();
    const auto is_made_up = name.starts_with("loop") || name.starts_with("ram");
    if (!is_made_up) disks.push_back(name);
  }
  std::sort(disks.begin(), disks.end());
  constexpr std::uint64_t kSector = 512;  // of the kernel's count, whatever the disk's
  for (std::size_t at = 0; at < std::min(disks.size(), kMostListed); ++at) {
    const auto folder = "/sys/block/" + disks[at];
    const auto sectors = std::strtoull(first_line(folder + "/size").c_str(), nullptr, 10);
    const auto model = first_line(folder + "/device/model");
    add_fact(facts, "disk " + disks[at],
             std::to_string(sectors * kSector) + " bytes" + (model.empty() ? "" : ", " + model));
  }
}

void add_file_systems(Facts& facts) {
  std::ifstream mounts("/proc/self/mounts");
  std::set<std::string> seen;
  for (std::string line; std::getline(mounts, line) && seen.size() < kMostListed;) {
    std::istringstream words(line);
    std::string device, place, type;
    words >> device >> place >> type;
    // Of a device once: binds and overlays repeat it.
    if (!device.starts_with("/dev/") || !seen.insert(device).second) continue;
    struct statvfs space {};
    if (::statvfs(place.c_str(), &space) != 0) continue;
    add_fact(facts, "file system " + place,
             type + " on " + device + ", " + std::to_string(space.f_blocks * space.f_frsize) +
                 " bytes, " + std::to_string(space.f_bavail * space.f_frsize) + " free");
  }
}

void add_addresses(Facts& facts) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return;
  std::size_t count = 0;
  for (const auto* each = list; each != nullptr && count < kMostListed; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const void* bytes =
        family == AF_INET ? static_cast<const void*>(
                                &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr)
                          : static_cast<const void*>(
                                &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::inet_ntop(family, bytes, text.data(), text.size()) == nullptr) continue;
    add_fact(facts, std::string("address ") + each->ifa_name, text.data());
    ++count;
  }
  ::freeifaddrs(list);
}

// As dpkg has them: a package that is installed has this line and no other of that key.
void add_packages(Facts& facts, const std::string& root_path) {
  std::ifstream status(below(root_path, "/var/lib/dpkg/status"));
  if (!status) return;
  std::uint64_t count = 0;
  for (std::string line; std::getline(status, line);)
    if (line == "Status: install ok installed" || line == "Status: hold ok installed") ++count;
  add_fact(facts, "packages", std::to_string(count));
}

void add_failed_units(Facts& facts, loop::Loop& loop) {
  constexpr std::int64_t kWithinNs = 5 * kNsPerSecond;
  loop::ChildOptions child;
  child.argv = {"/usr/bin/systemctl", "list-units", "--state=failed", "--plain",
                "--no-legend",        "--no-pager"};
  child.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/", "TERM=dumb"};
  child.timeout_ns = kWithinNs;
  const auto ran = loop.run_child_in_job(child);
  if (!ran || ran->exit_status != 0) return;
  std::istringstream lines(ran->output);
  std::string units;
  for (std::string line; std::getline(lines, line);)
    if (const auto name = line.substr(0, line.find(' ')); !name.empty())
      units += (units.empty() ? "" : " ") + name;
  add_fact(facts, "failed units", units.empty() ? "none" : units);
}

}  // namespace

std::vector<core::Fact> machine_profile(os::Files& files, const os::Handle& root) {
  Facts facts;
  add_fact(facts, "hostname", host_name(""));
  for (const auto& [name, value] : local_profile(files, root).facts) add_fact(facts, name, value);
  utsname names{};
  if (::uname(&names) == 0) add_fact(facts, "datum/kernel", names.release);
  add_fact(facts, "datum/virtualisation", virtualisation());
  add_fact(facts, "datum/schema", "1");
  add_fact(facts, "datum/types", managed_types());
  return facts;
}

std::vector<core::Fact> machine_inventory(loop::Loop& loop, os::Files& files,
                                          const os::Handle& root, const std::string& root_path) {
  Facts facts;
  add_machine(facts);
  add_processors(facts);
  add_disks(facts);
  add_file_systems(facts);
  add_addresses(facts);
  const auto profile = local_profile(files, root);
  const auto find = [&profile](const char* name) {
    const auto found = profile.facts.find(name);
    return found == profile.facts.end() ? std::string() : found->second;
  };
  add_fact(facts, "release", find("datum/os") + " " + find("datum/os-version"));
  add_packages(facts, root_path);
  if (root_path == "/") add_failed_units(facts, loop);
  return facts;
}

}  // namespace datum::program
