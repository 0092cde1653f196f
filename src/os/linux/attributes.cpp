// f*xattr and the flags of chattr. An attribute may grow or vanish between two calls; both are read
// again or passed over.
#include "attributes.hpp"

#include <linux/fs.h>
#include <linux/limits.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "system_call.hpp"

namespace datum::os_linux {

namespace {

// Most files have none, most of the others one label: both fit here without an allocation.
constexpr std::size_t kFirstBytes = 1024;
// The kernel's own limits.
constexpr std::size_t kMaxListBytes = XATTR_LIST_MAX;
constexpr std::size_t kMaxValueBytes = XATTR_SIZE_MAX;
// Ours: labels, ACLs and notes have some kilobytes; a file system that allows a full list of full
// values would otherwise have us hold 700 MiB for somebody's file.
constexpr std::size_t kMaxAllBytes = 1024 * 1024;

// A descriptor that was opened only as a place in the tree has no attributes to read.
int named_reason(int reason) {
  return reason == EBADF ? EOPNOTSUPP : reason;
}

Result<std::string> read_names(int descriptor) {
  std::array<char, kFirstBytes> first;
  auto size = retry([&] { return ::flistxattr(descriptor, first.data(), first.size()); });
  if (size >= 0) return std::string(first.data(), static_cast<std::size_t>(size));
  if (errno == EOPNOTSUPP) return std::string();
  if (errno != ERANGE) return error_of(named_reason(errno), "list attributes");
  std::string names(kMaxListBytes, '\0');
  size = retry([&] { return ::flistxattr(descriptor, names.data(), names.size()); });
  if (size < 0) return last_error("list attributes");
  names.resize(static_cast<std::size_t>(size));
  return names;
}

Result<Bytes> read_value(int descriptor, const char* name) {
  std::array<std::byte, kFirstBytes> first;
  auto size = retry([&] { return ::fgetxattr(descriptor, name, first.data(), first.size()); });
  if (size >= 0) return Bytes(first.begin(), first.begin() + size);
  if (errno != ERANGE) return last_error(name);
  Bytes value(kMaxValueBytes);
  size = retry([&] { return ::fgetxattr(descriptor, name, value.data(), value.size()); });
  if (size < 0) return last_error(name);
  value.resize(static_cast<std::size_t>(size));
  return value;
}

}  // namespace

Result<std::vector<os::Attribute>> read_attributes(int descriptor) {
  DATUM_ASSIGN(const auto names, read_names(descriptor));
  std::vector<os::Attribute> attributes;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < names.size();) {
    const std::string name(names.c_str() + at);
    at += name.size() + 1;
    auto value = read_value(descriptor, name.c_str());
    if (!value && value.error().sys_errno() == ENODATA) continue;
    if (!value) return fail(std::move(value).error());
    bytes += name.size() + value->size();
    if (bytes > kMaxAllBytes)
      return fail(ErrorCode::limit_exceeded, "more than 1 MiB of extended attributes");
    attributes.push_back({name, std::move(*value)});
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return attributes;
}

Status set_attribute(int descriptor, const os::Attribute& attribute) {
  if (::fsetxattr(descriptor, attribute.name.c_str(), attribute.value.data(),
                  attribute.value.size(), 0) < 0)
    return error_of(named_reason(errno), "set attribute " + attribute.name);
  return {};
}

Status remove_attribute(int descriptor, std::string_view name) {
  const std::string text(name);
  if (::fremovexattr(descriptor, text.c_str()) < 0)
    return error_of(named_reason(errno), "remove attribute " + text);
  return {};
}

// Nothing where the file system has no flags, or the descriptor is one of a place only.
static Result<std::optional<int>> read_flags(int descriptor) {
  int flags = 0;
  if (::ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0) return flags;
  if (errno == ENOTTY || errno == EOPNOTSUPP || errno == EBADF || errno == EINVAL ||
      errno == ENOSYS)
    return std::nullopt;
  return last_error("read inode flags");
}

Status carry_flags(int from, int to) {
  constexpr int kCarried = FS_SYNC_FL | FS_NODUMP_FL | FS_NOATIME_FL | FS_JOURNAL_DATA_FL |
                           FS_COMPR_FL | FS_NOCOMP_FL | FS_NOCOW_FL;
  DATUM_ASSIGN(const auto wanted, read_flags(from));
  if (!wanted) return {};
  DATUM_ASSIGN(const auto present, read_flags(to));
  if (!present) return {};
  int flags = (*present & ~kCarried) | (*wanted & kCarried);
  if (flags == *present) return {};
  if (::ioctl(to, FS_IOC_SETFLAGS, &flags) != 0) return last_error("set inode flags");
  return {};
}

}  // namespace datum::os_linux
