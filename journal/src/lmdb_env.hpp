// One open LMDB environment of a store, shared by the log and its readers: handles, short read
// transactions, growth of the map, the head that was last durable. Nothing outside this file, its
// source and lmdb_log knows LMDB. Threads: reads from any; writing and growing from the log's
// thread only.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "damage_guard.hpp"
#include "datum/base/error.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

// LMDB's numbers as errors: damage is `corrupt`, a full map `no_space`, errno values by their kin.
[[nodiscard]] Error lmdb_error(int number, std::string_view what);

enum class Access : std::uint8_t {
  write,      // full sync, reader table in lock.mdb
  read_copy,  // MDB_NOLOCK: the caller knows that nobody writes; no byte is written
  read_live,  // beside another process's writer: takes a slot in lock.mdb
};

class Environment {
 public:
  // `folder` holds data.mdb. Opens every database that is there; for Access::write makes the
  // missing ones of `indexes`, and, in an empty environment, all with `store` and `level`.
  struct Wanted {
    std::string folder;
    Access access = Access::write;
    std::vector<std::string> indexes;
    Id128 store;
    std::uint32_t level = 1;
    std::uint64_t map_bytes = 0;  // address space at first, 0: the default
  };
  [[nodiscard]] static Result<std::shared_ptr<Environment>> open(const Wanted& wanted);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // Runs `body` in a read transaction. Map growth waits for it, so it must be short.
  [[nodiscard]] Status read(const std::function<Status(MDB_txn*)>& body);
  // Runs `body` in the write transaction and commits, with full sync, if it returns 0; otherwise
  // nothing of it remains. Returns LMDB's number.
  [[nodiscard]] int write(const std::function<int(MDB_txn*)>& body);
  // Makes the map hold `bytes` more than the file does. Waits for readers. On `limit_exceeded` (no
  // address space) the map is what it was.
  [[nodiscard]] Status grow(std::uint64_t bytes);

  // Of the last durable append, or, beside another process's writer, of this moment.
  [[nodiscard]] Result<Head> read_head();
  void publish(const Head& head, std::uint32_t level);
  [[nodiscard]] std::uint32_t level() const;
  [[nodiscard]] const Id128& store_id() const { return store_; }

  [[nodiscard]] MDB_dbi events() const { return events_; }
  [[nodiscard]] MDB_dbi meta() const { return meta_; }
  [[nodiscard]] MDB_dbi projections() const { return projections_; }
  [[nodiscard]] const std::map<std::string, MDB_dbi, std::less<>>& indexes() const {
    return indexes_;
  }
  [[nodiscard]] std::optional<MDB_dbi> find_index(std::string_view name) const;
  // Whether the opener named the index: in a store of before it, opened for reading, it is empty.
  [[nodiscard]] bool is_wanted(std::string_view name) const;
  [[nodiscard]] int data_fd() const;
  // Its path, for messages.
  [[nodiscard]] const std::string& data_file() const { return data_file_; }
  // End of the file's used part.
  [[nodiscard]] std::uint64_t used_bytes() const;
  [[nodiscard]] Result<Usage> read_usage();
  // Writes all that is in use to `fd`, without free pages, as a data file of its own; not synced.
  [[nodiscard]] Status copy_compact(int fd);
  // Read transactions that other processes have open at this moment; dead ones are dropped first.
  [[nodiscard]] std::size_t count_other_readers();
  // Both hold the same names with the same bytes in `meta` and in `projections`.
  [[nodiscard]] Result<bool> has_same_values(Environment& other);
  // Gives the slots of dead readers free; what they pinned can be used again.
  void drop_stale_readers();
  void release_memory();

 private:
  Environment() = default;
  [[nodiscard]] Status set_up(const Wanted& wanted);
  [[nodiscard]] int open_databases(MDB_txn* txn, const Wanted& wanted);
  [[nodiscard]] Status load(const Wanted& wanted);
  [[nodiscard]] Result<Head> load_head(MDB_txn* txn) const;
  [[nodiscard]] Status load_identity(MDB_txn* txn);
  [[nodiscard]] int begin_read(MDB_txn** txn);
  [[nodiscard]] Status adopt_map();

  MDB_env* env_ = nullptr;
  std::string data_file_;
  StoreAtWork at_work_;
  Access access_ = Access::write;
  MDB_dbi events_ = 0;
  MDB_dbi meta_ = 0;
  MDB_dbi projections_ = 0;
  std::map<std::string, MDB_dbi, std::less<>> indexes_;
  std::vector<std::string> wanted_indexes_;
  Id128 store_;
  // Shared by read transactions, exclusive while the map moves.
  std::shared_mutex map_mutex_;
  bool is_mapped_ = true;
  mutable std::mutex head_mutex_;
  Head head_;
  std::uint32_t level_ = 0;
};

[[nodiscard]] inline MDB_val to_val(ByteView bytes) {
  return {bytes.size(), const_cast<std::byte*>(bytes.data())};
}
[[nodiscard]] inline MDB_val to_val(std::string_view text) {
  return to_val(as_bytes(text));
}
[[nodiscard]] inline ByteView to_view(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

// Closes a cursor at the end of its scope; read cursors outlive their transaction otherwise.
struct CloseCursor {
  void operator()(MDB_cursor* cursor) const { mdb_cursor_close(cursor); }
};
using Cursor = std::unique_ptr<MDB_cursor, CloseCursor>;
[[nodiscard]] Result<Cursor> open_cursor(MDB_txn* txn, MDB_dbi dbi);

}  // namespace datum::journal
