// Opening a store: who may, who holds it, what it is, whether it is sound, and only then LMDB.
#include "open_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "batch_check.hpp"
#include "datum/crypto/digest.hpp"
#include "lmdb_log.hpp"
#include "store_folder.hpp"
#include "store_lock.hpp"
#include "store_walk.hpp"

namespace datum::journal {
namespace {

// A writer's store changes while it is looked at from outside; then it is looked at again.
constexpr int kMaxLooks = 3;

Status check_probe(const Probe& probe, const OpenOptions& options,
                   const std::optional<CleanMark>& mark) {
  if (probe.level > options.level)
    return fail(ErrorCode::unsupported_version,
                "the store was written by a newer version (level " + std::to_string(probe.level) +
                    "; this one reads up to " + std::to_string(options.level) +
                    "): install that version again or open an export of it");
  if (!mark) return {};
  if (mark->store != probe.store)
    return fail(ErrorCode::corrupt, "the store was replaced by another one since it was closed");
  if (mark->head.seq != probe.head.seq || mark->head.hash != probe.head.hash)
    return fail(ErrorCode::corrupt, "the store ends at record " + std::to_string(probe.head.seq) +
                                        " but was closed at record " +
                                        std::to_string(mark->head.seq));
  return {};
}

// Judges the data file by what lies in the folder: the mark, a few pages, and the walk where
// needed.
Status check_store(int folder, const OpenOptions& options) {
  DATUM_ASSIGN(const auto mark, read_clean_mark(folder));
  DATUM_ASSIGN(const Fd data, open_at(folder, kDataName, O_RDONLY));
  DATUM_ASSIGN(const Probe probe, probe_store(data.get()));
  DATUM_TRY(check_probe(probe, options, mark));
  if (options.mode != OpenMode::read_only && mark && !options.walks_closed) {
    DATUM_ASSIGN(const CleanMark present, mark_of(data.get(), probe.store, probe.head));
    if (present == *mark) return {};
  }
  DATUM_ASSIGN(const Verification found, walk_in_child(data.get(), options.walk_limit_ms));
  if (found.sound) return {};
  return fail(ErrorCode::corrupt, found.problem);
}

Status create_store(int folder, const OpenOptions& options, const std::string& path,
                    const Id128& store) {
  if (has_file(folder, kCleanName) || has_file(folder, kLmdbLockName))
    return fail(ErrorCode::corrupt, "data.mdb is missing from a folder that held a store");
  const auto make = [&](const std::string& inner) -> Status {
    // Closed again before its file is moved.
    auto made = Environment::open(
        {inner, Access::write, options.indexes, store, options.level, options.map_bytes});
    if (!made) return fail(std::move(made).error());
    return {};
  };
  return create_data(folder, path, make, steps_of(options.crash_point, {}));
}

Status prepare_writing(const StoreHandle& store, const OpenOptions& options, const Id128& id) {
  const int folder = store.folder.get();
  if (!has_file(folder, kDataName)) {
    if (options.mode == OpenMode::open) {
      if (has_file(folder, kCleanName) || has_file(folder, kLmdbLockName))
        return fail(ErrorCode::corrupt, "data.mdb is missing from a folder that held a store");
      return fail(ErrorCode::not_found, "there is no store");
    }
    return create_store(folder, options, store.path, id);
  }
  DATUM_TRY(check_store(folder, options));
  return remove_clean_mark(folder, steps_of(options.crash_point, {}));
}

Result<std::shared_ptr<Environment>> open_pages(const StoreHandle& store,
                                                const OpenOptions& options, Access access) {
  DATUM_ASSIGN(auto env, open_environment(store.folder.get(),
                                          {store.path, access, options.indexes, Id128{},
                                           options.level, options.map_bytes},
                                          options.reader_wait_ms));
  if (env->level() > options.level)
    return fail(ErrorCode::unsupported_version, "the store was raised to a newer level just now");
  env->release_memory();
  return env;
}

Result<std::unique_ptr<LmdbLog>> finish(StoreHandle store, const OpenOptions& options,
                                        Access access) {
  DATUM_ASSIGN(auto env, open_pages(store, options, access));
  return std::unique_ptr<LmdbLog>(new LmdbLog(std::move(env), std::move(store)));
}

// The lock of a folder that a compaction replaced meanwhile is nobody's: what has its place now is
// opened instead.
Status check_place(const StoreHandle& store) {
  if (is_still_at(store.folder.get(), store.path)) return {};
  return fail(ErrorCode::conflict, "the store was replaced by a compaction while it was opened");
}

Result<std::unique_ptr<LmdbLog>> open_writing(StoreHandle store, const OpenOptions& options,
                                              const Id128& id) {
  DATUM_ASSIGN(store.lock,
               take_lock(store.folder.get(), LockKind::exclusive, options.reader_wait_ms));
  DATUM_TRY(check_place(store));
  DATUM_TRY(prepare_writing(store, options, id));
  // Of a compaction that a crash ended; the store that counts was found sound just now.
  remove_store_folder(store.path + kCompactingSuffix);
  return finish(std::move(store), options, Access::write);
}

Result<std::unique_ptr<LmdbLog>> open_copy(StoreHandle store, const OpenOptions& options) {
  if (!has_file(store.folder.get(), kDataName))
    return fail(ErrorCode::not_found, "there is no store");
  // Held for the log's life: without a reader's slot nothing else keeps a writer from our pages.
  DATUM_ASSIGN(store.lock, take_lock(store.folder.get(), LockKind::shared, options.reader_wait_ms));
  DATUM_TRY(check_place(store));
  DATUM_TRY(check_store(store.folder.get(), options));
  return finish(std::move(store), options, Access::read_copy);
}

// The writer has verified what it opened; where there is none, the walk is ours.
Result<std::unique_ptr<LmdbLog>> open_live(StoreHandle store, const OpenOptions& options) {
  const int folder = store.folder.get();
  if (!has_file(folder, kDataName)) return fail(ErrorCode::not_found, "there is no store");
  for (int looks = 1;; ++looks) {
    auto lock = take_lock(folder, LockKind::shared, options.reader_wait_ms);
    if (!lock && lock.error().code() != ErrorCode::busy) return fail(std::move(lock).error());
    if (!lock && lock_holder(folder) == ::getpid())
      return fail(ErrorCode::refused, "this process writes the store: ask its log for a reader");
    if (!lock) break;
    auto checked = check_store(folder, options);
    if (checked) break;
    // A writer may have begun, if there was no lock file to hold.
    if (lock->is_open() || looks == kMaxLooks) return fail(std::move(checked).error());
  }
  DATUM_ASSIGN(auto log, finish(std::move(store), options, Access::read_live));
  DATUM_TRY(log->check_place());
  return log;
}

Result<std::string> real_path(const std::string& folder) {
  const std::unique_ptr<char, void (*)(void*)> path(::realpath(folder.c_str(), nullptr), ::free);
  if (!path) return fail(error_from_errno(errno, "find " + folder));
  return std::string(path.get());
}

bool holds_data(const std::string& folder) {
  const auto opened = open_folder(folder);
  return opened && has_file(opened->get(), kDataName);
}

// A compaction exchanges both folders in one step, so a store never lies in the second alone: then
// somebody moved it there, and it may be the only copy.
Status check_not_beside(const std::string& folder) {
  const auto real = real_path(folder);
  const auto& place = real ? *real : folder;
  const auto beside = place + kCompactingSuffix;
  if (holds_data(place) || !holds_data(beside)) return {};
  return fail(ErrorCode::refused,
              "there is no data.mdb, but " + beside +
                  " holds one, which may be this store and its only copy: nothing was made or "
                  "removed. Move away what is left of " +
                  place + ", and rename it back: mv -T " + beside + " " + place);
}

Result<StoreHandle> open_handle(const std::string& folder, const OpenOptions& options) {
  if (folder.empty() || folder.front() != '/' || (folder.size() > 1 && folder.back() == '/'))
    return fail(ErrorCode::invalid_argument, "'" + folder + "' is not an absolute folder");
  DATUM_TRY(check_options(options));
  DATUM_TRY(check_not_beside(folder));
  if (options.mode == OpenMode::create_or_open) DATUM_TRY(make_folder(folder));
  StoreHandle store;
  store.path = folder;
  store.mode = options.mode;
  store.max_level = options.level;
  store.crash_point = options.crash_point;
  store.options = options;
  DATUM_ASSIGN(store.folder, open_folder(folder));
  // Where it really lies: what a compaction builds and removes lies beside it there.
  DATUM_ASSIGN(store.path, real_path(folder));
  DATUM_TRY(check_place(store));
  if (options.mode == OpenMode::read_only) return store;
  DATUM_TRY(check_access(store.folder.get(), folder));
  DATUM_TRY(check_file_system(store.folder.get(), folder));
  return store;
}

Result<std::unique_ptr<LmdbLog>> open_by_mode(StoreHandle store, const OpenOptions& options,
                                              const Id128& id) {
  if (options.mode == OpenMode::read_only) return open_copy(std::move(store), options);
  if (options.mode == OpenMode::live) return open_live(std::move(store), options);
  return open_writing(std::move(store), options, id);
}

}  // namespace

Result<std::shared_ptr<Environment>> open_environment(int folder, const Environment::Wanted& wanted,
                                                      std::int64_t wait_ms) {
  if (wanted.access == Access::read_copy) return Environment::open(wanted);
  DATUM_TRY(prepare_lmdb_lock(folder));
  DATUM_ASSIGN(const Fd opening, take_opening_lock(folder, wait_ms));
  return Environment::open(wanted);
}

Result<std::shared_ptr<Environment>> open_again(const StoreHandle& store) {
  DATUM_TRY(prepare_writing(store, store.options, Id128{}));
  return open_pages(store, store.options, Access::write);
}

Result<std::unique_ptr<LmdbLog>> open_log_as(const std::string& folder, const OpenOptions& options,
                                             const Id128& id) {
  for (int looks = 1;; ++looks) {
    DATUM_ASSIGN(auto store, open_handle(folder, options));
    auto log = open_by_mode(std::move(store), options, id);
    if (log) return log;
    if (log.error().code() == ErrorCode::conflict && looks < kMaxLooks) continue;
    return fail(Error(std::move(log).error()).context(folder));
  }
}

Result<StoreHandle> lock_closed(const std::string& folder, const OpenOptions& options) {
  DATUM_ASSIGN(auto store, open_handle(folder, options));
  DATUM_ASSIGN(store.lock,
               take_lock(store.folder.get(), LockKind::exclusive, options.reader_wait_ms));
  DATUM_TRY(check_place(store));
  if (!has_file(store.folder.get(), kDataName))
    return fail(ErrorCode::not_found, "there is no store");
  DATUM_TRY(check_store(store.folder.get(), options));
  return store;
}

Result<std::unique_ptr<Log>> open_log(const std::string& folder, const OpenOptions& options) {
  DATUM_ASSIGN(auto log, open_log_as(folder, options, crypto::random_id()));
  return std::unique_ptr<Log>(std::move(log));
}

bool has_had_writer(const std::string& folder) {
  const auto opened = open_folder(folder);
  return opened && has_file(opened->get(), kWriterLockName);
}

Result<Verification> verify_store(const std::string& folder, std::int64_t limit_ms) {
  DATUM_ASSIGN(const Fd opened, open_folder(folder));
  DATUM_ASSIGN(const Fd lock, take_lock(opened.get(), LockKind::shared, limit_ms));
  DATUM_ASSIGN(const auto mark, read_clean_mark(opened.get()));
  DATUM_ASSIGN(const Fd data, open_at(opened.get(), kDataName, O_RDONLY));
  DATUM_ASSIGN(Verification found, walk_in_child(data.get(), limit_ms));
  if (found.sound && mark &&
      (found.head.seq != mark->head.seq || found.head.hash != mark->head.hash)) {
    found.sound = false;
    found.problem = "the store ends at record " + std::to_string(found.head.seq) +
                    " but was closed at record " + std::to_string(mark->head.seq);
  }
  return found;
}

}  // namespace datum::journal
