// The store of a host, opened for writing: journal (through history), blobs, the key for digests of
// sensitive content. One process holds it at a time. Knows where things lie in the folder; what
// they mean is core's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datum/blobs/blob_store.hpp"
#include "datum/core/witness.hpp"
#include "datum/history/history.hpp"
#include "datum/loop/loop.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

struct Store {
  std::string folder;
  std::unique_ptr<history::History> history;
  std::unique_ptr<blobs::BlobStore> blobs;
  Bytes sensitive_key;  // 32 bytes, made at creation, never exported
  // The store existed and its key did not: this one is new, and sensitive content that was recorded
  // under the old one will look changed once.
  bool key_was_lost = false;
};

// A file of this name in a store's folder says that the store was made from an export. It is for
// reading: opening it for a pass is `refused`.
inline constexpr std::string_view kImportedName = "imported";

struct StoreBinding {
  std::string root;  // the tree it acts on, "/" or --root
  std::string host;
  std::string source;             // "local", or a mesh
  std::string version;            // of this program
  std::uint32_t trusted_uid = 0;  // who counts as root: the user this runs as
  // Where identity and key of a new store come from; empty: the system. A simulation repeats itself
  // only with its own.
  std::function<void(MutableByteView)> fill_random = {};
  // Of the journal, for the self-test and for tests; empty in every program's own work.
  journal::CrashPoint crash_point = {};
  // Nobody gave `host`, it is this machine's own name. A machine that has asked to be a node keeps
  // the name that its store is bound to, whatever it is called itself.
  bool is_own_name = false;
  // What the store's witness says; null: none is kept, or there is none yet. A store that is not
  // the one it knows says so, with what that one owned.
  std::shared_ptr<const core::Witness> witness = {};
  // There was a store, and nothing is known of it: its witness is damaged, or gone as well. A new
  // one says so.
  bool is_loss_suspected = false;
  // Which node it is to become. A new store is bound to that, unless `host` was given.
  std::string wanted_node = {};
};

// Opens or creates the store in `folder` and queues its `storeCreated`/`storeOpened` (not yet
// durable when this returns: wait for it before acting). `busy` names the process that has it.
// `refused` when it is bound to another root or host, or when somebody else than the trusted user
// or root owns the folder or can change it or the way to it. `corrupt`: the journal is damaged, or
// the folder has lost it (find_lost_journal). A store whose making was cut off is made.
[[nodiscard]] Result<Store> open_store(loop::Loop& loop, os::Files& files,
                                       const std::string& folder, const StoreBinding& binding);

// A store that is there, bound to whatever it is bound to: for work on the store itself. `conflict`
// while a dead pass in it has not been recovered. `not_found`: there is none, and none is made.
[[nodiscard]] Result<Store> open_bound_store(loop::Loop& loop, os::Files& files,
                                             const std::string& folder, const std::string& version,
                                             std::uint32_t trusted_uid);

// The same over a history that is already open: for a store whose journal lies elsewhere than in
// `folder` (the simulation). The folder must exist.
[[nodiscard]] Result<Store> open_store_over(loop::Loop& loop, os::Files& files,
                                            const std::string& folder,
                                            std::unique_ptr<history::History> history,
                                            const StoreBinding& binding);
// What of a store's folder is missing beside a sound journal: its key, its blobs, the plan that was
// recorded last. In words for a person; empty if nothing is.
[[nodiscard]] std::vector<std::string> find_store_faults(os::Files& files,
                                                         const std::string& folder,
                                                         const core::State& state);
// The store's key, for a pass that records nothing; random (and then of use for this pass only)
// where there is no store.
[[nodiscard]] Result<Bytes> read_key_or_random(os::Files& files, const std::string& folder);

}  // namespace datum::engine
