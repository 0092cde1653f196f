// The two steps of a wave before its announcement. Nothing of a target is changed here. Internal.
#pragma once

#include <map>
#include <set>

#include "work.hpp"

namespace datum::resource {

// Room for what will be staged, beyond a reserve. Actions on a file system without it are in
// `failures`; where there are no others, that is the error.
[[nodiscard]] Status prove_space(Sight& sight, const core::Plan& plan,
                                 std::span<const std::uint32_t> ordinals,
                                 std::map<std::uint32_t, Error>& failures);

// What failed is in `failures`, by ordinal. `measure` may be empty.
[[nodiscard]] Result<std::vector<Prepared>> keep_old(Sight& sight, const core::Plan& plan,
                                                     std::span<const std::uint32_t> ordinals,
                                                     blobs::BlobStore& store,
                                                     const MeasureKept& measure,
                                                     std::map<std::uint32_t, Error>& failures);

}  // namespace datum::resource
