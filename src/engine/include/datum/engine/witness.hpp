// The witness of a store: a file outside of it that says which store there was, how far it had
// come and what it owned (docs/formats/witness.md). Only the service writes it, for its own store.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "datum/core/witness.hpp"
#include "datum/history/history.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

// In the configuration's folder, and the file in it.
inline constexpr std::string_view kWitnessFolder = "witness";
inline constexpr std::string_view kWitnessName = "store";

// Nothing: there is none. `corrupt` or `unsupported_version`: there is one that says nothing;
// `refused`: others than the trusted user could have written it.
[[nodiscard]] Result<std::optional<core::Witness>> read_witness(os::Files& files,
                                                                const std::string& config_folder,
                                                                std::uint32_t trusted_uid);
// Whether a store that is not there, nor a witness of it, was here all the same: something lies
// below `root` that only a machine with a store has. An empty witness folder says that it was given
// up on purpose.
[[nodiscard]] bool is_loss_suspected(os::Files& files, const std::string& config_folder,
                                     const std::string& root);
// Durable on return, and before that the former one. The folder is made, 0700; the configuration's
// is not (`not_found`).
[[nodiscard]] Status write_witness(os::Files& files, const std::string& config_folder,
                                   const core::Witness& witness);

// The store behind `reader` as one that its witness is to be compared with.
[[nodiscard]] Result<core::FoundStore> find_store(journal::Reader& reader,
                                                  const core::Witness& witness);

}  // namespace datum::engine
