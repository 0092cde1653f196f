// One value of agent.yaml changed, and every other byte left as a person wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/config/configuration.hpp"

namespace datum::config {

// `bytes` with `reconciliation.mode` set: its value replaced where it stands, or the key added.
// What comes out says the same as before of every other key; where that cannot be done so
// (`unsupported`) a person has to. `invalid_argument`: the bytes have faults. Pure.
[[nodiscard]] Result<std::string> edit_mode(std::string_view bytes, Mode mode);

// Reads `directory`/agent.yaml, edits it so, and replaces it; durable on return. A missing file is
// made, 0644. Errors: those of edit_mode and of read_configuration; nothing was changed then.
[[nodiscard]] Status set_mode(os::Files& files, const os::Handle& directory,
                              std::string_view directory_path,
                              std::optional<std::uint32_t> trusted_uid, Mode mode);

}  // namespace datum::config
