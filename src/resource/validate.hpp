// A File's `validate`: what must accept the staged bytes before they go live. Two are built in, the
// others are programs with a compiled-in argument vector.
#pragma once

#include "work.hpp"

namespace datum::resource {

// `work.temp` holds the staged file, `work.handle` is open on it. Success: the validator accepted
// it. Otherwise an error, and `work.output` has what the program wrote (not of a sensitive file).
// Nothing of the target was changed either way.
[[nodiscard]] Status validate_staged(Bench& bench, Work& work, bool sensitive);
// By the validator of that name, whatever is declared.
[[nodiscard]] Status validate_staged_as(Bench& bench, Work& work, std::string_view name,
                                        bool sensitive);

}  // namespace datum::resource
