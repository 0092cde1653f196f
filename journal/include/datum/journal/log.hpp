// The append-only log: dense, hash-chained, opaque records with indexes, small metadata and
// projections, all in one transaction. It knows no event and no lifecycle. Two implementations:
// LMDB
// (`open_log`) and a simulated disk with faults (`journal/sim`), under one conformance suite.
//
// Threads: one Log is used by one thread at a time (history gives it a thread of its own); the only
// thing that may run beside it are Readers, each on its own thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"

namespace datum::journal {

// Largest payload of one record. Anything larger goes to a blob first.
inline constexpr std::size_t kMaxPayload = 64 * 1024;
// Largest batch: what one commit may hold, so that a reader or a crash never waits for more.
inline constexpr std::size_t kMaxBatchRecords = 4096;
inline constexpr std::size_t kMaxBatchBytes = 8 * 1024 * 1024;
// A read transaction ends after this much; a stopped reader otherwise makes the file grow without
// end.
inline constexpr std::size_t kMaxReadRecords = 1000;
// Keys of one record, all indexes together: each one rewrites a page path of its index.
inline constexpr std::size_t kMaxEntryKeys = 16;
// Indexes of one store: their handles are opened all at once.
inline constexpr std::size_t kMaxIndexes = 32;
// Name of a metadata value or projection, key of an index: LMDB keys have at most 511 bytes.
inline constexpr std::size_t kMaxName = 255;
// Metadata is small by intent; what is larger is a projection (at most the batch's size).
inline constexpr std::size_t kMaxMetaValue = 64 * 1024;
// Metadata name whose value of 8 little-endian bytes is the sequence from which the walk of an
// unclean store verifies records (pages are always walked all). The user sets it with each
// checkpoint.
inline constexpr std::string_view kCheckpointMeta = "checkpoint";

// When a record was made. `boot` is the kernel's boot id, `mono` counts suspend.
struct Stamp {
  WallNs wall;
  BootNs mono;
  Id128 boot;
};

// One key in one index of the journal's user. Keys of one index need not be unique: an index maps a
// key to all sequences that carried it, in order. `key` has 1 to 255 bytes.
struct IndexKey {
  std::string_view index;
  std::string_view key;
};

// A record to append. All views must stay valid during `append` only.
struct Entry {
  std::uint16_t kind = 0;  // opaque to the journal
  std::uint16_t flags = 0;
  Stamp stamp;
  ByteView payload;
  std::vector<IndexKey> keys;
};

// A value written in the transaction of a batch: metadata (small, by name) or a projection.
struct Put {
  std::string name;
  Bytes value;  // empty: the name is removed
};

struct Batch {
  std::vector<Entry> entries;    // may be empty when only `meta` or `projections` change
  std::vector<Put> meta;         // names beginning with "journal." are the journal's own
  std::vector<Put> projections;  // each value should name the sequence it rests on
  // The store's write level from this batch's records on; never lower than it is, never above
  // OpenOptions::level. A program that reads less refuses the store once this is durable.
  std::optional<std::uint32_t> raise_level;
};

// A record as read. `payload` is borrowed until the visitor returns.
struct Record {
  Seq seq = 0;
  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  Stamp stamp;
  Digest previous;  // SHA-256 of the whole record before (header and padded payload); zero for the
                    // first
  ByteView payload;
  std::uint16_t level = 0;  // the store's write level when it was written
  ByteView stored;          // header and padded payload, what the chain hashes; borrowed too
  ByteView keys;            // the keys block after it (docs/formats/journal.md); borrowed too
};
// What the next record carries as `previous`. Hashes `stored`.
[[nodiscard]] Digest hash_of(const Record& record);

struct Head {
  Seq seq = 0;    // of the last record, 0 when empty
  Digest hash;    // of the last record, zero when empty
  Seq first = 1;  // lowest sequence still held (archived ones are gone)
};

// What a store takes. `live_bytes` is what its trees occupy; the rest of the file is free pages,
// which later batches use and only a compaction gives back.
struct Usage {
  std::uint64_t file_bytes = 0;
  std::uint64_t live_bytes = 0;
};

enum class Visit : bool { stop, go_on };
using Visitor = std::function<Visit(const Record&)>;

// A consistent view for reading beside the writer. Cheap to make; each call below is one or more
// short transactions of at most kMaxReadRecords records, so a Reader never pins pages between
// calls.
// A visitor is called inside such a transaction: it must be quick and must not call the object that
// visits it (the writer's map cannot grow meanwhile).
class Reader {
 public:
  virtual ~Reader() = default;
  // Cheap (no page is touched beside a writer of this process): a follower may ask it often, and
  // then scan from the sequence that it has not seen.
  [[nodiscard]] virtual Result<Head> read_head() = 0;
  // Visits `from`, `from`+1, … until the visitor stops or the head of the moment is passed. Each
  // header's checksum, sequence and payload checksum are verified: `corrupt` names the sequence.
  [[nodiscard]] virtual Status scan(Seq from, const Visitor& visit) = 0;
  // Same, newest first, from `from` (0: the head) down to the first held record.
  [[nodiscard]] virtual Status scan_back(Seq from, const Visitor& visit) = 0;
  // The sequences that carry `key` in `index`, ascending, from `from` on, at most `limit`.
  [[nodiscard]] virtual Result<std::vector<Seq>> find(std::string_view index, std::string_view key,
                                                      Seq from, std::size_t limit) = 0;
  // The record, or `not_found` (never written, or archived).
  [[nodiscard]] virtual Status read(Seq seq, const Visitor& visit) = 0;
  [[nodiscard]] virtual Result<std::optional<Bytes>> read_meta(std::string_view name) = 0;
  [[nodiscard]] virtual Result<std::optional<Bytes>> read_projection(std::string_view name) = 0;
  // A few pages are read, however large the store is.
  [[nodiscard]] virtual Result<Usage> read_usage() = 0;
  [[nodiscard]] virtual Id128 store_id() const = 0;
  // The store's write level of this moment.
  [[nodiscard]] virtual std::uint32_t level() const = 0;
  // Gives mapped pages back to the kernel; they are read again when they are needed. After open and
  // after long reads.
  virtual void release_memory() {}
};

// The first thing that is wrong with a store, or none.
struct Verification {
  Seq records = 0;  // walked
  Head head;
  bool sound = false;
  Seq bad_seq = 0;      // 0: not a record (a page, an index, metadata)
  std::string problem;  // for people
};

// What a compaction did.
struct Compaction {
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};

class Log : public Reader {
 public:
  // Appends the whole batch or nothing. On success every record, key, metadata value and projection
  // of it is durable (the commit was synced) and the returned sequence is that of the last record
  // (the head's, if there were no entries). `no_space` and `io_error` leave the former records
  // intact; after them this object appends nothing more (`unavailable`): the pages of a failed sync
  // are not to be believed, reopen instead. `invalid_argument`, `limit_exceeded`: nothing was
  // tried.
  // `read_only`: the log was opened so.
  [[nodiscard]] virtual Result<Seq> append(const Batch& batch) = 0;
  // Proves that `bytes` more of payload can be appended: free disk space and room in the map.
  [[nodiscard]] virtual Status reserve(std::uint64_t bytes) = 0;
  // Removes the records below `first` and their index keys, a thousand at most in each durable
  // step, oldest first: an error or a crash leaves a shorter journal that is sound. The head stays
  // (`invalid_argument` for a `first` above it). The caller has exported them, synced and read
  // back.
  [[nodiscard]] virtual Status remove_before(Seq first) = 0;
  // Envelope and chain of every record from `from`, and that every index key points to a record.
  [[nodiscard]] virtual Result<Verification> verify(Seq from) = 0;
  // A second object for another thread of this process.
  [[nodiscard]] virtual Result<std::unique_ptr<Reader>> make_reader() = 0;
  // compact_store of this log's own store, under its lock all the while: closed in order, built
  // anew, exchanged, and opened again. `busy` while a Reader of it exists or another process reads
  // it, and the other errors of compact_store: the log goes on as it was. `unavailable`: what has
  // the store's place could not be opened again, which says why; nothing but the destructor may be
  // called then. Readers of other processes that come meanwhile see what was durable.
  [[nodiscard]] virtual Result<Compaction> compact() = 0;
  // Writes `clean` (store id, size, mtime, head), synced, and closes. Without it the next open
  // walks; a log whose append failed closes without it. `busy` while a Reader of it exists. Nothing
  // but the destructor may be called after success.
  [[nodiscard]] virtual Status close() = 0;
};

// Where a test or the self-test may end the process: "before WHAT" and "after WHAT" for each
// durable step of a store, which are naming, renaming and syncing its data at its birth ("naming
// the data", "sync of the name"), "removing the mark" and "sync of the removal", "append", and
// "sync of the mark", "renaming the mark" and "sync of the mark's name". `head` is what is durable
// by then. On the thread that does the step. Passed down, never global.
using CrashPoint = std::function<void(std::string_view point, const Head& head)>;

enum class OpenMode : std::uint8_t {
  create_or_open,  // a missing store is created (folder, file and parents' entries synced)
  open,            // a missing store is `not_found`
  read_only,       // no byte is written; for copies and closed stores. A writer's store is `busy`
  live,  // beside another process's writer, by its user: takes a reader's slot in lock.mdb
};

struct OpenOptions {
  OpenMode mode = OpenMode::create_or_open;
  // Names of the indexes that entries may use, in the order of their creation.
  std::vector<std::string> indexes;
  // The highest level this program reads and the one it writes; a store above it is refused
  // (`unsupported_version`).
  std::uint32_t level = 1;
  // How long the child that walks a store which did not end cleanly may take, in ms.
  // 0: a store that needs the walk is `timed_out` at once.
  std::int64_t walk_limit_ms = 10'000;
  // A store that was closed in order and looks as it did then is walked too: its disk may have
  // changed under it.
  bool walks_closed = false;
  // How long opening for writing waits for readers that hold the lock, in ms: as long as the walk
  // of one may take; and how long any opening waits for one that another process began.
  std::int64_t reader_wait_ms = 10'000;
  // Address space for the map at first, 0: the default. It grows by itself.
  std::uint64_t map_bytes = 0;
  CrashPoint crash_point;  // empty in every program's own work
};

// Opens the store in `folder` (absolute; 0700, owned by the caller). Takes the writer lock (`busy`
// with the holder's pid in the message when another process has it) for the life of the Log.
// A store that did not end cleanly, and every read-only copy, is walked in a child process first:
// `corrupt` (nothing was moved or changed), or `timed_out` when the walk did not finish.
// A network file system is `refused`: neither the locks nor the map hold there. Permissions wider
// than 0700 or another owner: `refused`, with what to do. So is a folder without data.mdb while
// `folder`.compacting has one: nothing is made or removed.
[[nodiscard]] Result<std::unique_ptr<Log>> open_log(const std::string& folder,
                                                    const OpenOptions& options);
// Whether a writer ever had the store in this very folder, or in the one that it was copied from
// with all its files. What is only a copy of data.mdb has not: read it with `read_only`.
[[nodiscard]] bool has_had_writer(const std::string& folder);

// Walks a closed store or a copy in a child process and writes nothing. `busy` when a writer has
// it; `timed_out`; `not_found`. A store that is not sound is a success that says so.
[[nodiscard]] Result<Verification> verify_store(const std::string& folder, std::int64_t limit_ms);

// Builds the store of `folder` anew without its free pages, in `folder`.compacting beside it: a
// child walks the new one whole, then both folders change places at once and the old one goes. A
// crash anywhere leaves a store with exactly the same records; what else lies about goes with the
// next opening. The store must be closed: `busy` while a writer has it or a reader reads it.
// `no_space`: there is no room for a second one; `unsupported`: the file system cannot exchange two
// folders; after any error the store is what it was. Blocks for as long as reading and writing it
// takes.
[[nodiscard]] Result<Compaction> compact_store(const std::string& folder,
                                               const OpenOptions& options);

// An export: one file, self-checking, written beside and renamed, synced. `to` 0 is the head.
// Contains records only (their hashes, indexes and order), no blobs.
// An existing `file` is `already_exists`; a range that is not held wholly is `not_found`.
struct ExportRange {
  Seq from = 1;
  Seq to = 0;
};
[[nodiscard]] Result<Head> export_records(Reader& reader, ExportRange range,
                                          const std::string& file);
// Reads an export as a Reader, all in place, after verifying it whole. `corrupt` names the first
// bad sequence. Never trusts a length it has not checked.
[[nodiscard]] Result<std::unique_ptr<Reader>> open_export(const std::string& file);
// Verifies an export without opening it for reading.
[[nodiscard]] Result<Verification> verify_export(const std::string& file);
// Builds a new store in the empty or missing folder `folder` from an export that begins at 1.
[[nodiscard]] Result<Head> import_records(const std::string& file, const std::string& folder,
                                          const OpenOptions& options);

}  // namespace datum::journal
