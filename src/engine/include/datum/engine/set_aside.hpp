// A damaged store out of the way, whole: nothing of it is deleted or changed, and the store that
// begins in its place says so with its first records.
#pragma once

#include <string>
#include <vector>

#include "datum/core/decide.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

// Why a folder is a store that has lost its journal, in words; empty: it has one, or never had.
// There is no data.mdb in journal/, but what is made only after it: the key (unless it was left by
// a setting aside), archive or blobs, or what a closing or an opening leaves beside it. Where
// journal.compacting has a data.mdb, opening says what to do. An import that was cut off is none.
[[nodiscard]] std::string find_lost_journal(os::Files& files, const std::string& folder);

// Moves journal, archive and blobs of the store in `folder` into a new folder of it,
// `damaged-TIME`, with a file `problem` that says in words what is wrong; the journal last, so that
// a crash before leaves a store that still is refused. The key stays: digests of sensitive content
// in what was moved can be compared only with it. A store that has lost its journal is damaged as
// well: an empty `journal` stands for it then. Durable on return. `refused`: the store is sound.
// `timed_out`: it could not be looked at in time, which says nothing of it. `busy`, `not_found`,
// `unsupported_version`: as opening it says. Nothing was moved then.
[[nodiscard]] Result<core::SetAsideStore> set_aside(os::Files& files, const std::string& folder,
                                                    WallNs now);

// What was set aside in `folder`, oldest first.
[[nodiscard]] Result<std::vector<core::SetAsideStore>> find_set_aside(os::Files& files,
                                                                      const std::string& folder);

}  // namespace datum::engine
