// What the command line says of desired state, mode and actor, as the shared parts of programs take
// it. Findings of a fleet go to standard error.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "datum/program/desired.hpp"
#include "datum/program/session.hpp"

namespace datum::program {

// Findings (errors and warnings) are printed as they are found; after errors the result is
// `invalid_argument` with a summary.
[[nodiscard]] Result<Desired> load_desired(os::Files& files, const os::Handle& root,
                                           const Arguments& arguments);

// A fleet alone, for the verbs that look at all hosts.
[[nodiscard]] Result<fleet::FleetPtr> load_fleet_or_report(os::Files& files,
                                                           const Arguments& arguments);
// `--profile FILE`; without it no facts.
[[nodiscard]] Result<fleet::Profile> read_profile(const Arguments& arguments);
void print_findings(const fleet::Findings& findings, const char* word);
// The host that is meant: --host, or this machine's name.
[[nodiscard]] std::string host_name(const Arguments& arguments);
// `source` of agent.yaml, which is below the root as all paths of that file are.
[[nodiscard]] std::string local_fleet(const Arguments& arguments, const std::string& source);
// What agent.yaml gives where the command line is silent: the host's name, and a local fleet.
void fill_in(Arguments& arguments, const config::Configuration& configuration);
// `--mode`; nothing where it was not given.
[[nodiscard]] std::optional<core::Mode> mode_argument(const Arguments& arguments);
// Who runs this program.
[[nodiscard]] core::Actor current_actor(const Arguments& arguments);

}  // namespace datum::program
