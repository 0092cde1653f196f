// The file system as Datum uses it: descriptors and single names, never paths, and no link is
// followed by any call but `open_directory` with `follow`. `os/linux` is the real one; a model in
// tests/support stands in, keeps what is durable apart from what is not, and can lose the rest.
// Calls block and may be made from any thread. A Handle of a file is used by one thread at a time;
// one of a directory may serve several as a parent, for `stat` and for `list`.
//
// A `name` is one component: 1 to 255 bytes, neither "." nor "..", without '/' and NUL; anything
// else is `invalid_argument`. Reading leaves no trace where that is possible (no access times), and
// no call opens a device or a FIFO.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::os {

class Files;

// An open file or directory. Closed when destroyed; movable.
class Handle {
 public:
  Handle() = default;
  Handle(Files& files, int value) : files_(&files), value_(value) {}
  Handle(Handle&& other) noexcept
      : files_(std::exchange(other.files_, nullptr)), value_(std::exchange(other.value_, -1)) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle();

  // A second name for an open handle that does not close it and must not outlive it.
  [[nodiscard]] static Handle borrow(const Handle& other) {
    Handle handle;
    handle.value_ = other.value_;
    return handle;
  }

  [[nodiscard]] int value() const { return value_; }  // the descriptor, for the same Files only
  explicit operator bool() const { return value_ >= 0; }

 private:
  Files* files_ = nullptr;
  int value_ = -1;
};

enum class FileType : std::uint8_t {
  regular,
  directory,
  symlink,
  fifo,
  socket,
  character_device,
  block_device,
  unknown
};
[[nodiscard]] std::string_view to_string(FileType type);  // "regular file", "directory", …

struct FileStat {
  FileType type = FileType::unknown;
  std::uint32_t mode = 0;  // permission bits, 07777
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t links = 0;
  std::uint64_t size = 0;       // bytes
  std::uint64_t allocated = 0;  // bytes on disk (holes are not counted)
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t mount =
      0;  // mount id where known, 0 otherwise: two names of one mount compare equal
  bool mount_root = false;  // the name itself is a mount point
  bool immutable = false;   // chattr +i or +a, where the file system tells: nobody may change it
};

struct DirectoryEntry {
  std::string name;  // opaque bytes, never "." or ".."
  FileType type = FileType::unknown;
};

struct Space {
  std::uint64_t free_bytes = 0;  // for this user
  std::uint64_t free_inodes = 0;
};

struct Attribute {
  std::string name;  // "user.x", "security.selinux", "system.posix_acl_access"
  Bytes value;
};

enum class Follow : bool { no, yes };
enum class Access : std::uint8_t {
  read,
  write,
  // As `read`, without a look beforehand: for a name under which a regular file was left, in a
  // folder in which nobody but root can put something else. What lies there instead by now is
  // opened for a moment, never waited for, and refused as by `read`.
  read_expected,
};

// A file and what it was at the moment of opening.
struct OpenedFile {
  Handle handle;
  FileStat stat;
};

// One component of a path as every call of Files takes it.
[[nodiscard]] bool is_valid_name(std::string_view name);

class Files {
 public:
  virtual ~Files() = default;

  // An absolute path of the caller's own choosing (never of a document): `/`, `--root`, `--state`.
  [[nodiscard]] virtual Result<Handle> open_root(const std::string& path) = 0;
  // The directory `name` below `parent`. With Follow::no a link is the error `symlink`.
  [[nodiscard]] virtual Result<Handle> open_directory(const Handle& parent, std::string_view name,
                                                      Follow follow) = 0;
  // The regular file `name`, for reading or (existing) for reading and writing in place. A link is
  // `symlink`, a directory `is_directory`, anything else that is not a regular file
  // `invalid_argument`; `conflict` if the name kept changing meanwhile.
  [[nodiscard]] virtual Result<Handle> open_file(const Handle& parent, std::string_view name,
                                                 Access access) = 0;
  // The same with the file's `stat`, at no further cost.
  [[nodiscard]] virtual Result<OpenedFile> open_file_with_stat(const Handle& parent,
                                                               std::string_view name,
                                                               Access access) = 0;
  // A new regular file, mode 0600, `already_exists` if the name is taken.
  [[nodiscard]] virtual Result<Handle> create_file(const Handle& parent, std::string_view name) = 0;

  [[nodiscard]] virtual Result<FileStat> stat(const Handle& handle) = 0;
  // Of the name itself: a link is not followed.
  [[nodiscard]] virtual Result<FileStat> stat_at(const Handle& parent, std::string_view name) = 0;

