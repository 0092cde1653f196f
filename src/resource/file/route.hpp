// By which way a File's change goes: one decision, made from what is declared and what is there.
#pragma once

#include "../work.hpp"

namespace datum::resource {

enum class Route : std::uint8_t {
  rename,    // a staged file takes the name
  in_place,  // bytes are written into the file that is there: not atomic
  metadata,  // owner and mode of the file that is there
};

// Errors: `busy` for a rename onto a mount point, `refused` for a file with other names under
// `hardLinks: fail`.
[[nodiscard]] Result<Route> choose_route(const Work& work);
// Whether the staged file gets the declared content; otherwise that of the old file (a metadata
// change that breaks a hard link).
[[nodiscard]] bool writes_content(const Work& work);
// A regular file was there and stays one: its undeclared fields stay as they are.
[[nodiscard]] bool inherits(const Work& work);

// Beside the target, a copy of what is there under a temp name; named in `commit_backup`.
[[nodiscard]] Status stage_backup(Bench& bench, Work& work);
// Gives it the first free name of NAME.datum-orig, NAME.datum-orig.1, …: nothing is overwritten.
[[nodiscard]] Status name_backup(Bench& bench, Work& work);

}  // namespace datum::resource
