#include "lmdb_env.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "envelope.hpp"

namespace datum::journal {
namespace {

// Address space costs nothing; a map that moves costs a wait for all readers.
constexpr std::uint64_t kFirstMap = std::uint64_t{1} << 30;
constexpr std::uint64_t kMapStep = std::uint64_t{1} << 20;

Status check(int number, std::string_view what) {
  if (number == 0) return {};
  return fail(lmdb_error(number, what));
}

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kMapStep - 1) / kMapStep * kMapStep;
}

// Whether the kernel would give that much address space: LMDB unmaps before it maps anew, and an
// environment that failed between is lost.
bool has_address_space(std::uint64_t bytes) {
  void* const at =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  ::munmap(at, bytes);
  return true;
}

std::uint64_t file_size(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

struct AbortRead {
  void operator()(MDB_txn* txn) const { mdb_txn_abort(txn); }
};
using ReadEnd = std::unique_ptr<MDB_txn, AbortRead>;

unsigned flags_of(Access access) {
  const unsigned common = MDB_NOTLS | MDB_NORDAHEAD;
  if (access == Access::write) return common;
  if (access == Access::read_live) return common | MDB_RDONLY;
  return common | MDB_RDONLY | MDB_NOLOCK;
}

}  // namespace

Error lmdb_error(int number, std::string_view what) {
  if (number > 0) return error_from_errno(number, what);
  const auto code = [&] {
    switch (number) {
      case MDB_CORRUPTED:
      case MDB_PAGE_NOTFOUND:
      case MDB_INVALID:
      case MDB_PANIC:
      case MDB_KEYEXIST:
      case MDB_INCOMPATIBLE:
        return ErrorCode::corrupt;
      case MDB_VERSION_MISMATCH:
        return ErrorCode::unsupported_version;
      case MDB_MAP_FULL:
        return ErrorCode::no_space;
      case MDB_READERS_FULL:
      case MDB_TXN_FULL:
      case MDB_DBS_FULL:
        return ErrorCode::limit_exceeded;
      case MDB_NOTFOUND:
        return ErrorCode::not_found;
      default:
        return ErrorCode::internal;
    }
  }();
  return {code, std::string(what) + ": " + mdb_strerror(number)};
}

Result<Cursor> open_cursor(MDB_txn* txn, MDB_dbi dbi) {
  MDB_cursor* cursor = nullptr;
  DATUM_TRY(check(mdb_cursor_open(txn, dbi, &cursor), "open a cursor"));
  return Cursor(cursor);
}

Environment::~Environment() {
  if (env_ != nullptr) mdb_env_close(env_);
}

Result<std::shared_ptr<Environment>> Environment::open(const Wanted& wanted) {
  std::shared_ptr<Environment> made(new Environment);
  made->access_ = wanted.access;
  made->wanted_indexes_ = wanted.indexes;
  DATUM_TRY(made->set_up(wanted));
  DATUM_TRY(made->load(wanted));
  return made;
}

// LMDB found a page that cannot be. It aborts when this returns.
static void end_at_assertion(MDB_env* env, const char* /*what*/) {
  static_cast<const StoreAtWork*>(mdb_env_get_userctx(env))->end();
}

Status Environment::set_up(const Wanted& wanted) {
  data_file_ = wanted.folder + "/data.mdb";
  const auto size = file_size(data_file_);
  // A reader of a copy maps no more than the file: what a damaged page claims is never believed.
  auto map = rounded(std::max<std::uint64_t>(size, kMapStep));
  if (wanted.access != Access::read_copy)
    map = rounded(std::max(wanted.map_bytes != 0 ? wanted.map_bytes : kFirstMap,
                           wanted.map_bytes != 0 ? size : 2 * size));
  at_work_ = StoreAtWork(wanted.folder);
  const InsideStore inside(at_work_);
  DATUM_TRY(check(mdb_env_create(&env_), "make an environment"));
  mdb_env_set_userctx(env_, &at_work_);
  mdb_env_set_assert(env_, end_at_assertion);
  DATUM_TRY(check(mdb_env_set_maxdbs(env_, kMaxIndexes + 4), "set databases"));
  DATUM_TRY(check(mdb_env_set_mapsize(env_, map), "set the map"));
  DATUM_TRY(check(mdb_env_open(env_, wanted.folder.c_str(), flags_of(wanted.access), 0600),
                  "open " + wanted.folder));
  const int fd = data_fd();
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
    return fail(error_from_errno(errno, "set close-on-exec"));
  if (wanted.access != Access::read_copy) drop_stale_readers();
  return {};
}

