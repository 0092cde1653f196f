// `datum render`: a manifest for people and for programs. Content of sensitive files is never
// shown, nor its digest; secrets stay names.
#pragma once

#include <string>

#include "datum/fleet/resolve.hpp"

namespace datum::fleet {

// Documents in canonical order, one per resource, in the spelling of the input format, with a line
// of digest at the top. Ends with a newline. The same manifest gives the same bytes.
[[nodiscard]] std::string render_text(const model::Manifest& manifest);
// {"host", "digest", "resources": [{"reference", "target", "digest", "policy", "protect",
// "desired", "requires", "restartOn", "reloadOn", "origins"}]} on one line, in canonical order, no
// newline.
[[nodiscard]] std::string render_json(const model::Manifest& manifest);
// One value on one line: text as a quoted YAML scalar. `content` shows its size, never its bytes.
[[nodiscard]] std::string value_text(const model::Resource& resource, model::Field field);

}  // namespace datum::fleet
