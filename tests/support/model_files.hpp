// A modelled machine's file system: os::Files in memory, complete, without the real one. It keeps
// what is durable apart from what is not, can lose the difference (`crash`), refuse calls on demand
// and run full. Acts as root: no permission is ever denied but by an immutable file. Any thread may
// call it.
//
// Paths given to the functions for tests are absolute and followed through no link.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/time.hpp"
#include "datum/os/files.hpp"
#include "support/model_disk.hpp"

namespace datum::support {

enum class Call : std::uint8_t {
  open_root,
  open_directory,
  open_file,
  create_file,
  stat,
  stat_at,
  read,
  write,
  seek,
  truncate,
  sync,
  sync_file_system,
  set_owner,
  set_mode,
  read_attributes,
  set_attribute,
  remove_attribute,
  carry_flags,
  make_directory,
  make_symlink,
  read_symlink,
  rename,
  remove_file,
  remove_directory,
  list,
  space
};
[[nodiscard]] std::string_view to_string(Call call);
// Whether the call can change what another sees or what survives.
[[nodiscard]] bool changes_machine(Call call);

class ModelFiles final : public os::Files {
 public:
  ModelFiles();  // "/", mode 0755, of root; durable
  ~ModelFiles() override;

  // --- setting the scene; parents are made, what is there is replaced
  void put_directory(const std::string& path, std::uint32_t mode = 0755, std::uint32_t uid = 0,
                     std::uint32_t gid = 0);
  void put_file(const std::string& path, std::string_view content, std::uint32_t mode = 0644,
                std::uint32_t uid = 0, std::uint32_t gid = 0);
  void put_symlink(const std::string& path, const std::string& target, std::uint32_t uid = 0);
  void put_special(const std::string& path, os::FileType type);
  void put_hard_link(const std::string& path, const std::string& existing);
  void put_attribute(const std::string& path, const std::string& name, std::string_view value);
  void remove(const std::string& path);  // with all below it
  void set_owner_of(const std::string& path, std::uint32_t uid, std::uint32_t gid);
  void set_mode_of(const std::string& path, std::uint32_t mode);
  // An empty file system of its own on the directory, or a bind mount of another file on the file.
  void mount(const std::string& path);
  void unmount(const std::string& path);
  void set_read_only(const std::string& path, bool read_only);  // the file system that holds it
  void set_immutable(const std::string& path, bool immutable);
  void set_flags(const std::string& path, std::uint32_t flags);
  [[nodiscard]] std::uint32_t flags_of(const std::string& path);
  // Of the file system that holds `path`: what may still be written. Blocks of 4096 bytes.
  void set_free_bytes(const std::string& path, std::uint64_t bytes);
  void set_free_inodes(const std::string& path, std::uint64_t inodes);
  void set_reports_sync_errors(bool reports);
  void set_has_attributes(bool has);  // of all file systems
  // Times of changes come from here; each change is at least 1 ns after the one before.
  void set_clock(std::function<WallNs()> clock);

  // --- looking at it
  [[nodiscard]] std::optional<std::string> find_content(const std::string& path);
  [[nodiscard]] std::optional<std::string> find_target(const std::string& path);
  [[nodiscard]] std::optional<os::FileStat> find_stat(const std::string& path);
  // All paths, sorted, "/" left out.
  [[nodiscard]] std::vector<std::string> paths();
  [[nodiscard]] std::size_t open_handles();
  [[nodiscard]] std::uint64_t calls(Call call);
  [[nodiscard]] std::uint64_t changing_calls();

  // --- faults
  // The `nth` call of that kind from now on (1: the next) fails and does nothing.
  void fail_call(Call call, std::uint64_t nth, int sys_errno);
  // Planted failures that were not reached are forgotten.
  void forget_faults();
  // From the `nth` changing call on (1: the next) every call fails with `cancelled` and does
  // nothing: the process is as good as dead. Ends with `crash` or `end_process`. 0 lifts it.
  void stop_at_change(std::uint64_t nth);
  [[nodiscard]] bool stopped();
  // The kernel could not write this file's bytes: the next sync of a handle opened before it fails,
  // once; the bytes are never durable unless written again.
  void fail_write_back(const std::string& path);
  // Runs before every call, outside of any lock: may change the machine (a race) or count.
  void set_before_call(std::function<void(Call, std::string_view name)> before);