int Environment::open_databases(MDB_txn* txn, const Wanted& wanted) {
  const bool may_make = wanted.access == Access::write;
  const unsigned make = may_make ? unsigned{MDB_CREATE} : 0U;
  MDB_cursor* raw = nullptr;
  MDB_dbi names = 0;
  std::vector<std::string> found;
  int number = mdb_dbi_open(txn, nullptr, 0, &names);
  if (number == 0) number = mdb_cursor_open(txn, names, &raw);
  if (number != 0) return number;
  const Cursor cursor(raw);
  MDB_val key{};
  MDB_val value{};
  while ((number = mdb_cursor_get(raw, &key, &value, MDB_NEXT)) == 0)
    found.emplace_back(as_text(to_view(key)));
  if (number != MDB_NOTFOUND) return number;
  if (may_make) found.insert(found.end(), wanted.indexes.begin(), wanted.indexes.end());
  number = mdb_dbi_open(txn, "events", make | MDB_INTEGERKEY, &events_);
  if (number == 0) number = mdb_dbi_open(txn, "meta", make, &meta_);
  if (number == 0) number = mdb_dbi_open(txn, "projections", make, &projections_);
  for (const auto& name : found) {
    if (number != 0) break;
    if (name == "events" || name == "meta" || name == "projections") continue;
    number = mdb_dbi_open(txn, name.c_str(), make, &indexes_[name]);
  }
  return number;
}

static int put_checked(MDB_txn* txn, MDB_dbi dbi, std::string_view name, ByteView value) {
  const auto stored = make_checked(name, value);
  MDB_val key = to_val(name);
  MDB_val data = to_val(ByteView(stored));
  return mdb_put(txn, dbi, &key, &data, 0);
}

Status Environment::load(const Wanted& wanted) {
  const InsideStore inside(at_work_);
  const auto open_all = [&](MDB_txn* txn) { return open_databases(txn, wanted); };
  if (wanted.access == Access::write) {
    const int number = write([&](MDB_txn* txn) {
      int result = open_all(txn);
      MDB_stat stat{};
      if (result == 0) result = mdb_stat(txn, meta_, &stat);
      if (result != 0 || stat.ms_entries != 0) return result;
      std::array<std::byte, 4> level{};
      store_le(level.data(), wanted.level);
      result = put_checked(txn, meta_, "journal.store", wanted.store.view());
      return result != 0 ? result : put_checked(txn, meta_, "journal.level", level);
    });
    DATUM_TRY(check(number, "open the databases"));
  } else {
    MDB_txn* txn = nullptr;
    DATUM_TRY(check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn), "begin reading"));
    const int number = open_all(txn);
    // Handles opened in a transaction stay only if it is committed, also when it wrote nothing.
    if (number == 0) {
      DATUM_TRY(check(mdb_txn_commit(txn), "open the databases"));
    } else {
      mdb_txn_abort(txn);
      return fail(lmdb_error(number, "open the databases"));
    }
  }
  return read([&](MDB_txn* txn) -> Status {
    DATUM_TRY(load_identity(txn));
    DATUM_ASSIGN(head_, load_head(txn));
    return {};
  });
}

Status Environment::load_identity(MDB_txn* txn) {
  for (const auto* const name : {"journal.store", "journal.level"}) {
    MDB_val key = to_val(std::string_view(name));
    MDB_val value{};
    DATUM_TRY(check(mdb_get(txn, meta_, &key, &value), name));
    const auto held = find_checked(name, to_view(value));
    const bool is_store = std::string_view(name) == "journal.store";
    if (!held || held->size() != (is_store ? Id128::kSize : 4))
      return fail(ErrorCode::corrupt, std::string(name) + ": checksum differs");
    if (is_store) {
      std::memcpy(store_.bytes.data(), held->data(), Id128::kSize);
    } else {
      const std::lock_guard lock(head_mutex_);
      level_ = load_le<std::uint32_t>(held->data());
    }
  }
  return {};
}

Result<Head> Environment::load_head(MDB_txn* txn) const {
  Head head;
  DATUM_ASSIGN(const Cursor cursor, open_cursor(txn, events_));
  MDB_val key{};
  MDB_val value{};
  int number = mdb_cursor_get(cursor.get(), &key, &value, MDB_FIRST);
  if (number == MDB_NOTFOUND) return head;
  DATUM_TRY(check(number, "find the first record"));
  if (key.mv_size != sizeof(Seq)) return fail(ErrorCode::corrupt, "events has an impossible key");
  head.first = load_le<Seq>(to_view(key).data());
  number = mdb_cursor_get(cursor.get(), &key, &value, MDB_LAST);
  DATUM_TRY(check(number, "find the last record"));
  head.seq = load_le<Seq>(to_view(key).data());
  DATUM_ASSIGN(const Record record, read_value(to_view(value), head.seq));
  head.hash = hash_of(record);
  return head;
}

int Environment::begin_read(MDB_txn** txn) {
  int number = mdb_txn_begin(env_, nullptr, MDB_RDONLY, txn);
  if (number == MDB_READERS_FULL) {
    // Readers that were killed keep their slots until somebody looks.
    drop_stale_readers();
    number = mdb_txn_begin(env_, nullptr, MDB_RDONLY, txn);
  }
  return number;
}

