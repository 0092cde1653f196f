// Globs over references, as `agent.yaml` lists them: `*` any run of characters, `?` one, everything
// else itself. No brackets, so `File[/etc/*]` means what it looks like.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/model/manifest.hpp"

namespace datum::engine {

[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view text);
// The references of the manifest that one of the globs matches, sorted.
[[nodiscard]] std::vector<model::Reference> match_references(const model::Manifest& manifest,
                                                             const std::vector<std::string>& globs);

}  // namespace datum::engine
