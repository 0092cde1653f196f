// Why an action will not be done, known before it is begun, in words that say what to do about it.
// Internal to core.
#pragma once

#include <string>

#include "planning.hpp"

namespace datum::core {

// Of a file of which only metadata is declared.
inline constexpr std::string_view kNoContent =
    "no content: the file is missing and only its metadata is declared; declare content, put the "
    "file there, or require the Package that brings it";

// What the resource is, where it is as declared.
[[nodiscard]] Found own_form(model::ResourceType type);
// Empty if nothing that looking can tell is in the way. Folders that are not empty are judged
// later, when it is known what else the plan removes.
[[nodiscard]] std::string find_refusal(const Planning& planning, const Subject& subject,
                                       const Action& action);
// In a reverting pass, why what the pass made stays: changed since, protected, not seen.
[[nodiscard]] std::string undo_refusal(const Planning& planning, const Subject& subject,
                                       const Action& action);
// Its tool, or the one package manager, still runs for an earlier action.
[[nodiscard]] std::string running_refusal(const Planning& planning, const model::Target& target);
[[nodiscard]] std::string quarantine_refusal(const Planning& planning, const model::Target& target);

}  // namespace datum::core
