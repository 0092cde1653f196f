// The document lines that a pass recorded, for reports. codec converts; readers of history reach it
// through here.
#pragma once

#include <map>
#include <string>

#include "datum/base/content.hpp"

namespace datum::history {

// Reference → "file:line", several where layers add to each other. `not_found` where the blob is
// not here.
[[nodiscard]] Result<std::map<std::string, std::string>> read_documents(
    const ContentSource& content, const Digest& digest);

}  // namespace datum::history
