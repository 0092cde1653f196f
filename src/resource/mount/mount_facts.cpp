#include "mount_facts.hpp"

#include <array>

#include "../path_facts.hpp"
#include "../show.hpp"
#include "../sysctl/kernel.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr std::string_view kMountinfo = "/proc/self/mountinfo";
// A machine with ten thousand mounts has 2 MiB.
constexpr std::size_t kMaxMountinfo = 16 * 1024 * 1024;

// Of a file of the kernel's, which says that it is empty.
Result<std::string> read_kernel_file(Sight& sight, std::string_view path, std::size_t limit) {
  DATUM_ASSIGN(const auto where, sight.walker().locate(path));
  DATUM_ASSIGN(const auto file,
               sight.files().open_file(where.folder->handle, where.name, os::Access::read));
  std::string text;
  const auto room = sight.buffer();
  while (text.size() < limit) {
    DATUM_ASSIGN(const auto count, sight.files().read(file, room));
    if (count == 0) return text;
    text.append(as_text(room.first(count)));
  }
  return fail(ErrorCode::limit_exceeded, std::string(path) + " does not end");
}

struct Tag {
  std::string_view prefix;
  std::string_view folder;
};
constexpr std::array kTags{Tag{"UUID=", "/dev/disk/by-uuid/"}, Tag{"LABEL=", "/dev/disk/by-label/"},
                           Tag{"PARTUUID=", "/dev/disk/by-partuuid/"},
                           Tag{"PARTLABEL=", "/dev/disk/by-partlabel/"}};

// As udev spells a label in a file's name.
std::string escaped(std::string_view label) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kPlain = "#+-.:=@_";
  std::string name;
  for (const char c : label) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.find(c) != std::string_view::npos || (c & '\x80') != 0;
    if (plain) {
      name.push_back(c);
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    name.append("\\x").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 15U]);
  }
  return name;
}

std::string path_of_device(std::string_view device) {
  for (const auto& tag : kTags)
    if (device.starts_with(tag.prefix))
      return std::string(tag.folder).append(escaped(device.substr(tag.prefix.size())));
  return std::string(device);
}

// "sda1" of /dev/sda1, or of a link that leads there; empty where nothing is there.
std::string kernel_name(Sight& sight, const std::string& path) {
  const auto where = sight.walker().locate(path);
  const auto stat = where ? sight.find(*where) : Result<std::optional<os::FileStat>>(std::nullopt);
  if (!stat || !*stat) return {};
  if ((*stat)->type != os::FileType::symlink) return where->name;
  const auto target = sight.files().read_symlink(where->folder->handle, where->name);
  return target ? target->substr(target->rfind('/') + 1) : std::string();
}

bool is_network(std::string_view source) {
  return source.starts_with("//") || source.find(":/") != std::string_view::npos;
}

}  // namespace

Result<MountFacts> look_at_mount(Sight& sight, std::string_view path) {
  MountFacts facts;
  const auto where = sight.walker().locate(kFstab);
  if (!where && !is_missing(where.error())) return fail(where.error());
  if (where) {
    DATUM_ASSIGN(const auto stat, sight.find(*where));
    if (stat && stat->type != os::FileType::regular)
      return fail(ErrorCode::refused, "/etc/fstab is a " + std::string(to_string(stat->type)) +
                                          "; not followed and not touched");
    if (stat) {
      DATUM_ASSIGN(facts.fstab, read_whole_text(sight, *where));
      facts.lines = find_fstab_lines(facts.fstab->text, path);
    }
  }
  facts.live = is_live(sight.machine());
  if (!facts.live) return facts;
  DATUM_ASSIGN(const auto mountinfo, read_kernel_file(sight, kMountinfo, kMaxMountinfo));
  facts.mounted = find_mounted(mountinfo, path);
  return facts;
}

WantedMount wanted_mount(const model::Resource& mount) {
  WantedMount wanted{mount.target.name, mount.text(Field::device), mount.text(Field::fs_type), {}};
  if (mount.find(Field::options) != nullptr) wanted.options = mount.text(Field::options);
  return wanted;
}

std::optional<bool> is_mounted_device(Sight& sight, std::string_view device,
                                      const Mounted& mounted) {
  if (device == mounted.source) return true;
  if (is_network(device) || is_network(mounted.source)) return false;
  // What has no disk of its own may be called anything.
  if (mounted.number.starts_with("0:")) return std::nullopt;
  const auto name = kernel_name(sight, path_of_device(device));
  if (name.empty()) return std::nullopt;
  constexpr std::size_t kMaxNumber = 64;
  const auto number = read_kernel_file(sight, "/sys/class/block/" + name + "/dev", kMaxNumber);
  if (!number) return std::nullopt;
  return collapsed(*number) == mounted.number;
}

}  // namespace datum::resource
