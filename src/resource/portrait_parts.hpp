// Portraits of what is no path and no entry of a database: a name, a zone, a key, a value, a mount,
// a timer. Internal to resource.
#pragma once

#include <string_view>
#include <vector>

#include "datum/resource/portrait.hpp"
#include "sight.hpp"

namespace datum::resource {

// The target that a person means: by its type and name where the name can say it (Hostname[x],
// Timezone[x], Timer[backup]), else as `datum owned` spells it (mount:/srv, setting:/etc/x.ini
// [main] level, authorizedKey:anna SHA256:…). AuthorizedKey[anna] is each key of that user: the
// name of its target is the user's alone.
[[nodiscard]] std::optional<model::Target> find_part(std::string_view asked);
// One portrait, or for a user one for each key. What would not plan clean is in its notes.
[[nodiscard]] Result<std::vector<Portrait>> portray_part(Sight& sight, const model::Target& part);

}  // namespace datum::resource
