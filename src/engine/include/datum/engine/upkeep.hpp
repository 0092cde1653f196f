// What keeps a store from growing without end: old records into the archive, blobs that nobody
// names any more away. Between passes only. Where the records go and in which order is history's;
// what a blob is needed for is decided here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "datum/engine/store.hpp"
#include "datum/history/archive.hpp"
#include "datum/loop/task.hpp"

namespace datum::engine {

// After a pass of a command nobody waits longer than this for the beginning of another file; the
// rest is due after the next pass.
inline constexpr std::int64_t kUpkeepAfterPassNs = 5 * kNsPerSecond;
// Free pages worth a compaction by itself: later records use them anyway.
inline constexpr std::uint64_t kWorthCompacting = 64ULL * 1024 * 1024;

struct UpkeepRequest {
  history::ArchiveLimits limits;
  std::optional<Seq> through;                   // records up to here, whatever the limits say
  std::int64_t budget_ns = 0;                   // no file is begun after that long; 0: no limit
  std::int64_t young_ns = blobs::kNoneIsYoung;  // blobs since then stay
};
struct UpkeepReport {
  std::vector<journal::ArchiveFile> files;  // written now
  bool is_more_due = false;                 // the budget ended it
  std::uint64_t blob_bytes_freed = 0;       // swept only when records went
  journal::Usage usage;                     // of the journal, afterwards
};
// `store` is open for writing, no pass runs in it. `conflict`: a dead pass has to be recovered
// first. After an error each record still is in the journal, in the archive, or in both.
[[nodiscard]] loop::Task<Result<UpkeepReport>> keep_up(loop::Loop& loop, Store& store,
                                                       UpkeepRequest request);

// Whether so much of the file is free that a compaction pays by itself; and where a person asks for
// it, who gets one for less.
[[nodiscard]] bool is_worth_compacting(const journal::Usage& usage);
[[nodiscard]] bool is_worth_compacting_if_asked(const journal::Usage& usage);
// Of a store that stays open (History::compact). No pass runs, and nobody in this process reads the
// journal.
[[nodiscard]] loop::Task<Result<journal::Compaction>> compact(Store& store);

// What the blobs are needed for.
struct NeededBlobs {
  // By the journal's records, the State's last plan, and the declarations that are stored, accepted
  // and were last carried out, with all their content. Sorted.
  std::vector<Digest> live;
  // Old content, of archived records too, by the newest record that names it, newest first.
  std::vector<Digest> kept;
};
// `journal` is read from its first record, `whole` (the same with its archive) too: seconds for a
// million records.
[[nodiscard]] Result<NeededBlobs> find_needed_blobs(const core::State& state,
                                                    journal::Reader& journal,
                                                    journal::Reader& whole,
                                                    const blobs::BlobStore& blobs);

// Bytes on disk that old content takes which the journal or its archive names.
[[nodiscard]] Result<std::uint64_t> measure_kept(journal::Reader& whole,
                                                 const blobs::BlobStore& blobs);

}  // namespace datum::engine
