// Files over the *at calls of Linux. Every descriptor is close-on-exec, no link is followed unless
// asked, and nothing is opened before its type is known: opening a FIFO wakes its writer, opening a
// watchdog arms it. Owns nothing but the descriptors that its handles name.
#include "datum/os_linux/linux_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <limits>

#include "attributes.hpp"
#include "system_call.hpp"

namespace datum::os_linux {

namespace {

using os::Access;
using os::DirectoryEntry;
using os::FileStat;
using os::FileType;
using os::Follow;
using os::Handle;
using os::OpenedFile;

constexpr int kOpenAttempts = 3;                // of a name that changes between two calls
constexpr std::size_t kMaxEntries = 1'000'000;  // held in memory by the caller, about 100 MiB
constexpr std::size_t kListBytes = 64 * 1024;   // one getdents64 reads about 2,000 names
constexpr int kCommonFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

// A checked name with its NUL, on the stack: no allocation per call.
class Name {
 public:
  explicit Name(std::string_view name) : valid_(os::is_valid_name(name)) {
    if (!valid_) return;
    std::memcpy(text_.data(), name.data(), name.size());
    text_[name.size()] = '\0';
  }
  explicit operator bool() const { return valid_; }
  [[nodiscard]] const char* text() const { return text_.data(); }

 private:
  std::array<char, 256> text_;
  bool valid_;
};

tl::unexpected<Error> invalid_name(std::string_view name) {
  return fail(ErrorCode::invalid_argument, "not a file name: \"" + std::string(name) + "\"");
}

FileType type_from_mode(std::uint32_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileType::regular;
    case S_IFDIR:
      return FileType::directory;
    case S_IFLNK:
      return FileType::symlink;
    case S_IFIFO:
      return FileType::fifo;
    case S_IFSOCK:
      return FileType::socket;
    case S_IFCHR:
      return FileType::character_device;
    case S_IFBLK:
      return FileType::block_device;
    default:
      return FileType::unknown;
  }
}

FileType type_from_entry(unsigned char type) {
  return type == DT_UNKNOWN ? FileType::unknown : type_from_mode(DTTOIF(type));
}

FileStat from_statx(const struct statx& raw) {
  FileStat stat;
  stat.type = type_from_mode(raw.stx_mode);
  stat.mode = raw.stx_mode & 07777U;
  stat.uid = raw.stx_uid;
  stat.gid = raw.stx_gid;
  stat.device = makedev(raw.stx_dev_major, raw.stx_dev_minor);
  stat.inode = raw.stx_ino;
  stat.links = raw.stx_nlink;
  stat.size = raw.stx_size;
  stat.allocated = raw.stx_blocks * 512;
  stat.mtime_ns = raw.stx_mtime.tv_sec * 1'000'000'000 + raw.stx_mtime.tv_nsec;
  stat.ctime_ns = raw.stx_ctime.tv_sec * 1'000'000'000 + raw.stx_ctime.tv_nsec;
  // Both need Linux 5.8; before it a mount point shows only when something is renamed onto it.
  if ((raw.stx_mask & STATX_MNT_ID) != 0) stat.mount = raw.stx_mnt_id;
  stat.mount_root = (raw.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
  stat.immutable = (raw.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
  return stat;
}

Result<FileStat> stat_raw(int descriptor, const char* name, int flags) {
  struct statx raw {};
  const auto done = retry([&] {
    return ::statx(descriptor, name, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                   STATX_BASIC_STATS | STATX_MNT_ID, &raw);
  });
  if (done < 0) return last_error("stat");
  return from_statx(raw);
}

// Opens for reading without changing the access time, which only an owner or root may ask for.
int open_quietly(int parent, const char* name, int flags) {
  const auto descriptor = retry([&] { return ::openat(parent, name, flags | O_NOATIME); });
  if (descriptor >= 0 || errno != EPERM) return descriptor;
  return retry([&] { return ::openat(parent, name, flags); });
}

bool kernel_is_at_least(int major, int minor) {
  utsname name{};
  int found_major = 0;
  int found_minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &found_major, &found_minor) != 2)
    return false;
  return found_major > major || (found_major == major && found_minor >= minor);
}

class LinuxFiles final : public os::Files {
 public:
  Result<Handle> open_root(const std::string& path) override {
    if (path.empty() || path[0] != '/')
      return fail(ErrorCode::invalid_argument, "not an absolute path: \"" + path + "\"");
    const auto descriptor =
        retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (descriptor < 0) return last_error("open " + path);
    return Handle(*this, descriptor);
  }

