// The disk of a modelled machine: inodes as the running kernel sees them, the same as the platter
// has them, and what lies between. A crash takes the platter plus a seeded part of what was on its
// way. Knows nothing of handles, calls or faults; `ModelFiles` is the kernel above it.
//
// What a crash may do here is what POSIX allows and ext4, XFS or btrfs have been seen to do: names
// change in the order of the calls and any number of the last unsynced changes is lost; a rename is
// kept or lost whole; the content of an unsynced file is the old one, the new one, empty, cut
// short, or zeros; owner, mode and attributes are the old or the new ones. Syncing a file says
// nothing of its name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/os/files.hpp"

namespace datum::support {

using InodeNumber = std::uint64_t;

// A file's bytes in blocks; a missing block is a hole.
class Content {
 public:
  static constexpr std::uint64_t kBlockBytes = 4096;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t blocks() const { return blocks_.size(); }
  [[nodiscard]] std::size_t read(std::uint64_t offset, MutableByteView out) const;
  void write(std::uint64_t offset, ByteView bytes);
  void truncate(std::uint64_t size);
  // How many blocks a write of that range would add.
  [[nodiscard]] std::uint64_t missing_blocks(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] std::uint64_t next_data(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t next_hole(std::uint64_t offset) const;
  [[nodiscard]] std::string text() const;

 private:
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, std::string> blocks_;  // each at most kBlockBytes, the rest of it is zero
};

struct Inode {
  os::FileType type = os::FileType::regular;
  std::uint32_t mode = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t links = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  bool immutable = false;
  std::uint32_t flags = 0;  // of chattr, but for immutable
  std::uint32_t file_system = 0;
  InodeNumber parent = 0;  // of a directory
  Content content;
  std::string target;                          // of a link
  std::map<std::string, InodeNumber> entries;  // of a directory
  std::map<std::string, Bytes> attributes;
};

// A name in a directory and what it stands for after a change; 0: nothing.
struct Slot {
  InodeNumber directory = 0;
  std::string name;
  InodeNumber value = 0;
};
using NameChange = std::vector<Slot>;  // all of it or nothing of it

struct CrashOutcome {
  std::size_t name_changes_kept = 0;
  std::size_t name_changes_lost = 0;
  std::size_t contents_lost = 0;  // files that do not have their newest content
};

class ModelDisk {
 public:
  // A new inode without a name, empty, of `proto`'s type, mode, owner and target.
  InodeNumber make_inode(Inode proto);
  [[nodiscard]] Inode* find(InodeNumber number);
  [[nodiscard]] const Inode* find(InodeNumber number) const;

  // The running kernel's view changes at once; the platter's with a sync or a crash.
  void change_names(const NameChange& change);
  // `content` too, or only owner, mode, attributes and times.
  void mark_changed(InodeNumber number, bool content) {
    dirty_.insert(number);
    if (content) dirty_content_.insert(number);
  }
  // Frees what has no name any more; called when the last handle closes.
  void forget_if_unnamed(InodeNumber number, bool open);

  void sync(InodeNumber number);
  void sync_file_system(std::uint32_t file_system);
  // The write-back of this file failed: the kernel keeps showing the new bytes and never writes
  // them.
  void lose_write_back(InodeNumber number) { dirty_content_.erase(number); }

  enum class Survives { seeded, nothing, everything };
  CrashOutcome crash(std::uint64_t seed, Survives survives);

  [[nodiscard]] std::uint64_t used_blocks(std::uint32_t file_system) const;
  [[nodiscard]] std::uint64_t used_inodes(std::uint32_t file_system) const;
  void count_blocks(std::uint32_t file_system, std::int64_t difference);
  // A directory that no crash and no removal takes away: the root of a file system.
  void pin(InodeNumber number) { roots_.insert(number); }

 private:
  void apply_durably(const NameChange& change);
  void settle_content(InodeNumber number, std::mt19937_64& random, Survives survives,
                      CrashOutcome& outcome);
  void drop_unreachable();
  void sweep_durable();

  std::unordered_map<InodeNumber, Inode> live_;
  std::unordered_map<InodeNumber, Inode> durable_;  // `links` is meaningless here
  std::vector<NameChange> pending_;                 // in the order of the calls
  std::set<InodeNumber> dirty_;
  std::set<InodeNumber> dirty_content_;  // a part of `dirty_`
  std::set<InodeNumber> roots_;
  std::map<std::uint32_t, std::int64_t> used_blocks_;
  std::map<std::uint32_t, std::int64_t> used_inodes_;
  InodeNumber next_ = 2;  // as on ext4 the root is 2
};

}  // namespace datum::support
