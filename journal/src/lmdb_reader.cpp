#include "lmdb_reader.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <ctime>

#include "envelope.hpp"

namespace datum::journal {
namespace {

// How long one read transaction may last (design: 50 ms), and how often the clock is asked.
constexpr std::int64_t kMaxReadNs = 50 * kNsPerMs;
constexpr std::size_t kClockEvery = 64;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

// Says when a transaction has lasted long enough.
class TransactionSpan {
 public:
  [[nodiscard]] bool is_over() {
    if (++count_ >= kMaxReadRecords) return true;
    return count_ % kClockEvery == 0 && now_ns() - begin_ns_ >= kMaxReadNs;
  }

 private:
  std::size_t count_ = 0;
  std::int64_t begin_ns_ = now_ns();
};

MDB_val seq_val(const Seq& seq) {
  return {sizeof seq, const_cast<Seq*>(&seq)};
}

Result<Seq> seq_of(const MDB_val& key) {
  if (key.mv_size != sizeof(Seq)) return fail(ErrorCode::corrupt, "events has an impossible key");
  return load_le<Seq>(to_view(key).data());
}

Result<bool> is_first(MDB_txn* txn, MDB_dbi events, Seq seq) {
  DATUM_ASSIGN(const Cursor cursor, open_cursor(txn, events));
  MDB_val key{};
  MDB_val value{};
  const int number = mdb_cursor_get(cursor.get(), &key, &value, MDB_FIRST);
  if (number != 0) return fail(lmdb_error(number, "find the first record"));
  DATUM_ASSIGN(const Seq first, seq_of(key));
  return first == seq;
}

struct Position {
  Seq next = 0;
  Seq last = 0;  // inclusive end, in the direction of the scan
  bool is_done = false;
};

// A gap is damage, except before the first record: archiving may have removed what was asked for.
Status check_place(MDB_txn* txn, MDB_dbi events, Seq found, Position& at) {
  if (found == at.next) return {};
  if (found > at.next) {
    DATUM_ASSIGN(const bool is_beginning, is_first(txn, events, found));
    if (is_beginning) {
      at.next = found;
      return {};
    }
  }
  return fail(corrupt_record(at.next, "is missing"));
}

Status visit_value(const MDB_val& value, Seq seq, const Visitor& visit, Visit& wish) {
  auto record = read_value(to_view(value), seq);
  if (!record) return fail(std::move(record).error());
  wish = visit(*record);
  return {};
}

Status scan_chunk(MDB_txn* txn, MDB_dbi events, Position& at, const Visitor& visit) {
  DATUM_ASSIGN(const Cursor cursor, open_cursor(txn, events));
  TransactionSpan chunk;
  MDB_val key = seq_val(at.next);
  MDB_val value{};
  int number = mdb_cursor_get(cursor.get(), &key, &value, MDB_SET_RANGE);
  for (; number == 0; number = mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) {
    DATUM_ASSIGN(const Seq seq, seq_of(key));
    DATUM_TRY(check_place(txn, events, seq, at));
    if (at.next > at.last) break;
    auto wish = Visit::go_on;
    DATUM_TRY(visit_value(value, seq, visit, wish));
    at.is_done = wish == Visit::stop || at.next == at.last;
    ++at.next;
    if (at.is_done || chunk.is_over()) return {};
  }
  if (number != 0 && number != MDB_NOTFOUND) return fail(lmdb_error(number, "scan"));
  // The head of the beginning was not reached: records that were there are gone.
  if (number == MDB_NOTFOUND && at.next <= at.last)
    return fail(corrupt_record(at.next, "is missing"));
  at.is_done = true;
  return {};
}

Status scan_chunk_back(MDB_txn* txn, MDB_dbi events, Position& at, const Visitor& visit) {
  DATUM_ASSIGN(const Cursor cursor, open_cursor(txn, events));
  TransactionSpan chunk;
  MDB_val key = seq_val(at.next);
  MDB_val value{};
  int number = mdb_cursor_get(cursor.get(), &key, &value, MDB_SET_RANGE);
  for (; number == 0; number = mdb_cursor_get(cursor.get(), &key, &value, MDB_PREV)) {
    DATUM_ASSIGN(const Seq seq, seq_of(key));
    if (seq != at.next) {
      // Archived since the last transaction: what is left lies above.
      DATUM_ASSIGN(const bool is_beginning, is_first(txn, events, seq));
      if (seq > at.next && is_beginning) break;
      return fail(corrupt_record(at.next, "is missing"));
    }
    auto wish = Visit::go_on;
    DATUM_TRY(visit_value(value, seq, visit, wish));
    at.is_done = wish == Visit::stop || at.next == 1;
    --at.next;
    if (at.is_done || chunk.is_over()) return {};
  }
  if (number != 0 && number != MDB_NOTFOUND) return fail(lmdb_error(number, "scan"));
  at.is_done = true;
  return {};
}

}  // namespace

Status scan_records(Environment& env, Seq from, const Visitor& visit) {
  DATUM_ASSIGN(const Head head, env.read_head());
  Position at{std::max(from, head.first), head.seq, head.seq == 0 || from > head.seq};
  while (!at.is_done)
    DATUM_TRY(env.read([&](MDB_txn* txn) { return scan_chunk(txn, env.events(), at, visit); }));
  return {};
}

Status scan_records_back(Environment& env, Seq from, const Visitor& visit) {
  DATUM_ASSIGN(const Head head, env.read_head());
  const Seq begin = from == 0 ? head.seq : std::min(from, head.seq);
  Position at{begin, head.first, head.seq == 0 || begin < head.first};
  while (!at.is_done)
    DATUM_TRY(
        env.read([&](MDB_txn* txn) { return scan_chunk_back(txn, env.events(), at, visit); }));
  return {};
}

Status read_record(Environment& env, Seq seq, const Visitor& visit) {
  return env.read([&](MDB_txn* txn) -> Status {
    MDB_val key = seq_val(seq);
    MDB_val value{};
    const int number = mdb_get(txn, env.events(), &key, &value);
    if (number == MDB_NOTFOUND)
      return fail(ErrorCode::not_found, "record " + std::to_string(seq) + " is not in the journal");
    if (number != 0) return fail(lmdb_error(number, "read record " + std::to_string(seq)));
    auto wish = Visit::stop;
    return visit_value(value, seq, visit, wish);
  });
}

// One transaction's part of a search; `from` becomes 0 when there is no more.
static Status find_chunk(MDB_txn* txn, MDB_dbi dbi, std::string_view key, Seq& from,
                         std::size_t limit, std::vector<Seq>& found) {
  DATUM_ASSIGN(const Cursor cursor, open_cursor(txn, dbi));
  const auto begin = index_entry(key, from);
  MDB_val at = to_val(std::string_view(begin));
  MDB_val value{};
  int number = mdb_cursor_get(cursor.get(), &at, &value, MDB_SET_RANGE);
  TransactionSpan chunk;
  for (; number == 0; number = mdb_cursor_get(cursor.get(), &at, &value, MDB_NEXT)) {
    const auto entry = find_index_entry(to_view(at));
    if (!entry) return fail(ErrorCode::corrupt, "an index holds an entry that is none");
    if (entry->key != key) break;
    found.push_back(entry->seq);
    from = entry->seq + 1;
    if (found.size() >= limit) break;
    if (chunk.is_over()) return {};
  }
  if (number != 0 && number != MDB_NOTFOUND) return fail(lmdb_error(number, "search an index"));
  from = 0;
  return {};
}

Result<std::vector<Seq>> find_records(Environment& env, std::string_view index,
                                      std::string_view key, Seq from, std::size_t limit) {
  std::vector<Seq> found;
  const auto dbi = env.find_index(index);
  if (!dbi && env.is_wanted(index)) return found;
  if (!dbi) return fail(ErrorCode::invalid_argument, "no index '" + std::string(index) + "'");
  if (key.empty() || key.size() > kMaxName)
    return fail(ErrorCode::invalid_argument, "an index key must have 1 to 255 bytes");
  Seq next = std::max<Seq>(from, 1);
  while (next != 0 && limit > 0)
    DATUM_TRY(
        env.read([&](MDB_txn* txn) { return find_chunk(txn, *dbi, key, next, limit, found); }));
  return found;
}

// A large value lies on pages that follow each other. The map is read without look-ahead, so its
// pages would come from the disk one by one, each with a wait of its own.
static void fetch_ahead(const MDB_val& value) {
  constexpr std::size_t kWorthAsking = 64 * 1024;
  if (value.mv_size < kWorthAsking) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(value.mv_data) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(value.mv_data) + value.mv_size;
  // A wish: without it the value is read all the same.
  static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED));
}

Result<std::optional<Bytes>> read_checked(Environment& env, MDB_dbi dbi, std::string_view name) {
  std::optional<Bytes> result;
  if (name.empty() || name.size() > kMaxName) return result;
  DATUM_TRY(env.read([&](MDB_txn* txn) -> Status {
    MDB_val key = to_val(name);
    MDB_val stored{};
    const int number = mdb_get(txn, dbi, &key, &stored);
    if (number == MDB_NOTFOUND) return {};
    if (number != 0) return fail(lmdb_error(number, "read '" + std::string(name) + "'"));
    fetch_ahead(stored);
    const auto value = find_checked(name, to_view(stored));
    if (!value) return fail(ErrorCode::corrupt, "'" + std::string(name) + "': checksum differs");
    result.emplace(value->begin(), value->end());
    return {};
  }));
  return result;
}

}  // namespace datum::journal
