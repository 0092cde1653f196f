// What an archive lacks: records that left the journal and that no file in the archive's folder
// holds. A reader of both passes over them; whoever shows its records says so by this. Whether they
// should be there is the user's knowledge.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "datum/journal/archive.hpp"

namespace datum::journal {

// Both ends are missing.
struct Gap {
  Seq from = 0;
  Seq to = 0;
  bool operator==(const Gap&) const = default;
};

// Below `first_live`, ascending; `files` as list_archive gives them.
[[nodiscard]] std::vector<Gap> find_gaps(std::span<const ArchiveFile> files, Seq first_live);
// Of a reader that join_archive made, as of this moment. Any other lacks nothing between its ends.
[[nodiscard]] Result<std::vector<Gap>> read_gaps(Reader& reader);

// Names in `folder` that a file of an archive would have and that are none: links, folders, pipes.
// They are never opened. By name; a missing folder has none.
[[nodiscard]] Result<std::vector<std::string>> list_foreign(const std::string& folder);

}  // namespace datum::journal
