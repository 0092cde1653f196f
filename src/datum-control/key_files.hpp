// The mesh's keys as files of the store: made once, each durable with its name before it counts,
// never replaced, readable for their owner alone. What they are for is known to `control`.
#pragma once

#include <optional>
#include <string>

#include "datum/control/decide.hpp"
#include "datum/control/link_server.hpp"

namespace datum::control {

// The names in the store's folder.
inline constexpr const char* kAuthorityKeyFile = "authority.key";
inline constexpr const char* kAuthorityFile = "authority.der";
inline constexpr const char* kSignerFile = "signer.key";
// What is being made of a backup, until it is whole.
inline constexpr const char* kRestoringFolder = "restoring";

// Makes `folder` (0700) where it is missing, with its name durable. `refused` where it is
// another's, or others may enter it.
[[nodiscard]] Status make_private_folder(const std::string& folder);

// `refused` where the store is another user's, with what to do; nothing where there is none. Root
// is another user, too: the journal is opened by its owner alone.
[[nodiscard]] Status check_own_store(const std::string& folder);

// `conflict` where a restore has not come to its end: neither a store is begun there nor another
// restore.
[[nodiscard]] Status check_not_restoring(const std::string& folder);

// For a store whose journal is empty: keys that are there already (a first start that was cut off)
// are taken as they are, the others are made for `mesh`.
[[nodiscard]] Result<Keyring> make_keys(const std::string& folder, const std::string& mesh,
                                        WallNs now);
// `not_found` for one that is missing, `refused` where others may read one, `conflict` for one that
// is not what the journal says.
[[nodiscard]] Result<Keyring> read_keys(const std::string& folder, const State& state);

[[nodiscard]] core::control::KeyMade describe_authority(const Keyring& keys);
[[nodiscard]] core::control::KeyMade describe_signer(const Keyring& keys);

}  // namespace datum::control
