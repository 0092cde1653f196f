// A store without its free pages. LMDB never gives pages back to the file system, and a data file
// must not be replaced under its lock file: so a whole folder is built beside, proven, and
// exchanged for the old one in one step. Until then nothing of the old folder is written, so that
// every crash leaves either it or the new one in its place.
#include "compact.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "lmdb_env.hpp"
#include "open_log.hpp"
#include "store_folder.hpp"
#include "store_lock.hpp"
#include "store_walk.hpp"

namespace datum::journal {
namespace {

// Beside the copy itself: two meta pages, the mark, the folder, and what others write meanwhile.
constexpr std::uint64_t kSpareBytes = 4 * 1024 * 1024;

class Compactor {
 public:
  // `store` is closed, and its lock held.
  Compactor(StoreHandle& store, const OpenOptions& options, const CompactHook& hook)
      : old_(store),
        folder_(store.path),
        building_(folder_ + kCompactingSuffix),
        options_(options),
        hook_(hook) {
    options_.mode = OpenMode::open;
  }

  Result<Compaction> run() {
    DATUM_TRY(clear_building());
    auto built = build();
    if (!built) {
      // Closed before its files go.
      new_lock_ = Fd();
      remove_store_folder(building_);
      return fail(std::move(built).error());
    }
    DATUM_TRY(exchange());
    return done_;
  }

 private:
  void tell(CompactStep step) const {
    if (hook_) hook_(step);
  }

  // What a compaction left that a crash ended. Anything else there is not ours to remove.
  Status clear_building() const {
    remove_store_folder(building_);
    struct stat info {};
    if (::lstat(building_.c_str(), &info) != 0 && errno == ENOENT) return {};
    return fail(ErrorCode::refused,
                building_ + " is in the way of a compaction: look at it, and move it away");
  }

  Status build() {
    // A reader's slot in lock.mdb, which this process may take because it has no other environment.
    DATUM_ASSIGN(const auto source, open_environment(old_.folder.get(),
                                                     {folder_, Access::read_live, options_.indexes,
                                                      Id128{}, options_.level, options_.map_bytes},
                                                     options_.reader_wait_ms));
    if (source->count_other_readers() > 0)
      return fail(ErrorCode::busy, "another process reads the store");
    DATUM_ASSIGN(const Usage usage, source->read_usage());
    done_.bytes_before = usage.file_bytes;
    DATUM_TRY(check_space(usage.live_bytes));
    DATUM_TRY(make_building());
    DATUM_TRY(copy(*source));
    DATUM_TRY(verify(*source));
    DATUM_TRY(write_clean_mark(new_folder_.get(), mark_));
    tell(CompactStep::mark_written);
    if (source->count_other_readers() > 0)
      return fail(ErrorCode::busy, "another process reads the store");
    return {};
  }

  Status check_space(std::uint64_t bytes) const {
    struct statvfs info {};
    if (::fstatvfs(old_.folder.get(), &info) != 0)
      return fail(error_from_errno(errno, "ask for free space"));
    if (std::uint64_t{info.f_bavail} * info.f_frsize >= bytes + kSpareBytes) return {};
    return fail(ErrorCode::no_space, "less than " + std::to_string(bytes + kSpareBytes) +
                                         " bytes are free for the compacted store");
  }

  Status make_building() {
    if (::mkdir(building_.c_str(), 0700) != 0)
      return fail(error_from_errno(errno, "make " + building_));
    DATUM_ASSIGN(new_folder_, open_folder(building_));
    // Whoever opens the new folder the moment it has its place waits like before.
    DATUM_ASSIGN(new_lock_, take_lock(new_folder_.get(), LockKind::exclusive, 0));
    tell(CompactStep::folder_made);
    return {};
  }

  Status copy(Environment& source) {
    DATUM_ASSIGN(data_, open_at(new_folder_.get(), kDataName, O_RDWR | O_CREAT | O_EXCL));
    DATUM_TRY(source.copy_compact(data_.get()));
    tell(CompactStep::data_written);
    DATUM_TRY(sync_fd(data_.get(), "the compacted store"));
    DATUM_TRY(sync_fd(new_folder_.get(), building_));
    tell(CompactStep::data_synced);
    return {};
  }

  // Every page and record by a child, as of a store that nobody knows; then that it is this one.
  Status verify(Environment& source) {
    DATUM_ASSIGN(const Verification found,
                 walk_in_child(data_.get(), options_.walk_limit_ms, WalkScope::whole));
    if (!found.sound)
      return fail(ErrorCode::corrupt, "the compacted store is not sound: " + found.problem);
    DATUM_ASSIGN(const Head head, source.read_head());
    DATUM_ASSIGN(const auto copied,
                 Environment::open({building_, Access::read_copy, options_.indexes, Id128{},
                                    options_.level, options_.map_bytes}));
    DATUM_ASSIGN(const Head copied_head, copied->read_head());
    DATUM_ASSIGN(const bool has_same_values, source.has_same_values(*copied));
    const bool is_same = copied_head.seq == head.seq && copied_head.hash == head.hash &&
                         copied_head.first == head.first && has_same_values &&
                         copied->store_id() == source.store_id();
    if (!is_same) return fail(ErrorCode::corrupt, "the compacted store is not the same");
    DATUM_ASSIGN(mark_, mark_of(data_.get(), source.store_id(), head));
    done_.bytes_after = mark_.size;
    tell(CompactStep::data_verified);
    return {};
  }

  Status exchange() {
    DATUM_ASSIGN(const PathParts parts, split_path(folder_));
    DATUM_ASSIGN(const Fd parent, open_folder(parts.folder));
    const auto name = parts.name + kCompactingSuffix;
    if (::renameat2(parent.get(), parts.name.c_str(), parent.get(), name.c_str(),
                    RENAME_EXCHANGE) != 0) {
      const int number = errno == EINVAL || errno == ENOSYS ? EOPNOTSUPP : errno;
      new_lock_ = Fd();
      remove_store_folder(building_);
      return fail(error_from_errno(number, "exchange " + folder_ + " and " + name));
    }
    // From here on this is the store; the lock of what was replaced is nobody's.
    old_.folder = std::move(new_folder_);
    old_.lock = std::move(new_lock_);
    tell(CompactStep::exchanged);
    DATUM_TRY(sync_fd(parent.get(), parts.folder));
    tell(CompactStep::exchange_synced);
    remove_store_folder(building_);
    tell(CompactStep::old_removed);
    return {};
  }

  StoreHandle& old_;
  std::string folder_;
  std::string building_;
  OpenOptions options_;
  const CompactHook& hook_;
  Fd new_folder_;
  Fd new_lock_;
  Fd data_;
  CleanMark mark_;
  Compaction done_;
};

}  // namespace

Result<Compaction> compact_closed(StoreHandle& store, const CompactHook& hook) {
  return Compactor(store, store.options, hook).run();
}

Result<Compaction> compact_store_with(const std::string& folder, const OpenOptions& options,
                                      const CompactHook& hook) {
  auto wanted = options;
  wanted.mode = OpenMode::open;
  auto store = lock_closed(folder, wanted);
  if (!store) return fail(std::move(store).error().context(folder));
  auto done = Compactor(*store, options, hook).run();
  if (!done) return fail(std::move(done).error().context(folder));
  return done;
}

Result<Compaction> compact_store(const std::string& folder, const OpenOptions& options) {
  return compact_store_with(folder, options, {});
}

}  // namespace datum::journal
