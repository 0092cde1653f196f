// What a machine reports of itself when it becomes a node: its profile, by which it is judged and
// for which its documents are resolved, and its inventory, for people. Read from the kernel and
// from files; what cannot be read is left out.
#pragma once

#include <vector>

#include "datum/core/link_message.hpp"
#include "datum/loop/loop.hpp"
#include "datum/program/session.hpp"

namespace datum::program {

// `hostname`, and the facts of a fleet's profile by their names there (`datum/os`, `datum/arch`, …)
// with `datum/kernel`, `datum/virtualisation`, `datum/schema` and `datum/types` (those that this
// version manages, one list). Blocks on the disk; any thread.
[[nodiscard]] std::vector<core::Fact> machine_profile(os::Files& files, const os::Handle& root);
// Processors, memory, machine, disks, file systems, addresses, release, number of packages, units
// that failed. Blocks on the disk and on one child for at most some seconds: only from a job of the
// loop's pool.
[[nodiscard]] std::vector<core::Fact> machine_inventory(loop::Loop& loop, os::Files& files,
                                                        const os::Handle& root,
                                                        const std::string& root_path);

}  // namespace datum::program
