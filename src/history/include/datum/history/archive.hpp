// Which records leave the journal for the archive, and where the archive lies. The deed itself is
// History::archive; reading both as one is open_reader's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datum/base/error.hpp"
#include "datum/base/time.hpp"
#include "datum/journal/archive.hpp"
#include "datum/journal/log.hpp"

namespace datum::history {

// Files of an archive are written, read back and later opened whole, so they have a size at which
// that takes a second: at most this many records and, at the average of the journal, bytes.
inline constexpr Seq kMaxArchiveRecords = 200'000;
inline constexpr std::uint64_t kMaxArchiveBytes = 64ULL * 1024 * 1024;
// Metadata of the journal: the last sequence that an `archived` event covers (8 bytes).
inline constexpr std::string_view kArchivedMeta = "archived";

// From agent.yaml (`journal:`). Above the size, the oldest records go until half of it is left. No
// record stays longer than the age: once the oldest reaches it, all older than seven eighths go.
struct ArchiveLimits {
  std::uint64_t above_bytes = std::uint64_t{1} << 30U;
  std::int64_t after_ns = 400 * 86'400 * kNsPerSecond;
};
struct ArchiveRange {
  Seq from = 0, to = 0;
};

// Everything that is due at `now`, oldest first; nothing if nothing is. At least the newest record
// stays. Records that the control plane has acknowledged are the oldest by nature, so they go
// first.
[[nodiscard]] Result<std::optional<ArchiveRange>> find_due(journal::Reader& reader,
                                                           const ArchiveLimits& limits, WallNs now);
// The first part of `due` that makes one file.
[[nodiscard]] Result<ArchiveRange> first_file_of(journal::Reader& reader, const ArchiveRange& due);

// The sequence up to which records were archived; 0 before the first time.
[[nodiscard]] Result<Seq> read_archived(journal::Reader& reader);
// The lowest that was not: the first one held, unless a deletion was cut off.
[[nodiscard]] Result<Seq> first_unarchived(journal::Reader& reader);

[[nodiscard]] std::string archive_folder(const std::string& store_folder);

}  // namespace datum::history
