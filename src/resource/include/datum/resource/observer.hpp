// Looks at declared resources and at targets that left the declaration. Only reads: the set of
// files it opens is the same in both modes. An Observer holds a cache of folder descriptors and a
// read buffer, belongs to one thread at a time and is made anew for every job; everything it takes
// is shared and constant.
#pragma once

#include <cstdint>
#include <map>
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
#include "datum/os/lenses.hpp"
#include "datum/os/packages.hpp"
#include "datum/os/units.hpp"
#include "datum/os/walk.hpp"
#include "datum/resource/former.hpp"
#include "datum/resource/own_contents.hpp"
#include "datum/resource/secrets.hpp"

namespace datum::resource {

// What every job of a pass needs and none changes. Shared by pointer; thread-safe because constant.
struct Machine {
  os::Files* files = nullptr;
  const os::Handle* root = nullptr;  // directory that stands for "/"
  std::string root_path;             // "/" or --root
  os::Accounts* accounts = nullptr;
  os::Units* units = nullptr;              // of "/"; null where no service manager is to be asked
  os::PackageTools* packages = nullptr;    // of "/"; null where no package manager is to be asked
  os::Lenses* lenses = nullptr;            // null where no lens can be asked for
  const ContentSource* content = nullptr;  // declared content by digest
  const Secrets* secrets = nullptr;        // null where no secret can be resolved
  std::uint32_t trusted_uid = 0;
  // Per store. Digests of sensitive content are HMACs under it; with an empty key they are left
  // out.
  Bytes sensitive_key;
  // Datum's own folders and binaries (device and inode count): they and all below them are refused.
  std::vector<os::FileStat> own_files;
  // What lies in those folders, for names that reach it on another way; may be null.
  std::shared_ptr<const OwnContents> own_contents;
  // How many folders one job may hold open; a wave holds as many, and at most as many staged files.
  std::size_t max_open_folders = os::kMaxOpenFolders;
  // `trust.strictPaths`: what lies in a folder that somebody else than root can change is neither
  // looked at nor touched.
  bool strict_paths = false;
  loop::StopFlag stop;
};

// Every declared path, every path that a provider writes, and every ancestor of one.
struct PathTable {
  struct Entry {
    SharedText path;
    bool is_target = false;  // of a resource or a provider itself, not only an ancestor of one
    [[nodiscard]] std::string_view last_component() const {
      return path.view().substr(path.view().rfind('/') + 1);
    }
  };
  std::vector<Entry> entries;  // sorted by path, unique
  // Places in `entries`, sorted by last component: finds the paths that may name the same thing
  // through another folder.
  std::vector<std::uint32_t> by_name;

  [[nodiscard]] bool contains(std::string_view path) const;
};
[[nodiscard]] PathTable make_path_table(const model::Manifest& manifest);

// What the pass declares, for questions that concern several resources. Shared by all threads.
class Declared {
 public:
  Declared() = default;
  Declared(model::ManifestPtr the_manifest, const std::map<model::Target, core::Owned>& owned);

  // Entries that a purge must not touch. Made when somebody first asks: most passes never do.
  [[nodiscard]] const PathTable& paths() const;
  // What Datum left there, of what it owned when the pass began; null for a target that is not
  // owned, and so met for the first time: `onConflict` concerns it.
  // `hint` is where the caller's last question ended; questions in the order of targets cost one
  // comparison each. It starts at 0.
  [[nodiscard]] const core::Left* find_owned(const model::Target& target, std::size_t& hint) const;
  [[nodiscard]] const core::Left* find_owned(const model::Target& target) const {
    std::size_t hint = 0;
    return find_owned(target, hint);
  }

  // What a reverting pass puts back beside what is declared; null for a target of any other pass.
  [[nodiscard]] const Former* find_former(const model::Target& target) const;

  model::ManifestPtr manifest;
  std::shared_ptr<const FormerStates> former;  // may be null

 private:
  struct Lazy;
  std::vector<std::pair<model::Target, core::Left>> owned_;  // sorted
  std::shared_ptr<Lazy> lazy_;
};
[[nodiscard]] Declared make_declared(model::ManifestPtr manifest,
                                     const std::map<model::Target, core::Owned>& owned = {});

class Observer {
 public:
  Observer(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared);
  ~Observer();

  // Asks about those of them that can be asked about together; what comes later about one of them
  // is answered from that. Without it each is asked about by itself.
  void gather(std::span<const model::Resource* const> resources);
  // Never fails: what cannot be looked at is `unknown` with its reason; a type without a provider
  // here is `skipped` with its reason.
  [[nodiscard]] core::Observation observe(const model::Resource& resource);
  // The same for what this process has just made as declared.
  [[nodiscard]] core::Observation observe_made(const model::Resource& resource);
  // A target that Datum owns and that left the declaration.
  [[nodiscard]] core::LeavingObservation observe_leaving(const model::Target& target,
                                                         const core::Owned& owned);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One place (folder, name) that several resources reach, as through a link above it, cannot be as
// all of them declare: each becomes `unknown` and names another one. Their digests follow.
void refuse_shared_places(std::vector<core::Observation>& observations);

// Digest over all observations of a pass, in the order of their references.
[[nodiscard]] Digest digest_observations(std::span<const core::Observation> observations);

}  // namespace datum::resource