  // --- ends
  // Everything becomes durable.
  void settle();
  // The process ends: handles are closed (later calls on them fail), the kernel lives on.
  void end_process();
  // The power goes: unsynced changes are lost or kept as `seed` says.
  CrashOutcome crash(std::uint64_t seed);
  CrashOutcome crash_losing_everything();
  CrashOutcome crash_keeping_everything();

  [[nodiscard]] Result<os::Handle> open_root(const std::string& path) override;
  [[nodiscard]] Result<os::Handle> open_directory(const os::Handle& parent, std::string_view name,
                                                  os::Follow follow) override;
  [[nodiscard]] Result<os::Handle> open_file(const os::Handle& parent, std::string_view name,
                                             os::Access access) override;
  [[nodiscard]] Result<os::OpenedFile> open_file_with_stat(const os::Handle& parent,
                                                           std::string_view name,
                                                           os::Access access) override;
  [[nodiscard]] Result<os::Handle> create_file(const os::Handle& parent,
                                               std::string_view name) override;
  [[nodiscard]] Result<os::FileStat> stat(const os::Handle& handle) override;
  [[nodiscard]] Result<os::FileStat> stat_at(const os::Handle& parent,
                                             std::string_view name) override;
  [[nodiscard]] Result<std::size_t> read(const os::Handle& handle, MutableByteView out) override;
  [[nodiscard]] Status write(const os::Handle& handle, ByteView bytes) override;
  [[nodiscard]] Result<std::uint64_t> seek_data(const os::Handle& handle,
                                                std::uint64_t offset) override;
  [[nodiscard]] Result<std::uint64_t> seek_hole(const os::Handle& handle,
                                                std::uint64_t offset) override;
  [[nodiscard]] Status seek(const os::Handle& handle, std::uint64_t offset) override;
  [[nodiscard]] Status truncate(const os::Handle& handle, std::uint64_t size) override;
  [[nodiscard]] Status sync(const os::Handle& handle) override;
  [[nodiscard]] Status sync_file_system(const os::Handle& handle) override;
  bool reports_file_system_sync_errors() override;
  [[nodiscard]] Status set_owner(const os::Handle& handle, std::uint32_t uid,
                                 std::uint32_t gid) override;
  [[nodiscard]] Status set_owner_at(const os::Handle& parent, std::string_view name,
                                    std::uint32_t uid, std::uint32_t gid) override;
  [[nodiscard]] Status set_mode(const os::Handle& handle, std::uint32_t mode) override;
  [[nodiscard]] Result<std::vector<os::Attribute>> read_attributes(
      const os::Handle& handle) override;
  [[nodiscard]] Status set_attribute(const os::Handle& handle,
                                     const os::Attribute& attribute) override;
  [[nodiscard]] Status remove_attribute(const os::Handle& handle, std::string_view name) override;
  [[nodiscard]] Status carry_flags(const os::Handle& from, const os::Handle& to) override;
  [[nodiscard]] Status make_directory(const os::Handle& parent, std::string_view name,
                                      std::uint32_t mode) override;
  [[nodiscard]] Status make_symlink(const os::Handle& parent, std::string_view name,
                                    std::string_view target) override;
  [[nodiscard]] Result<std::string> read_symlink(const os::Handle& parent,
                                                 std::string_view name) override;
  [[nodiscard]] Status rename(const os::Handle& from_parent, std::string_view from,
                              const os::Handle& to_parent, std::string_view to,
                              bool no_replace) override;
  [[nodiscard]] Status remove_file(const os::Handle& parent, std::string_view name) override;
  [[nodiscard]] Status remove_directory(const os::Handle& parent, std::string_view name) override;
  [[nodiscard]] Result<std::vector<os::DirectoryEntry>> list(const os::Handle& directory) override;
  [[nodiscard]] Result<os::Space> space(const os::Handle& handle) override;

 protected:
  void close(int value) noexcept override;

