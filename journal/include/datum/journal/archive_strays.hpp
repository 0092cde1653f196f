// Files in an archive's folder that are no part of the journal's archive: of another store, of
// another course of this one's history (a store that was put back from an older copy), or under a
// wrong name. They may be the only copy of what they hold, so nothing reads them as the journal's
// and nothing removes them.
#pragma once

#include <string>
#include <vector>

#include "datum/journal/archive.hpp"

namespace datum::journal {

struct Stray {
  std::string name;
  std::string why;  // "is of another store"
};

// By name. `archived` is the last sequence that the user knows to be archived: what reaches above
// it is no stray only if it is sound, begins above it, and holds exactly records that are live, as
// an archive that was cut off leaves it. Such a file is read whole, any other at its ends. What is
// damaged and below is no stray: reading it names it.
[[nodiscard]] Result<std::vector<Stray>> find_strays(Reader& live, const std::string& folder,
                                                     Seq archived);

// The same of a reader that join_archive made. Any other has none.
[[nodiscard]] Result<std::vector<Stray>> read_strays(Reader& reader, Seq archived);

// Removes what an archive that was cut off left: sound files that begin above `archived` and hold
// exactly records that are live. Says how many. `conflict`: one that begins there and reaches to
// the live records is something else; it stays, and so do those behind it.
[[nodiscard]] Result<std::size_t> drop_unfinished(Reader& live, const std::string& folder,
                                                  Seq archived);

}  // namespace datum::journal
