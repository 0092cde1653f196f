// The desired state that a command was given: a fleet resolved for one host, or a compiled
// manifest.
#pragma once

#include <memory>
#include <string>

#include "arguments.hpp"
#include "datum/base/content.hpp"
#include "datum/core/event.hpp"
#include "datum/fleet/fleet.hpp"
#include "datum/loop/loop.hpp"
#include "datum/model/manifest.hpp"
#include "datum/os/files.hpp"

namespace datum::program {

struct Desired {
  model::ManifestPtr manifest;
  std::shared_ptr<const ContentSource> content;
  core::Provenance provenance;
};

// Findings of a fleet (errors and warnings) go to standard error as they are found; after errors
// the result is `invalid_argument` with a summary.
[[nodiscard]] Result<Desired> load_desired(os::Files& files, const os::Handle& root,
                                           const Arguments& arguments);

// A fleet alone, for the verbs that look at all hosts.
[[nodiscard]] Result<fleet::FleetPtr> load_fleet_or_report(os::Files& files,
                                                           const Arguments& arguments);
// `--profile FILE`; without it no facts.
[[nodiscard]] Result<fleet::Profile> read_profile(const Arguments& arguments);
// Facts of the machine under `root`: what its files say of operating system, init and package
// manager.
[[nodiscard]] fleet::Profile local_profile(os::Files& files, const os::Handle& root);

void print_findings(const fleet::Findings& findings, const char* word);
[[nodiscard]] fleet::Parallel on_threads(std::size_t width);
// The host that is meant: --host, or this machine's name.
[[nodiscard]] std::string host_name(const Arguments& arguments);
[[nodiscard]] std::string absolute_path(const std::string& path);

}  // namespace datum::program
