// The file system as Datum uses it: descriptors and single names, never paths, and no link is
// followed by any call but `open_directory` with `follow`. `os/linux` is the real one; a model in
// tests/support stands in, keeps what is durable apart from what is not, and can lose the rest.
// Calls block and may be made from any thread; one Handle is used by one thread at a time.
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

  [[nodiscard]] int value() const { return value_; }  // the descriptor, for the same Files only
  explicit operator bool() const { return value_ >= 0; }

 private:
  Files* files_ = nullptr;
  int value_ = -1;
};

enum class FileType : std::uint8_t {
  regular, directory, symlink, fifo, socket, character_device, block_device, unknown
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
  std::uint64_t mount = 0;  // mount id where known, 0 otherwise: two names of one mount compare equal
  bool mount_root = false;  // the name itself is a mount point
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
enum class Access : std::uint8_t { read, write };

class Files {
 public:
  virtual ~Files() = default;

  // An absolute path of the caller's own choosing (never of a document): `/`, `--root`, `--state`.
  [[nodiscard]] virtual Result<Handle> open_root(const std::string& path) = 0;
  // The directory `name` below `parent`. With Follow::no a link is the error `symlink`.
  [[nodiscard]] virtual Result<Handle> open_directory(const Handle& parent, std::string_view name,
                                                      Follow follow) = 0;
  // The regular file `name`, for reading or (existing) for writing in place. A link is `symlink`,
  // anything else that is not a regular file is `invalid_argument`; never blocks on a FIFO.
  [[nodiscard]] virtual Result<Handle> open_file(const Handle& parent, std::string_view name,
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
  // Sets the offset to the next data (or the end) at or after `offset` and returns it: holes are skipped.
  [[nodiscard]] virtual Result<std::uint64_t> seek_data(const Handle& handle,
                                                        std::uint64_t offset) = 0;
  // The end of the data that begins at `offset` (the next hole, or the end of the file).
  [[nodiscard]] virtual Result<std::uint64_t> seek_hole(const Handle& handle,
                                                        std::uint64_t offset) = 0;
  [[nodiscard]] virtual Status seek(const Handle& handle, std::uint64_t offset) = 0;
  [[nodiscard]] virtual Status truncate(const Handle& handle, std::uint64_t size) = 0;

  // Content, metadata and (for a directory) entries are durable on return.
  [[nodiscard]] virtual Status sync(const Handle& handle) = 0;
  // Everything on the file system of `handle`; reports write errors since the handle was opened.
  [[nodiscard]] virtual Status sync_file_system(const Handle& handle) = 0;
  // Whether sync_file_system reports errors (Linux 5.8 and newer).
  [[nodiscard]] virtual bool reports_file_system_sync_errors() = 0;

  [[nodiscard]] virtual Status set_owner(const Handle& handle, std::uint32_t uid,
                                         std::uint32_t gid) = 0;  // UINT32_MAX: unchanged
  [[nodiscard]] virtual Status set_owner_at(const Handle& parent, std::string_view name,
                                            std::uint32_t uid, std::uint32_t gid) = 0;
  [[nodiscard]] virtual Status set_mode(const Handle& handle, std::uint32_t mode) = 0;
  [[nodiscard]] virtual Result<std::vector<Attribute>> read_attributes(const Handle& handle) = 0;
  [[nodiscard]] virtual Status set_attribute(const Handle& handle, const Attribute& attribute) = 0;

  [[nodiscard]] virtual Status make_directory(const Handle& parent, std::string_view name,
                                              std::uint32_t mode) = 0;
  [[nodiscard]] virtual Status make_symlink(const Handle& parent, std::string_view name,
                                            std::string_view target) = 0;
  [[nodiscard]] virtual Result<std::string> read_symlink(const Handle& parent,
                                                         std::string_view name) = 0;
  // Replaces `to` atomically; with `no_replace` an existing `to` is `already_exists`.
  [[nodiscard]] virtual Status rename(const Handle& from_parent, std::string_view from,
                                      const Handle& to_parent, std::string_view to,
                                      bool no_replace) = 0;
  [[nodiscard]] virtual Status remove_file(const Handle& parent, std::string_view name) = 0;
  [[nodiscard]] virtual Status remove_directory(const Handle& parent, std::string_view name) = 0;
  // Entries in no order.
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> list(const Handle& directory) = 0;
  [[nodiscard]] virtual Result<Space> space(const Handle& handle) = 0;

 protected:
  friend class Handle;
  virtual void close(int value) noexcept = 0;
};

}  // namespace datum::os
