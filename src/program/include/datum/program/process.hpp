// What `main` of every program does before anything else: streams, environment, what a crash
// leaves.
#pragma once

#include <string>

namespace datum::program {

// A standard stream that the caller closed would else be the next file that is opened, and what is
// printed would go into it. false: it could not be helped.
[[nodiscard]] bool hold_standard_streams();
// Variables by which an environment could change what this program or its children load or run.
void drop_dangerous_variables();
// Content that others may not read is held in memory: no image of it is left behind, for this
// program's children neither, and nobody but root attaches to it.
void forbid_core_dumps();
// As many open files as are allowed, and a thousand at most: that is what a pass reckons with. What
// is wrong, in words, where fewer are allowed than a loop, a store and a pass need; else empty.
[[nodiscard]] std::string take_descriptors();
// A file that may not grow any more (RLIMIT_FSIZE) is an error of its write, and no death.
void survive_full_files();
// For what talks over a network: whoever hangs up while it is written to is an error of that write,
// and no death. Children of a loop begin without it.
void survive_lost_peers();

// Whether standard error is the stream to the system's journal that a service manager gave: it may
// have been led elsewhere since. `given`: the value of JOURNAL_STREAM; null where there is none.
[[nodiscard]] bool leads_to_journal(const char* given);

}  // namespace datum::program