  // Up to out.size() bytes from the current offset; 0 is the end.
  [[nodiscard]] virtual Result<std::size_t> read(const Handle& handle, MutableByteView out) = 0;
  // All of it, at the current offset.
  [[nodiscard]] virtual Status write(const Handle& handle, ByteView bytes) = 0;
  // Sets the offset to the next data (or the end) at or after `offset` and returns it: holes are
  // skipped. A file system that cannot tell (/proc) has data at `offset`.
  [[nodiscard]] virtual Result<std::uint64_t> seek_data(const Handle& handle,
                                                        std::uint64_t offset) = 0;
  // The end of the data that begins at `offset` (the next hole, or the end of the file); INT64_MAX
  // from a file system that cannot tell. The offset is `offset` afterwards.
  [[nodiscard]] virtual Result<std::uint64_t> seek_hole(const Handle& handle,
                                                        std::uint64_t offset) = 0;
  [[nodiscard]] virtual Status seek(const Handle& handle, std::uint64_t offset) = 0;
  [[nodiscard]] virtual Status truncate(const Handle& handle, std::uint64_t size) = 0;

  // Content, metadata and (for a directory) entries are durable on return. After an error nothing
  // is known of them, and a second call that succeeds proves nothing.
  [[nodiscard]] virtual Status sync(const Handle& handle) = 0;
  // Everything on the file system of `handle`; reports write errors since the handle was opened.
  [[nodiscard]] virtual Status sync_file_system(const Handle& handle) = 0;
  // Whether sync_file_system reports errors (Linux 5.8 and newer).
  [[nodiscard]] virtual bool reports_file_system_sync_errors() = 0;

  [[nodiscard]] virtual Status set_owner(const Handle& handle, std::uint32_t uid,
                                         std::uint32_t gid) = 0;  // UINT32_MAX: unchanged
  [[nodiscard]] virtual Status set_owner_at(const Handle& parent, std::string_view name,
                                            std::uint32_t uid, std::uint32_t gid) = 0;
  // Changing an owner clears set-uid, set-gid and capabilities of a file: owner first, then mode.
  [[nodiscard]] virtual Status set_mode(const Handle& handle, std::uint32_t mode) = 0;
  // All extended attributes, ACLs and the security label included, sorted by name. Empty where the
  // file system has none; more than 1 MiB of them are `limit_exceeded`.
  [[nodiscard]] virtual Result<std::vector<Attribute>> read_attributes(const Handle& handle) = 0;
  // Creates or replaces. `unsupported` where the file system has none.
  [[nodiscard]] virtual Status set_attribute(const Handle& handle, const Attribute& attribute) = 0;
  // `not_found` if there is none of that name.
  [[nodiscard]] virtual Status remove_attribute(const Handle& handle, std::string_view name) = 0;
  // The inode flags that people set with chattr and that change nothing for who may write
  // (synchronous, no dump, no atime, journalled, compressed, no copy on write) become those of
  // `from`; every other flag of `to` stays, its extents among them. `to` is empty still: some are
  // taken only then. Nothing happens on file systems without flags.
  [[nodiscard]] virtual Status carry_flags(const Handle& from, const Handle& to) = 0;

  // With exactly `mode`, whatever the process's umask.
  [[nodiscard]] virtual Status make_directory(const Handle& parent, std::string_view name,
                                              std::uint32_t mode) = 0;
  [[nodiscard]] virtual Status make_symlink(const Handle& parent, std::string_view name,
                                            std::string_view target) = 0;
  [[nodiscard]] virtual Result<std::string> read_symlink(const Handle& parent,
                                                         std::string_view name) = 0;
  // Replaces `to` atomically; with `no_replace` an existing `to` is `already_exists`. A mount point
  // on either side is `busy`, another file system `cross_device`; after an error nothing has
  // changed.
  [[nodiscard]] virtual Status rename(const Handle& from_parent, std::string_view from,
                                      const Handle& to_parent, std::string_view to,
                                      bool no_replace) = 0;
  [[nodiscard]] virtual Status remove_file(const Handle& parent, std::string_view name) = 0;
  [[nodiscard]] virtual Status remove_directory(const Handle& parent, std::string_view name) = 0;
  // Entries in no order, at most 1,000,000 (then `limit_exceeded`: the caller holds them in
  // memory).
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> list(const Handle& directory) = 0;
  [[nodiscard]] virtual Result<Space> space(const Handle& handle) = 0;

 protected:
  friend class Handle;
  virtual void close(int value) noexcept = 0;
};

}  // namespace datum::os