  Result<Handle> open_directory(const Handle& parent, std::string_view name,
                                Follow follow) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    const int no_follow = follow == Follow::no ? O_NOFOLLOW : 0;
    const auto descriptor =
        open_quietly(parent.value(), checked.text(),
                     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | no_follow);
    if (descriptor >= 0) return Handle(*this, descriptor);
    const int reason = errno;
    // With O_DIRECTORY the kernel says ENOTDIR for a link, too.
    if (reason == ENOTDIR && follow == Follow::no) {
      const auto stat = stat_raw(parent.value(), checked.text(), 0);
      if (stat && stat->type == FileType::symlink) return error_of(ELOOP, "open directory");
    }
    return error_of(reason, "open directory");
  }

  Result<Handle> open_file(const Handle& parent, std::string_view name, Access access) override {
    DATUM_ASSIGN(auto opened, open_file_with_stat(parent, name, access));
    return std::move(opened.handle);
  }

  Result<OpenedFile> open_file_with_stat(const Handle& parent, std::string_view name,
                                         Access access) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    if (access == Access::read_expected) return open_expected(parent, checked);
    for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
      DATUM_ASSIGN(const auto before, stat_raw(parent.value(), checked.text(), 0));
      DATUM_TRY(need_regular(before.type));
      const auto descriptor =
          access == Access::read
              ? open_quietly(parent.value(), checked.text(), O_RDONLY | kCommonFlags)
              : retry([&] {
                  return ::openat(parent.value(), checked.text(), O_RDWR | kCommonFlags);
                });
      if (descriptor < 0) return last_error("open file");
      OpenedFile opened{Handle(*this, descriptor), {}};
      DATUM_ASSIGN(opened.stat, stat(opened.handle));
      if (opened.stat.inode == before.inode && opened.stat.device == before.device) return opened;
    }
    return fail(ErrorCode::conflict, "open file: the name keeps changing");
  }

  Result<Handle> create_file(const Handle& parent, std::string_view name) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    const auto descriptor = retry([&] {
      return ::openat(parent.value(), checked.text(), O_RDWR | O_CREAT | O_EXCL | kCommonFlags,
                      0600);
    });
    if (descriptor < 0) return last_error("create file");
    return Handle(*this, descriptor);
  }

  Result<FileStat> stat(const Handle& handle) override {
    return stat_raw(handle.value(), "", AT_EMPTY_PATH);
  }

  Result<FileStat> stat_at(const Handle& parent, std::string_view name) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    return stat_raw(parent.value(), checked.text(), 0);
  }

  Result<std::size_t> read(const Handle& handle, MutableByteView out) override {
    const auto count = retry([&] { return ::read(handle.value(), out.data(), out.size()); });
    if (count < 0) return last_error("read");
    return static_cast<std::size_t>(count);
  }

  Status write(const Handle& handle, ByteView bytes) override {
    while (!bytes.empty()) {
      const auto count = retry([&] { return ::write(handle.value(), bytes.data(), bytes.size()); });
      if (count < 0) return last_error("write");
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }

  Result<std::uint64_t> seek_data(const Handle& handle, std::uint64_t offset) override {
    DATUM_TRY(check_offset(offset));
    auto at = ::lseek(handle.value(), static_cast<off_t>(offset), SEEK_DATA);
    if (at < 0 && errno == ENXIO) at = ::lseek(handle.value(), 0, SEEK_END);
    if (at < 0 && errno == EINVAL)
      at = ::lseek(handle.value(), static_cast<off_t>(offset), SEEK_SET);
    if (at < 0) return last_error("seek to data");
    return static_cast<std::uint64_t>(at);
  }

  Result<std::uint64_t> seek_hole(const Handle& handle, std::uint64_t offset) override {
    DATUM_TRY(check_offset(offset));
    auto end = ::lseek(handle.value(), static_cast<off_t>(offset), SEEK_HOLE);
    if (end < 0 && errno == ENXIO) end = ::lseek(handle.value(), 0, SEEK_END);
    if (end < 0 && errno == EINVAL) end = std::numeric_limits<off_t>::max();
    if (end < 0) return last_error("seek to hole");
    DATUM_TRY(seek(handle, offset));
    return static_cast<std::uint64_t>(end);
  }

  Status seek(const Handle& handle, std::uint64_t offset) override {
    DATUM_TRY(check_offset(offset));
    if (::lseek(handle.value(), static_cast<off_t>(offset), SEEK_SET) < 0)
      return last_error("seek");
    return {};
  }

  Status truncate(const Handle& handle, std::uint64_t size) override {
    DATUM_TRY(check_offset(size));
    return status_of(retry([&] { return ::ftruncate(handle.value(), static_cast<off_t>(size)); }),
                     "truncate");
  }

  // Not repeated after EINTR or any other error: the kernel reports a failed write-back once.
  Status sync(const Handle& handle) override { return status_of(::fsync(handle.value()), "sync"); }

  Status sync_file_system(const Handle& handle) override {
    return status_of(::syncfs(handle.value()), "sync file system");
  }

  bool reports_file_system_sync_errors() override { return reports_sync_errors_; }

  Status set_owner(const Handle& handle, std::uint32_t uid, std::uint32_t gid) override {
    return status_of(retry([&] { return ::fchown(handle.value(), uid, gid); }), "set owner");
  }

  Status set_owner_at(const Handle& parent, std::string_view name, std::uint32_t uid,
                      std::uint32_t gid) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    return status_of(retry([&] {
                       return ::fchownat(parent.value(), checked.text(), uid, gid,
                                         AT_SYMLINK_NOFOLLOW);
                     }),
                     "set owner");
  }

  Status set_mode(const Handle& handle, std::uint32_t mode) override {
    return status_of(retry([&] { return ::fchmod(handle.value(), mode & 07777U); }), "set mode");
  }

  Result<std::vector<os::Attribute>> read_attributes(const Handle& handle) override {
    return os_linux::read_attributes(handle.value());
  }
  Status set_attribute(const Handle& handle, const os::Attribute& attribute) override {
    return os_linux::set_attribute(handle.value(), attribute);
  }
  Status remove_attribute(const Handle& handle, std::string_view name) override {
    return os_linux::remove_attribute(handle.value(), name);
  }
  Status carry_flags(const Handle& from, const Handle& to) override {
    return os_linux::carry_flags(from.value(), to.value());
  }

  // Made closed to others, then given its mode through its descriptor: the umask has no say in
  // that.
  Status make_directory(const Handle& parent, std::string_view name, std::uint32_t mode) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    if (retry([&] { return ::mkdirat(parent.value(), checked.text(), 0700); }) < 0)
      return last_error("make directory");
    auto made = open_directory(parent, name, Follow::no);
    Status status = made ? set_mode(*made, mode) : fail(std::move(made).error());
    if (!status) ::unlinkat(parent.value(), checked.text(), AT_REMOVEDIR);
    return status;
  }

  Status make_symlink(const Handle& parent, std::string_view name,
                      std::string_view target) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    if (target.empty() || target.find('\0') != std::string_view::npos)
      return fail(ErrorCode::invalid_argument, "make symbolic link: not a target");
    const std::string text(target);
    return status_of(
        retry([&] { return ::symlinkat(text.c_str(), parent.value(), checked.text()); }),
        "make symbolic link");
  }

  Result<std::string> read_symlink(const Handle& parent, std::string_view name) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    std::array<char, PATH_MAX> text{};  // the kernel allows no longer target
    const auto size = retry(
        [&] { return ::readlinkat(parent.value(), checked.text(), text.data(), text.size()); });
    if (size < 0) return last_error("read symbolic link");
    return std::string(text.data(), static_cast<std::size_t>(size));
  }

  Status rename(const Handle& from_parent, std::string_view from, const Handle& to_parent,
                std::string_view to, bool no_replace) override {
    const Name old_name(from);
    const Name new_name(to);
    if (!old_name) return invalid_name(from);
    if (!new_name) return invalid_name(to);
    const unsigned flags = no_replace ? RENAME_NOREPLACE : 0;
    if (retry([&] {
          return ::renameat2(from_parent.value(), old_name.text(), to_parent.value(),
                             new_name.text(), flags);
        }) == 0)
      return {};
    const int reason = errno;
    // A file system that knows no such flag (some network ones): a link never replaces either.
    if (no_replace && (reason == EINVAL || reason == ENOSYS) &&
        ::linkat(from_parent.value(), old_name.text(), to_parent.value(), new_name.text(), 0) == 0)
      return status_of(::unlinkat(from_parent.value(), old_name.text(), 0), "rename");
    return error_of(no_replace && errno == EEXIST ? EEXIST : reason, "rename");
  }

  Status remove_file(const Handle& parent, std::string_view name) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    return status_of(retry([&] { return ::unlinkat(parent.value(), checked.text(), 0); }),
                     "remove file");
  }

  Status remove_directory(const Handle& parent, std::string_view name) override {
    const Name checked(name);
    if (!checked) return invalid_name(name);
    const auto done =
        retry([&] { return ::unlinkat(parent.value(), checked.text(), AT_REMOVEDIR); });
    // POSIX lets a file system say EEXIST for a directory that is not empty.
    if (done < 0 && errno == EEXIST) return error_of(ENOTEMPTY, "remove directory");
    return status_of(done, "remove directory");
  }

  // Through a description of its own, so that the shared handle keeps its offset.
  Result<std::vector<DirectoryEntry>> list(const Handle& directory) override {
    const auto descriptor =
        open_quietly(directory.value(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return last_error("list directory");
    const Handle own(*this, descriptor);
    std::vector<DirectoryEntry> entries;
    std::vector<std::byte> buffer(kListBytes);
    while (true) {
      const auto count =
          retry([&] { return ::getdents64(descriptor, buffer.data(), buffer.size()); });
      if (count < 0) return last_error("list directory");
      if (count == 0) return entries;
      DATUM_TRY(add_entries(own, {buffer.data(), static_cast<std::size_t>(count)}, entries));
    }
  }

  Result<os::Space> space(const Handle& handle) override {
    struct statvfs raw {};
    if (retry([&] { return ::fstatvfs(handle.value(), &raw); }) < 0) return last_error("space");
    // A file system without a table of inodes (btrfs) says 0 of 0.
    const std::uint64_t inodes = raw.f_files == 0 ? UINT64_MAX : raw.f_favail;
    return os::Space{std::uint64_t{raw.f_bavail} * raw.f_frsize, inodes};
  }

 protected:
  // After EINTR the descriptor is gone on Linux: never repeated.
  void close(int value) noexcept override { ::close(value); }

 private:
  static Status need_regular(FileType type) {
    if (type == FileType::regular) return {};
    if (type == FileType::symlink) return error_of(ELOOP, "open file");
    if (type == FileType::directory) return error_of(EISDIR, "open file");
    return fail(ErrorCode::invalid_argument, "open file: a " + std::string(to_string(type)));
  }

  Result<OpenedFile> open_expected(const Handle& parent, const Name& name) {
    const auto descriptor = open_quietly(parent.value(), name.text(), O_RDONLY | kCommonFlags);
    if (descriptor < 0 && errno == ENOENT) return last_error("open file");
    // A link, a socket, a device on a file system without devices: a look tells what it is.
    if (descriptor < 0) return open_file_with_stat(parent, name.text(), Access::read);
    OpenedFile opened{Handle(*this, descriptor), {}};
    DATUM_ASSIGN(opened.stat, stat(opened.handle));
    DATUM_TRY(need_regular(opened.stat.type));
    return opened;
  }

  static Status check_offset(std::uint64_t offset) {
    if (offset <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) return {};
    return fail(ErrorCode::limit_exceeded, "an offset beyond 2^63 - 1");
  }

  static Status add_entries(const Handle& directory, ByteView raw,
                            std::vector<DirectoryEntry>& entries) {
    while (!raw.empty()) {
      dirent64 head{};
      std::memcpy(&head, raw.data(), std::min(raw.size(), sizeof head));
      const std::string_view name(reinterpret_cast<const char*>(raw.data()) +
                                  offsetof(dirent64, d_name));
      raw = raw.subspan(head.d_reclen);
      if (name == "." || name == "..") continue;
      if (entries.size() == kMaxEntries)
        return fail(ErrorCode::limit_exceeded, "a directory of more than 1,000,000 entries");
      auto type = type_from_entry(head.d_type);
      if (type == FileType::unknown) {
        const auto stat = stat_raw(directory.value(), std::string(name).c_str(), 0);
        if (stat) type = stat->type;
      }
      entries.push_back({std::string(name), type});
    }
    return {};
  }

  const bool reports_sync_errors_ = kernel_is_at_least(5, 8);
};

}  // namespace

std::unique_ptr<os::Files> make_files() {
  return std::make_unique<LinuxFiles>();
}

}  // namespace datum::os_linux
