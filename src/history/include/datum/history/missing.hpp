// Records that a store archived and that its archive does not hold any more, and files that lie
// there and are no part of it, in words. What should be there the journal itself says: by the
// metadata `archived`, and by the events that name files.
#pragma once

#include <string>
#include <vector>

#include "datum/history/events.hpp"
#include "datum/journal/archive_gaps.hpp"
#include "datum/journal/archive_strays.hpp"

namespace datum::history {

// Only what the store archived: nothing of an export, which may begin anywhere. Ascending.
[[nodiscard]] Result<std::vector<journal::Gap>> find_missing(journal::Reader& reader);
// For whoever shows records of the store in that folder: which are missing, and what stands in the
// place of an archive's file. Cheap; empty where nothing is missing.
[[nodiscard]] Result<std::string> describe_missing(journal::Reader& reader,
                                                   const std::string& store_folder);
// The same with the names of the files that held them, where a record tells. Reads every record.
[[nodiscard]] Result<std::string> name_missing(journal::Reader& reader,
                                               const std::string& store_folder);

// Files in a store's archive, `folder`, that its journal knows nothing of
// (journal/archive_strays.hpp); `reader` is the journal alone or with the archive.
[[nodiscard]] Result<std::vector<journal::Stray>> find_strays(journal::Reader& reader,
                                                              const std::string& folder);
// The same in words, or that no folder lies there, and what to do with it; empty where there is
// nothing to do.
[[nodiscard]] Result<std::string> describe_strays(journal::Reader& reader,
                                                  const std::string& folder);

}  // namespace datum::history
