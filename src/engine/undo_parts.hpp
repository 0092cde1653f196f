// What of a part of a file, or of what is more than a file, a reverting pass can put back: its
// former fields, or why no document says just what was there. Internal to engine. Pure.
#pragma once

#include <string_view>

#include "datum/resource/former.hpp"
#include "done.hpp"

namespace datum::engine {

// Whether targets of the family are declared by `former_part`.
[[nodiscard]] bool is_part(model::TargetFamily family);
// `old`: the content that was kept of it; empty if none was.
[[nodiscard]] Result<resource::FormerFields> former_part(const Done& done,
                                                         const model::Target& target,
                                                         std::string_view old);

}  // namespace datum::engine
