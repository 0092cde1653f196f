// How large a store is, and what an archive did to it: text for people, JSON for programs
// (docs/reference/json.md).
#pragma once

#include <string>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/history/archive.hpp"

namespace datum::inspect {

struct StoreUsage {
  std::string path;
  Id128 store;
  std::uint32_t level = 0;
  Seq first = 0, head = 0;  // records that the journal holds itself; head 0: none
  WallNs first_time, head_time;
  journal::Usage journal;
  std::vector<journal::ArchiveFile> files;
  std::vector<std::string> strays;  // names of files there that are no part of it
  std::uint64_t blob_bytes = 0;
};
[[nodiscard]] std::string usage_text(const StoreUsage& usage);
[[nodiscard]] std::string usage_json(const StoreUsage& usage);

struct ArchiveReport {
  std::vector<journal::ArchiveFile> files;
  std::uint64_t blob_bytes_freed = 0;
  std::uint64_t journal_bytes = 0;    // before a compaction
  std::uint64_t compacted_bytes = 0;  // 0: it was not compacted
};
[[nodiscard]] std::string archive_text(const ArchiveReport& report);
[[nodiscard]] std::string archive_json(const ArchiveReport& report);

}  // namespace datum::inspect
