// What `main` of every program does before anything else: streams, environment, what a crash
// leaves.
#pragma once

namespace datum::program {

// A standard stream that the caller closed would else be the next file that is opened, and what is
// printed would go into it. false: it could not be helped.
[[nodiscard]] bool hold_standard_streams();
// Variables by which an environment could change what this program or its children load or run.
void drop_dangerous_variables();
// Content that others may not read is held in memory: no image of it is left behind, for this
// program's children neither, and nobody but root attaches to it.
void forbid_core_dumps();

}  // namespace datum::program
