#include "lmdb_log.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "batch_check.hpp"
#include "compact.hpp"
#include "cuts.hpp"
#include "datum/crypto/digest.hpp"
#include "envelope.hpp"
#include "open_log.hpp"
#include "store_folder.hpp"

namespace datum::journal {
namespace {

// Pages that trees, free list and indexes may take beyond the payload of one reservation.
constexpr std::uint64_t kTreeRoom = 1024 * 1024;
// A batch of the largest size, with indexes in as many pages, fits without asking again.
constexpr std::uint64_t kMapRoom = 64 * 1024 * 1024;
constexpr int kMaxGrowths = 4;
// Far above what one wave can append; below what offsets and address space can express.
constexpr std::uint64_t kMaxReservation = std::uint64_t{1} << 40;

int put_keys(MDB_txn* txn, const Environment& env, const std::vector<IndexKey>& keys, Seq seq) {
  for (const auto& key : keys) {
    const auto entry = index_entry(key.key, seq);
    MDB_val at = to_val(std::string_view(entry));
    MDB_val none{};
    const auto dbi = env.find_index(key.index);
    const int number = dbi ? mdb_put(txn, *dbi, &at, &none, 0) : EINVAL;
    if (number != 0) return number;
  }
  return 0;
}

int reserve_value(MDB_txn* txn, const Environment& env, Seq seq, std::size_t size,
                  MutableByteView& out) {
  MDB_val key{sizeof seq, &seq};
  MDB_val value{size, nullptr};
  const int number = mdb_put(txn, env.events(), &key, &value, MDB_APPEND | MDB_RESERVE);
  out = {static_cast<std::byte*>(value.mv_data), size};
  return number;
}

// Writes each record into its page and hashes it there: one copy of the payload, no buffer.
int put_entries(MDB_txn* txn, const Environment& env, const std::vector<Entry>& entries,
                std::uint32_t level, Head& head) {
  for (const auto& entry : entries) {
    const auto keys = sorted_keys(entry.keys);
    MutableByteView out;
    int number = reserve_value(txn, env, head.seq + 1, value_size(entry.payload.size(), keys), out);
    if (number != 0) return number;
    head.hash = write_value(out, entry, keys, head.seq + 1, level, head.hash);
    ++head.seq;
    number = put_keys(txn, env, keys, head.seq);
    if (number != 0) return number;
  }
  return 0;
}

int put_value(MDB_txn* txn, MDB_dbi dbi, std::string_view name, ByteView value) {
  MDB_val key = to_val(name);
  if (value.empty()) {
    const int number = mdb_del(txn, dbi, &key, nullptr);
    return number == MDB_NOTFOUND ? 0 : number;
  }
  const auto stored = make_checked(name, value);
  MDB_val data = to_val(ByteView(stored));
  return mdb_put(txn, dbi, &key, &data, 0);
}

int put_values(MDB_txn* txn, MDB_dbi dbi, const std::vector<Put>& puts) {
  for (const auto& put : puts) {
    const int number = put_value(txn, dbi, put.name, put.value);
    if (number != 0) return number;
  }
  return 0;
}

int put_level(MDB_txn* txn, const Environment& env, std::uint32_t level) {
  std::array<std::byte, 4> bytes{};
  store_le(bytes.data(), level);
  return put_value(txn, env.meta(), "journal.level", bytes);
}

int put_cut(MDB_txn* txn, const Environment& env, Seq last, const Digest& hash) {
  MDB_val key = to_val(kCutsName);
  MDB_val stored{};
  const int number = mdb_get(txn, env.meta(), &key, &stored);
  if (number != 0 && number != MDB_NOTFOUND) return number;
  const auto cuts = number == 0 ? find_checked(kCutsName, to_view(stored)) : ByteView();
  if (!cuts) return MDB_CORRUPTED;
  return put_value(txn, env.meta(), kCutsName, add_cut(*cuts, last, hash));
}

// Removes records from the first on, up to `first` or a chunk's end; `removed` is the new first.
int remove_chunk(MDB_txn* txn, const Environment& env, Seq first, Seq& removed) {
  MDB_cursor* raw = nullptr;
  int number = mdb_cursor_open(txn, env.events(), &raw);
  if (number != 0) return number;
  const Cursor cursor(raw);
  for (std::size_t i = 0; i < kMaxReadRecords && removed < first; ++i, ++removed) {
    MDB_val key{};
    MDB_val value{};
    number = mdb_cursor_get(raw, &key, &value, MDB_FIRST);
    if (number != 0) return number;
    const auto record = read_value(to_view(value), removed);
    if (!record) return MDB_CORRUPTED;
    const bool is_whole = for_each_key(record->keys, [&](const IndexKey& index_key) {
      const auto entry = index_entry(index_key.key, removed);
      MDB_val at = to_val(std::string_view(entry));
      const auto dbi = env.find_index(index_key.index);
      const int deleted = dbi ? mdb_del(txn, *dbi, &at, nullptr) : MDB_NOTFOUND;
      if (deleted != 0 && number == 0) number = deleted;
    });
    if (!is_whole || number == MDB_NOTFOUND) return MDB_CORRUPTED;
    const bool is_last = removed + 1 == first;
    const Digest hash = is_last ? hash_of(*record) : Digest();
    if (number == 0) number = mdb_cursor_del(raw, 0);
    if (number == 0 && is_last) number = put_cut(txn, env, removed, hash);
    if (number != 0) return number;
  }
  return 0;
}

}  // namespace

LmdbLog::LmdbLog(std::shared_ptr<Environment> env, StoreHandle store)
    : LmdbReading(std::move(env)), store_(std::move(store)) {}

// The environment closes before the lock is released; `clean` is written by close() only.
LmdbLog::~LmdbLog() {
  env_.reset();
}

Status LmdbLog::check_place() const {
  if (is_still_at(store_.folder.get(), store_.path)) return {};
  return fail(ErrorCode::conflict, "the store was replaced by a compaction while it was opened");
}

Status LmdbLog::check_writable() const {
  if (store_.mode == OpenMode::read_only || store_.mode == OpenMode::live)
    return fail(ErrorCode::read_only, "the store was opened for reading");
  if (env_ == nullptr) return fail(ErrorCode::unavailable, "the store is not open");
  if (is_failed_)
    return fail(ErrorCode::unavailable, "an earlier commit failed: the store must be reopened");
  if (is_visiting())
    return fail(ErrorCode::invalid_argument, "the log cannot be written inside one of its visits");
  return {};
}

// LMDB gives EIO for a write that was cut short, which a full disk does too.
static bool was_cut_short(int number, int data_fd) {
  constexpr std::uint64_t kFull = 1 << 20;  // a commit takes less; more than this is not full
  struct statvfs info {};
  return number == EIO && ::fstatvfs(data_fd, &info) == 0 &&
         std::uint64_t{info.f_bavail} * info.f_frsize < kFull;
}

Status LmdbLog::commit(const std::function<int(MDB_txn*)>& body) {
  auto grown = env_->grow(kMapRoom);
  for (int growths = 0;; ++growths) {
    if (!grown) break;
    int number = env_->write(body);
    if (number == 0) return {};
    if (number == MDB_MAP_FULL && growths < kMaxGrowths) {
      // The transaction is gone as if it had not been; a larger map and once more.
      grown = env_->grow(kMapRoom << growths);
      continue;
    }
    if (was_cut_short(number, env_->data_fd())) number = ENOSPC;
    auto error = lmdb_error(number, "append to " + env_->data_file());
    is_failed_ = true;
    if (number > 0 && error.code() != ErrorCode::no_space)
      return fail(Error(ErrorCode::io_error, error.message(), error.sys_errno()));
    return fail(std::move(error));
  }
  is_failed_ = true;
  return grown;
}

Result<Seq> LmdbLog::append(const Batch& batch) {
  DATUM_TRY(check_writable());
  const auto has_index = [&](std::string_view name) { return env_->find_index(name).has_value(); };
  DATUM_TRY(check_batch(batch, has_index, env_->level(), store_.max_level));
  DATUM_ASSIGN(const Head before, env_->read_head());
  if (is_empty(batch)) return before.seq;
  const auto level = batch.raise_level.value_or(env_->level());
  Head head;
  if (store_.crash_point) store_.crash_point("before append", before);
  DATUM_TRY(commit([&](MDB_txn* txn) {
    head = before;
    int number = put_entries(txn, *env_, batch.entries, level, head);
    if (number == 0) number = put_values(txn, env_->meta(), batch.meta);
    if (number == 0) number = put_values(txn, env_->projections(), batch.projections);
    if (number == 0 && level != env_->level()) number = put_level(txn, *env_, level);
    return number;
  }));
  env_->publish(head, level);
  if (store_.crash_point) store_.crash_point("after append", head);
  return head.seq;
}

Status LmdbLog::append_stored(const std::vector<ByteView>& values) {
  DATUM_TRY(check_writable());
  DATUM_ASSIGN(const Head before, env_->read_head());
  Head head;
  DATUM_TRY(commit([&](MDB_txn* txn) {
    head = before;
    for (const auto value : values) {
      const auto record = read_value(value, head.seq + 1);
      if (!record || record->previous != head.hash) return int{MDB_CORRUPTED};
      std::vector<IndexKey> keys;
      if (!for_each_key(record->keys, [&](const IndexKey& key) { keys.push_back(key); }))
        return int{MDB_CORRUPTED};
      MutableByteView out;
      int number = reserve_value(txn, *env_, head.seq + 1, value.size(), out);
      if (number == 0) std::copy(value.begin(), value.end(), out.begin());
      if (number == 0) number = put_keys(txn, *env_, keys, head.seq + 1);
      if (number != 0) return number;
      head.hash = hash_of(*record);
      ++head.seq;
    }
    return 0;
  }));
  env_->publish(head, env_->level());
  return {};
}

Status LmdbLog::reserve(std::uint64_t bytes) {
  DATUM_TRY(check_writable());
  // Envelopes, pages that are not full and rewritten paths: twice the payload, and room for trees.
  if (bytes > kMaxReservation) return fail(ErrorCode::no_space, "no journal reserves that much");
  const auto needed = 2 * bytes + kTreeRoom;
  struct statvfs info {};
  if (::fstatvfs(env_->data_fd(), &info) != 0)
    return fail(error_from_errno(errno, "ask for free space of " + env_->data_file()));
  if (std::uint64_t{info.f_bavail} * info.f_frsize < needed)
    return fail(ErrorCode::no_space,
                env_->data_file() + ": less than " + std::to_string(needed) + " bytes are free");
  // Blocks beyond the end are taken now and used by the commits that follow; asking again takes no
  // more. Quotas are honoured, which free space alone does not show.
  const auto end = static_cast<off_t>(env_->used_bytes());
  const auto size = static_cast<off_t>(needed);
  if (::fallocate(env_->data_fd(), FALLOC_FL_KEEP_SIZE, end, size) != 0 && errno != EOPNOTSUPP) {
    const auto error = error_from_errno(errno, "reserve space in " + env_->data_file());
    // A part may have been taken; nobody needs it now.
    static_cast<void>(
        ::fallocate(env_->data_fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end, size));
    return fail(error);
  }
  return env_->grow(needed + kMapRoom);
}

Status LmdbLog::remove_before(Seq first) {
  DATUM_TRY(check_writable());
  DATUM_ASSIGN(Head head, env_->read_head());
  if (first > head.seq)
    return fail(ErrorCode::invalid_argument, "the head of the journal cannot be removed");
  while (head.first < first) {
    Seq removed = head.first;
    DATUM_TRY(commit([&](MDB_txn* txn) {
      removed = head.first;
      return remove_chunk(txn, *env_, first, removed);
    }));
    head.first = removed;
    env_->publish(head, env_->level());
  }
  return {};
}

Result<Verification> LmdbLog::verify(Seq from) {
  return verify_records(*env_, from);
}

Result<std::unique_ptr<Reader>> LmdbLog::make_reader() {
  if (env_ == nullptr) return fail(ErrorCode::unavailable, "the store is not open");
  return std::unique_ptr<Reader>(new LmdbReading<Reader>(env_));
}

Status LmdbLog::close_environment() {
  if (env_.use_count() > 1 || is_visiting())
    return fail(ErrorCode::busy, "a reader of the store is still open");
  const auto store = env_->store_id();
  DATUM_ASSIGN(const Head head, env_->read_head());
  const bool is_writer = check_writable().has_value();
  env_.reset();
  // After a failed commit the pages are not believed: the next opener walks.
  if (!is_writer) return {};
  DATUM_ASSIGN(const Fd data, open_at(store_.folder.get(), kDataName, O_RDONLY));
  DATUM_ASSIGN(const CleanMark mark, mark_of(data.get(), store, head));
  return write_clean_mark(store_.folder.get(), mark, steps_of(store_.crash_point, head));
}

// What has the place of the store is opened as at any other time; until the mark is gone again a
// death leaves a store that was closed in order.
Result<Compaction> LmdbLog::compact() {
  DATUM_TRY(check_writable());
  auto closed = close_environment();
  if (!closed && env_ != nullptr) return fail(std::move(closed).error());
  auto compacted =
      closed ? compact_closed(store_) : Result<Compaction>(fail(std::move(closed).error()));
  auto opened = open_again(store_);
  if (!opened)
    return fail(
        ErrorCode::unavailable,
        "the store could not be opened again after its compaction: " + opened.error().message());
  env_ = std::move(*opened);
  return compacted;
}

Status LmdbLog::close() {
  if (env_ == nullptr) return {};
  auto closed = close_environment();
  if (env_ == nullptr) store_.lock = Fd();
  return closed;
}

}  // namespace datum::journal