 private:
  struct FileSystem {
    InodeNumber root = 0;
    std::uint64_t capacity_blocks = std::uint64_t{1} << 28;  // 1 TiB
    std::uint64_t capacity_inodes = std::uint64_t{1} << 32;
    bool read_only = false;
    std::uint64_t write_errors = 0;
  };
  struct OpenFile {
    InodeNumber inode = 0;
    std::uint64_t offset = 0;
    bool writable = false;
    bool mount_root = false;
    std::uint64_t seen_file_errors = 0;
    std::uint64_t seen_system_errors = 0;
  };
  // What a name leads to, mounts crossed.
  struct Found {
    InodeNumber inode = 0;
    bool mount_root = false;
  };
  using MountPoint = std::pair<InodeNumber, std::string>;

  // A call: the hook, the counters and the planted faults, then the lock for as long as it lives.
  struct Entered {
    std::unique_lock<std::mutex> lock;
    Status status;
  };
  Entered enter(Call call, std::string_view name);

  [[nodiscard]] Result<OpenFile*> open_file_of(const os::Handle& handle);
  [[nodiscard]] Result<InodeNumber> directory_of(const os::Handle& handle);
  [[nodiscard]] Result<Found> look_up(const os::Handle& parent, std::string_view name);
  [[nodiscard]] Result<Found> follow(InodeNumber directory, std::string_view path, int links);
  [[nodiscard]] std::optional<Found> find_in(InodeNumber directory, std::string_view name) const;
  [[nodiscard]] std::optional<Found> find_path(const std::string& path) const;
  [[nodiscard]] InodeNumber expect_path(const std::string& path) const;
  [[nodiscard]] Status check_changeable(InodeNumber number) const;
  [[nodiscard]] Result<InodeNumber> new_name(const os::Handle& parent, std::string_view name);
  [[nodiscard]] Result<InodeNumber> new_inode(InodeNumber directory, std::string_view name,
                                              Inode proto);
  void touch(InodeNumber number, bool content);
  void change_names(const NameChange& change);
  os::Handle add_handle(Found found, bool writable);
  [[nodiscard]] os::FileStat stat_of(Found found) const;
  [[nodiscard]] bool is_open(InodeNumber number) const;
  [[nodiscard]] std::uint64_t free_blocks(std::uint32_t file_system) const;
  [[nodiscard]] std::uint64_t free_inodes(std::uint32_t file_system) const;
  [[nodiscard]] Status change_owner(InodeNumber number, std::uint32_t uid, std::uint32_t gid);
  [[nodiscard]] Status check_rename(Found source, InodeNumber to_directory,
                                    const std::optional<Found>& replaced, bool no_replace) const;
  [[nodiscard]] Status remove_name(const os::Handle& parent, std::string_view name, bool directory);
  void forget_if_unnamed(InodeNumber number);
  [[nodiscard]] Status report_write_error(std::uint64_t& seen, std::uint64_t now);
  CrashOutcome crash_as(std::uint64_t seed, ModelDisk::Survives survives);
  InodeNumber put(const std::string& path, Inode proto);
  InodeNumber make_parents(const std::string& path);
  void remove_all(InodeNumber directory, const std::string& name);
  std::uint32_t add_file_system();
  void collect_paths(InodeNumber directory, const std::string& prefix,
                     std::vector<std::string>& paths) const;
  std::uint32_t file_system_of(const std::string& path) const;

  std::mutex mutex_;
  ModelDisk disk_;
  std::map<std::uint32_t, FileSystem> file_systems_;
  std::map<MountPoint, InodeNumber> mounts_;
  std::map<int, OpenFile> handles_;
  std::map<InodeNumber, std::uint64_t> file_errors_;
  int next_handle_ = 3;
  std::int64_t now_ns_ = 1'700'000'000'000'000'000;
  std::function<WallNs()> clock_;
  bool reports_sync_errors_ = true;
  bool has_attributes_ = true;
  std::map<Call, std::uint64_t> calls_;
  std::uint64_t changing_calls_ = 0;
  std::uint64_t stop_at_ = 0;  // number of the changing call; 0: never
  std::map<std::pair<Call, std::uint64_t>, int> faults_;
  std::function<void(Call, std::string_view)> before_call_;
};

}  // namespace datum::support
