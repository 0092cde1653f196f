// Signed declarations as a node keeps them beside its journal: the journal says which one is
// stored and accepted, the file what else stands in it and who signed it. One file each, named by
// generation; without it the declaration is what the journal says of it.
#pragma once

#include <string>
#include <vector>

#include "datum/core/link_message.hpp"
#include "datum/engine/identity.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

inline constexpr std::string_view kDeclarationsFolder = "declarations";

// "1.42": how people and files name a generation.
[[nodiscard]] std::string generation_text(const core::DeclarationId& id);

// Whether one of the mesh's signers signed it, for this node; then it is read. `refused`, in words
// for people, and nothing of it is to be believed then. Generations are another matter.
[[nodiscard]] Result<core::DeclarationBody> verify_declaration(const core::Signed& declaration,
                                                               const NodeIdentity& identity);

// Durable on return.
[[nodiscard]] Status keep_declaration(os::Files& files, const std::string& store_folder,
                                      const core::DeclarationId& id,
                                      const core::Signed& declaration);
// The one that the journal names so; `not_found`, or `corrupt` where the file holds another.
[[nodiscard]] Result<core::DeclarationBody> read_declaration(os::Files& files,
                                                             const std::string& store_folder,
                                                             const core::DeclarationId& id);
// All but these go.
[[nodiscard]] Status drop_declarations(os::Files& files, const std::string& store_folder,
                                       const std::vector<core::DeclarationId>& keep);

}  // namespace datum::engine
