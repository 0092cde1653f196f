// Verification of an open store through LMDB, beside its writer: for people who ask, not for
// opening (there the child's walk looks at the pages themselves).
#include <algorithm>

#include "envelope.hpp"
#include "lmdb_reader.hpp"

namespace datum::journal {
namespace {

// Sums the entries of one index whose records are in [from, last], a chunk a transaction.
class IndexCheck {
 public:
  IndexCheck(std::string name, MDB_dbi dbi, Seq first, Seq from, Seq last)
      : name_(std::move(name)), dbi_(dbi), first_(first), from_(from), last_(last) {}

  Status run(Environment& env) {
    while (!is_done_) DATUM_TRY(env.read([&](MDB_txn* txn) { return take_chunk(txn); }));
    return {};
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  Status take_chunk(MDB_txn* txn) {
    DATUM_ASSIGN(const Cursor cursor, open_cursor(txn, dbi_));
    MDB_val key = to_val(std::string_view(after_));
    MDB_val value{};
    int number =
        mdb_cursor_get(cursor.get(), &key, &value, after_.empty() ? MDB_FIRST : MDB_SET_RANGE);
    for (std::size_t i = 0; number == 0 && i < kMaxReadRecords; ++i) {
      DATUM_TRY(take(as_text(to_view(key))));
      number = mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT);
    }
    if (number != 0 && number != MDB_NOTFOUND) return fail(lmdb_error(number, "walk an index"));
    is_done_ = number == MDB_NOTFOUND;
    return {};
  }

  Status take(std::string_view bytes) {
    if (bytes == after_) return {};
    const auto entry = find_index_entry(as_bytes(bytes));
    if (!entry)
      return fail(ErrorCode::corrupt, "index '" + name_ + "' holds an entry that is none");
    if (entry->seq < first_)
      return fail(ErrorCode::corrupt, "index '" + name_ + "' names record " +
                                          std::to_string(entry->seq) + ", which is not held");
    // Above `last_`: appended since the verification began.
    if (entry->seq >= from_ && entry->seq <= last_)
      sum_ += index_sum(name_, entry->key, entry->seq);
    after_.assign(bytes);
    return {};
  }

  std::string name_;
  MDB_dbi dbi_;
  Seq first_;
  Seq from_;
  Seq last_;
  std::string after_;
  std::uint64_t sum_ = 0;
  bool is_done_ = false;
};

Status check_chain(Environment& env, Seq from, Verification& finding, std::uint64_t& sum) {
  const Head head = finding.head;
  // The record before `from` is read for the hash that `from` must carry.
  const Seq begin = from > head.first ? from - 1 : head.first;
  ChainCheck chain(begin, from);
  Status taken;
  auto scanned = scan_records(env, begin, [&](const Record& record) {
    if (record.seq > head.seq) return Visit::stop;
    // The record and its keys lie behind each other in the value.
    const ByteView value(record.stored.data(), record.stored.size() + record.keys.size());
    taken = chain.take(value);
    return taken ? Visit::go_on : Visit::stop;
  });
  finding.bad_seq = chain.next();
  DATUM_TRY(scanned);
  DATUM_TRY(taken);
  if (chain.head().seq != head.seq || chain.head().hash != head.hash)
    return fail(corrupt_record(chain.next(), "is not the head that the log wrote"));
  finding.bad_seq = 0;
  finding.records = head.seq - begin + 1;
  sum = chain.keys_sum();
  return {};
}

}  // namespace

Result<Verification> verify_records(Environment& env, Seq from) {
  Verification finding;
  DATUM_ASSIGN(finding.head, env.read_head());
  const Seq begin = std::max(from, finding.head.first);
  if (begin > finding.head.seq) {
    finding.sound = true;
    return finding;
  }
  std::uint64_t keys_sum = 0;
  std::uint64_t index_sum = 0;
  auto status = check_chain(env, begin, finding, keys_sum);
  for (const auto& [name, dbi] : env.indexes()) {
    if (!status) break;
    IndexCheck check(name, dbi, finding.head.first, begin, finding.head.seq);
    status = check.run(env);
    index_sum += check.sum();
  }
  if (status && index_sum != keys_sum)
    status = fail(ErrorCode::corrupt, "the indexes are not what the records' keys say");
  if (status) {
    finding.sound = true;
  } else if (status.error().code() == ErrorCode::corrupt) {
    finding.problem = status.error().message();
  } else {
    return fail(std::move(status).error());
  }
  return finding;
}

}  // namespace datum::journal
