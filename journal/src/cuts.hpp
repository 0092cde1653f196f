// Where records left the journal: the last sequence that was removed, and that record's hash. Kept
// beside the records, so that a file of the archive is known for this journal's also where what
// follows it is missing.
#pragma once

#include <optional>
#include <string_view>

#include "datum/base/bytes.hpp"
#include "datum/base/ids.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

inline constexpr std::string_view kCutsName = "journal.cuts";

// `cuts` with one more, and without the oldest where there are more than anybody looks for.
[[nodiscard]] Bytes add_cut(ByteView cuts, Seq last, const Digest& hash);
// The hash at which records up to `last` were removed; nullopt: none were, as far as is known.
[[nodiscard]] std::optional<Digest> find_cut(ByteView cuts, Seq last);

}  // namespace datum::journal
