#include "store_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "store_lock.hpp"

namespace datum::journal {

// What replace_file leaves of a mark when it is cut off.
static constexpr const char* kCleanPart = "clean.part";
// What LMDB 0.9 makes of it with its 126 slots for readers.
static constexpr off_t kLmdbLockSize = 8192;

Status make_folder(const std::string& path) {
  if (path.size() < 2 || path.front() != '/' || path.back() == '/')
    return fail(ErrorCode::invalid_argument, "'" + path + "' is not an absolute folder");
  for (auto end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const auto part = path.substr(0, end);
    struct stat info {};
    if (::stat(part.c_str(), &info) == 0) {
      if (end == std::string::npos) return {};
      continue;
    }
    const bool is_own = end == std::string::npos || path.find('/', end + 1) == std::string::npos;
    const mode_t mode = is_own ? 0700 : 0755;
    if (::mkdir(part.c_str(), mode) == 0) {
      // umask may have taken bits.
      if (::chmod(part.c_str(), mode) != 0) return fail(error_from_errno(errno, "chmod " + part));
      DATUM_ASSIGN(const PathParts parts, split_path(part));
      DATUM_ASSIGN(const Fd parent, open_folder(parts.folder));
      DATUM_TRY(sync_fd(parent.get(), parts.folder));
    } else if (errno != EEXIST) {
      return fail(error_from_errno(errno, "make folder " + part));
    }
    if (end == std::string::npos) return {};
  }
}

static Status check_node(const struct stat& info, const std::string& path, const char* mode) {
  if (info.st_uid != ::geteuid())
    return fail(ErrorCode::refused,
                path + " belongs to user " + std::to_string(info.st_uid) +
                    ": the store must belong to the user that opens it (chown " +
                    std::to_string(::geteuid()) + " " + path + ")");
  if ((info.st_mode & 077) != 0)
    return fail(ErrorCode::refused, path + " is open to others: run chmod " + mode + " " + path);
  return {};
}

Status check_access(int folder, const std::string& path) {
  struct stat info {};
  if (::fstat(folder, &info) != 0) return fail(error_from_errno(errno, "stat " + path));
  DATUM_TRY(check_node(info, path, "700"));
  if (::fstatat(folder, kDataName, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return fail(error_from_errno(errno, "stat data.mdb"));
  }
  const auto data = path + "/" + kDataName;
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::refused, data + " is no regular file");
  return check_node(info, data, "600");
}

// Of linux/magic.h and the file systems' own sources. FUSE is not here: what lies behind it may be
// local, and what is not fails its first flock or map.
bool is_network_file_system(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 10> kTypes = {
      0x6969,      // nfs
      0xFF534D42,  // cifs
      0xFE534D42,  // smb2
      0x517B,      // smb
      0x564C,      // ncp
      0x00C36400,  // ceph
      0x5346414F,  // afs
      0x0BD00BD0,  // lustre
      0x47504653,  // gpfs
      0x73757245,  // coda
  };
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

Status check_file_system(int fd, const std::string& path) {
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return fail(error_from_errno(errno, "ask for the file system"));
  // The field is signed, the magic numbers are 32 bits.
  if (!is_network_file_system(static_cast<std::uint32_t>(info.f_type))) return {};
  return fail(ErrorCode::refused,
              path +
                  " lies on a network file system, which cannot hold a store: its locks and its "
                  "memory map are not kept there; name a folder of a local disk");
}

bool is_still_at(int folder, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(folder, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void remove_store_folder(const std::string& path) {
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return;
  for (const auto* const name : {kDataName, kLmdbLockName, kWriterLockName, kCleanName, kCleanPart})
    ::unlinkat(folder.get(), name, 0);
  ::rmdir(path.c_str());
}

Status prepare_lmdb_lock(int folder) {
  const std::string name = kLmdbLockName;
  const auto opened = open_at(folder, name, O_RDWR | O_CREAT | O_NONBLOCK);
  if (!opened && opened.error().code() == ErrorCode::read_only) return {};
  const auto refuse = [&name](std::string_view why) {
    return fail(ErrorCode::refused, name + " " + std::string(why) + ": remove it; it is made anew");
  };
  if (!opened && opened.error().code() == ErrorCode::symlink) return refuse("is a link");
  if (!opened) return fail(opened.error());
  struct stat info {};
  if (::fstat(opened->get(), &info) != 0) return fail(error_from_errno(errno, name));
  if (!S_ISREG(info.st_mode)) return refuse("is not a regular file");
  if (info.st_nlink != 1) return refuse("is another name of some file");
  if (info.st_uid != ::geteuid()) return refuse("belongs to another user");
  if (::fallocate(opened->get(), FALLOC_FL_KEEP_SIZE, 0, kLmdbLockSize) == 0) return {};
  if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return fail(error_from_errno(errno, "make room for " + name));
}

bool has_file(int folder, const char* name) {
  return ::faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

StepHook steps_of(const CrashPoint& crash_point, const Head& head) {
  if (!crash_point) return {};
  return [&crash_point, head](std::string_view point) { crash_point(point, head); };
}

Status create_data(int folder, const std::string& path,
                   const std::function<Status(const std::string&)>& make, const StepHook& hook) {
  const auto reach = [&hook](std::string_view point) {
    if (hook) hook(point);
  };
  const auto inner = path + "/" + kCreatingName;
  const auto clear = [&] {
    ::unlink((inner + "/" + kDataName).c_str());
    ::unlink((inner + "/" + kLmdbLockName).c_str());
    return ::unlinkat(folder, kCreatingName, AT_REMOVEDIR) == 0 || errno == ENOENT;
  };
  if (!clear()) return fail(error_from_errno(errno, "remove " + inner));
  if (::mkdirat(folder, kCreatingName, 0700) != 0)
    return fail(error_from_errno(errno, "make " + inner));
  DATUM_TRY(make(inner));
  // The commit inside was synced; the name that it gets now must be too.
  reach("before naming the data");
  if (::rename((inner + "/" + kDataName).c_str(), (path + "/" + kDataName).c_str()) != 0)
    return fail(error_from_errno(errno, "rename data.mdb"));
  reach("after naming the data");
  reach("before sync of the name");
  DATUM_TRY(sync_fd(folder, path));
  reach("after sync of the name");
  if (!clear()) return fail(error_from_errno(errno, "remove " + inner));
  return {};
}

}  // namespace datum::journal
