// Looks at declared resources and at targets that left the declaration. Only reads: the set of files it
// opens is the same in both modes. An Observer holds a cache of folder descriptors, belongs to one
// thread at a time and is made anew for every job; everything it takes is shared and constant.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/core/observation.hpp"
#include "datum/core/state.hpp"
#include "datum/loop/loop.hpp"
#include "datum/model/manifest.hpp"
#include "datum/os/accounts.hpp"
#include "datum/os/files.hpp"

namespace datum::resource {

// What every job of a pass needs and none changes. Shared by pointer; thread-safe because constant.
struct Machine {
  os::Files* files = nullptr;
  const os::Handle* root = nullptr;   // directory that stands for "/"
  std::string root_path;              // "/" or --root
  os::Accounts* accounts = nullptr;
  const ContentSource* content = nullptr;  // declared content by digest
  std::uint32_t trusted_uid = 0;
  Bytes sensitive_key;                // per store; digests of sensitive content are HMACs under it
  std::vector<os::FileStat> own_files;  // (device, inode) of Datum's own folders and binaries
  loop::StopFlag stop;
};

// What the pass declares, for questions that concern several resources.
struct Declared {
  model::ManifestPtr manifest;
  // Every declared path and every ancestor of one, sorted: entries that a purge must not touch.
  std::vector<std::string> paths;
};
[[nodiscard]] Declared make_declared(model::ManifestPtr manifest);

class Observer {
 public:
  Observer(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared);
  ~Observer();

  // Never fails: what cannot be looked at is `unknown` with its reason; a type without a provider here
  // is `skipped` with its reason.
  [[nodiscard]] core::Observation observe(const model::Resource& resource);
  // A target that Datum owns and that left the declaration.
  [[nodiscard]] core::LeavingObservation observe_leaving(const model::Target& target,
                                                         const core::Owned& owned);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Digest over all observations of a pass, in the order of their references.
[[nodiscard]] Digest digest_observations(std::span<const core::Observation> observations);

}  // namespace datum::resource
