// The folder of a store: who may use it, the mark of an orderly end, and the
// birth of data.mdb. It opens neither LMDB nor lock.mdb.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "datum/base/error.hpp"
#include "datum/journal/log.hpp"
#include "file_io.hpp"

namespace datum::journal {

inline constexpr const char* kDataName = "data.mdb";
inline constexpr const char* kLmdbLockName = "lock.mdb";
inline constexpr const char* kCleanName = "clean";
inline constexpr const char* kCreatingName = "creating";
// Behind the folder's own name: a compaction's new store, or the old one that it replaced.
inline constexpr const char* kCompactingSuffix = ".compacting";

// Makes the folder and what is missing above it, each parent synced. The folder and the one that
// holds it are 0700; folders above them are the machine's (/var, /var/lib): 0755.
[[nodiscard]] Status make_folder(const std::string& path);

// `refused` unless `folder` is the caller's and 0700, and data.mdb (if there) a regular file, 0600.
[[nodiscard]] Status check_access(int folder, const std::string& path);

// `refused` on a file system that other machines can write, where neither lock nor map can be
// trusted. Any open descriptor of it will do.
[[nodiscard]] Status check_file_system(int fd, const std::string& path);
[[nodiscard]] bool is_network_file_system(std::uint64_t type);

// Whether `path` still leads to the open folder: a compaction puts another in its place.
[[nodiscard]] bool is_still_at(int folder, const std::string& path);
// Removes a store's own files and then the folder; what else lies in it keeps it there, and a link
// is not followed. For folders that are no store yet or no more.
void remove_store_folder(const std::string& path);

// For what LMDB opens by its name, whatever it is: `refused` unless lock.mdb is missing or a file
// of this user's with no other name. Afterwards it is there and has its room on the disk, without
// which a full one would end the process. On a disk that is read only nothing is done: LMDB does
// without. Only where this process has no other environment here, whose locks the closing would
// drop.
[[nodiscard]] Status prepare_lmdb_lock(int folder);

[[nodiscard]] bool has_file(int folder, const char* name);

// The crash points of a log as steps, all with `head` durable; no hook where there is none.
[[nodiscard]] StepHook steps_of(const CrashPoint& crash_point, const Head& head);

// How data.mdb looked when the store was closed in order.
struct CleanMark {
  Id128 store;
  Head head;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  bool operator==(const CleanMark& other) const;
};
// What a mark of this moment would say of the file.
[[nodiscard]] Result<CleanMark> mark_of(int data_fd, const Id128& store, const Head& head);
[[nodiscard]] Status write_clean_mark(int folder, const CleanMark& mark, const StepHook& hook = {});
// nullopt: there is none, or its checksum is wrong (which counts as none).
[[nodiscard]] Result<std::optional<CleanMark>> read_clean_mark(int folder);
// Gone, and its absence durable.
[[nodiscard]] Status remove_clean_mark(int folder, const StepHook& hook = {});

// Lets `make` write a complete environment into the sub-folder that it is given, then moves
// data.mdb up, durably. What an earlier attempt left is removed first.
[[nodiscard]] Status create_data(int folder, const std::string& path,
                                 const std::function<Status(const std::string&)>& make,
                                 const StepHook& hook = {});

}  // namespace datum::journal
