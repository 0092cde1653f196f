// What a compaction needs of an environment: how full it is, who else reads it, a copy without free
// pages, and the proof that two hold the same values.
#include <unistd.h>

#include <charconv>

#include "lmdb_env.hpp"

namespace datum::journal {
namespace {

Result<std::uint64_t> tree_bytes(MDB_txn* txn, MDB_dbi dbi) {
  MDB_stat stat{};
  const int number = mdb_stat(txn, dbi, &stat);
  if (number != 0) return fail(lmdb_error(number, "measure a database"));
  return (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) *
         std::uint64_t{stat.ms_psize};
}

// One line of mdb_reader_list, "pid thread transaction"; its first line is a heading. LMDB offers
// the table in no other form.
int count_reader(const char* line, void* context) {
  const std::string_view text(line);
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  std::int64_t pid = 0;
  const auto parsed = std::from_chars(text.data() + begin, text.data() + text.size(), pid);
  const bool is_reading = !text.ends_with("-\n");  // a slot that is kept without a transaction
  if (parsed.ec == std::errc{} && pid != ::getpid() && is_reading)
    ++*static_cast<std::size_t*>(context);
  return 0;
}

int compare_values(MDB_cursor* left, MDB_cursor* right, bool& are_same) {
  for (MDB_cursor_op next = MDB_FIRST; are_same; next = MDB_NEXT) {
    MDB_val left_key{};
    MDB_val left_value{};
    MDB_val right_key{};
    MDB_val right_value{};
    const int one = mdb_cursor_get(left, &left_key, &left_value, next);
    const int two = mdb_cursor_get(right, &right_key, &right_value, next);
    if (one != 0 && one != MDB_NOTFOUND) return one;
    if (two != 0 && two != MDB_NOTFOUND) return two;
    if (one != 0 && two != 0) return 0;
    are_same = one == two && as_text(to_view(left_key)) == as_text(to_view(right_key)) &&
               as_text(to_view(left_value)) == as_text(to_view(right_value));
  }
  return 0;
}

}  // namespace

Result<Usage> Environment::read_usage() {
  Usage usage;
  DATUM_TRY(read([&](MDB_txn* txn) -> Status {
    usage.live_bytes = 0;
    std::vector<MDB_dbi> all = {events_, meta_, projections_};
    for (const auto& [name, dbi] : indexes_) all.push_back(dbi);
    for (const auto dbi : all) {
      DATUM_ASSIGN(const auto bytes, tree_bytes(txn, dbi));
      usage.live_bytes += bytes;
    }
    return {};
  }));
  usage.file_bytes = used_bytes();
  return usage;
}

Status Environment::copy_compact(int fd) {
  const std::shared_lock lock(map_mutex_);
  const InsideStore inside(at_work_);
  const int number = mdb_env_copyfd2(env_, fd, MDB_CP_COMPACT);
  if (number != 0) return fail(lmdb_error(number, "copy the store"));
  return {};
}

std::size_t Environment::count_other_readers() {
  drop_stale_readers();
  std::size_t count = 0;
  mdb_reader_list(env_, &count_reader, &count);
  return count;
}

Result<bool> Environment::has_same_values(Environment& other) {
  bool are_same = true;
  const auto compare = [&](MDB_txn* left, MDB_txn* right) -> Status {
    for (const bool is_meta : {true, false}) {
      DATUM_ASSIGN(const Cursor one, open_cursor(left, is_meta ? meta_ : projections_));
      DATUM_ASSIGN(const Cursor two,
                   open_cursor(right, is_meta ? other.meta_ : other.projections_));
      const int number = compare_values(one.get(), two.get(), are_same);
      if (number != 0) return fail(lmdb_error(number, "compare two stores"));
    }
    return {};
  };
  DATUM_TRY(read([&](MDB_txn* left) {
    return other.read([&](MDB_txn* right) { return compare(left, right); });
  }));
  return are_same;
}

}  // namespace datum::journal
