// The desired state of one host: a fleet resolved for it, or a compiled manifest. Reads; prints
// nothing: findings go to whoever asked.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "datum/base/content.hpp"
#include "datum/core/event.hpp"
#include "datum/fleet/fleet.hpp"
#include "datum/model/manifest.hpp"
#include "datum/os/files.hpp"

namespace datum::program {

// Where desired state comes from: a fleet's folder, or else a compiled manifest's file.
struct DesiredSource {
  std::string fleet, manifest;
  std::string host;     // in the fleet; empty: this machine's name
  std::string profile;  // a file of facts; empty: those that the machine's files tell
  bool final = false;   // an empty manifest is meant
};

struct Desired {
  model::ManifestPtr manifest;
  std::shared_ptr<const ContentSource> content;
  core::Provenance provenance;
};

// Findings of a fleet, with the word for them: "warning" or "error".
using TellFindings = std::function<void(const fleet::Findings& findings, const char* word)>;

// Findings are told as they are found; after errors the result is `invalid_argument` with a
// summary. Blocks on the disk, and uses threads of its own for a fleet; any thread.
[[nodiscard]] Result<Desired> load_desired(os::Files& files, const os::Handle& root,
                                           const DesiredSource& source, const TellFindings& tell);
// What a compiled manifest in `bytes` declares; `owner` keeps them. `source` is told as where it
// came from.
[[nodiscard]] Result<Desired> open_desired(ByteView bytes, std::shared_ptr<const void> owner,
                                           std::string source);

// A fleet alone.
[[nodiscard]] Result<fleet::FleetPtr> load_fleet(os::Files& files, const std::string& folder,
                                                 const TellFindings& tell);
// Of a file; no name: no facts.
[[nodiscard]] Result<fleet::Profile> read_profile(const std::string& path,
                                                  const TellFindings& tell);
// Facts of the machine under `root`: what its files say of operating system, init and package
// manager.
[[nodiscard]] fleet::Profile local_profile(os::Files& files, const os::Handle& root);

[[nodiscard]] fleet::Parallel on_threads(std::size_t width);
// `given`, or this machine's name.
[[nodiscard]] std::string host_name(const std::string& given);

}  // namespace datum::program
