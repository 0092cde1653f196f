// The journals of nodes as far as they came: one growing copy for each node and store, in
// `nodes/NODE/` of the control plane's store. Records are durable before they are acknowledged. All
// work on the disk is done on a thread of its own; results come on the loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "datum/core/link_message.hpp"
#include "datum/journal/copy.hpp"
#include "datum/loop/loop.hpp"

namespace datum::control {

class NodeJournals {
 public:
  // `folder` must exist; it is the caller's alone.
  NodeJournals(loop::Loop& loop, std::string folder);
  ~NodeJournals();

  // How far this node's journal in this store is kept; makes the copy where there is none. A tail
  // that a crash tore is cut off.
  void open(const std::string& node, const Id128& store,
            std::function<void(Result<journal::Head>)> done);
  // After success everything through the head is durable. A part that repeats what is kept, or
  // leaves a gap, changes nothing and is no error: the head says where to go on. `conflict`: its
  // records do not continue those that are kept; `corrupt`: they are none. Only after `open`.
  void append(const std::string& node, core::JournalPart part,
              std::function<void(Result<journal::Head>)> done);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Where a node's copies lie; `store` empty: the folder of all of them.
  [[nodiscard]] static std::string path_of(const std::string& folder, const std::string& node,
                                           const Id128& store);

 private:
  using Copies = std::map<std::string, std::unique_ptr<journal::Copy>>;

  loop::Loop& loop_;
  std::string folder_;
  std::shared_ptr<Copies> copies_;  // of the thread
  std::unique_ptr<loop::Worker> thread_;
};

}  // namespace datum::control