Status Environment::adopt_map() {
  const std::unique_lock lock(map_mutex_);
  const int number = mdb_env_set_mapsize(env_, 0);
  is_mapped_ = number == 0;
  return check(number, "follow the writer's map");
}

Status Environment::read(const std::function<Status(MDB_txn*)>& body) {
  for (int tries = 0;; ++tries) {
    std::shared_lock lock(map_mutex_);
    if (!is_mapped_) return fail(ErrorCode::unavailable, "the store's map is gone: reopen it");
    MDB_txn* txn = nullptr;
    const int number = begin_read(&txn);
    if (number == MDB_MAP_RESIZED && tries < 3) {
      lock.unlock();
      DATUM_TRY(adopt_map());
      continue;
    }
    DATUM_TRY(check(number, "begin reading"));
    const InsideStore inside(at_work_);
    const ReadEnd end(txn);
    return body(txn);
  }
}

int Environment::write(const std::function<int(MDB_txn*)>& body) {
  if (!is_mapped_) return EIO;
  const InsideStore inside(at_work_);
  MDB_txn* txn = nullptr;
  int number = mdb_txn_begin(env_, nullptr, 0, &txn);
  if (number != 0) return number;
  number = body(txn);
  if (number != 0) {
    mdb_txn_abort(txn);
    return number;
  }
  return mdb_txn_commit(txn);
}

std::uint64_t Environment::used_bytes() const {
  MDB_envinfo info{};
  MDB_stat stat{};
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  return (info.me_last_pgno + 1) * stat.ms_psize;
}

Status Environment::grow(std::uint64_t bytes) {
  MDB_envinfo info{};
  mdb_env_info(env_, &info);
  const auto needed = used_bytes() + bytes;
  if (needed <= info.me_mapsize) return {};
  const auto size = rounded(std::max<std::uint64_t>(needed, 2 * info.me_mapsize));
  drop_stale_readers();
  const std::unique_lock lock(map_mutex_);
  if (!is_mapped_ || !has_address_space(size))
    return fail(ErrorCode::limit_exceeded,
                "no address space to map " + std::to_string(size) + " bytes of the store");
  const int number = mdb_env_set_mapsize(env_, size);
  is_mapped_ = number == 0;
  return check(number, "grow the map");
}

Result<Head> Environment::read_head() {
  if (access_ == Access::read_live) {
    Head head;
    const auto status = read([&](MDB_txn* txn) -> Status {
      // The writer may have raised the level with the record that is now the head.
      DATUM_TRY(load_identity(txn));
      DATUM_ASSIGN(head, load_head(txn));
      return {};
    });
    if (!status) return fail(Error(status.error()));
    return head;
  }
  const std::lock_guard lock(head_mutex_);
  return head_;
}

void Environment::publish(const Head& head, std::uint32_t level) {
  const std::lock_guard lock(head_mutex_);
  head_ = head;
  level_ = level;
}

std::uint32_t Environment::level() const {
  const std::lock_guard lock(head_mutex_);
  return level_;
}

std::optional<MDB_dbi> Environment::find_index(std::string_view name) const {
  const auto found = indexes_.find(name);
  if (found == indexes_.end()) return std::nullopt;
  return found->second;
}

bool Environment::is_wanted(std::string_view name) const {
  return std::find(wanted_indexes_.begin(), wanted_indexes_.end(), name) != wanted_indexes_.end();
}

int Environment::data_fd() const {
  mdb_filehandle_t fd = -1;
  mdb_env_get_fd(env_, &fd);
  return fd;
}

void Environment::drop_stale_readers() {
  int dead = 0;
  // Fails only where there is no reader table, and then there is nothing to drop.
  mdb_reader_check(env_, &dead);
}

// LMDB does not tell where its map is, but each page carries its number: a small value, which lies
// on a leaf, leads to its page and so to the begin. Null when pages are not the machine's.
static std::byte* map_begin(const MDB_val& value, std::size_t page_size) {
  if (page_size != static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) return nullptr;
  auto* const at = static_cast<std::byte*>(value.mv_data);
  auto* const page = at - reinterpret_cast<std::uintptr_t>(at) % page_size;
  return page - load_le<std::uint64_t>(page) * page_size;
}

void Environment::release_memory() {
  // Readers may go on: a page that they touch is simply mapped again.
  const auto released = read([&](MDB_txn* txn) -> Status {
    MDB_envinfo info{};
    MDB_stat stat{};
    mdb_env_info(env_, &info);
    mdb_env_stat(env_, &stat);
    MDB_val key = to_val(std::string_view("journal.store"));
    MDB_val value{};
    DATUM_TRY(check(mdb_get(txn, meta_, &key, &value), "find the map"));
    auto* const begin = map_begin(value, stat.ms_psize);
    if (begin != nullptr) ::madvise(begin, info.me_mapsize, MADV_DONTNEED);
    return {};
  });
  // Memory that cannot be given back stays: nothing depends on it.
  static_cast<void>(released);
}

}  // namespace datum::journal
