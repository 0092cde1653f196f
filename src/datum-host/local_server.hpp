// What commands ask of the service over its local socket, as it comes in. Nothing that a caller
// names is opened here: a manifest comes as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datum/host/local_request.hpp"
#include "datum/loop/loop.hpp"
#include "datum/program/desired.hpp"
#include "datum/program/saved_plan.hpp"
#include "datum/wire/local_server.hpp"

namespace datum::host {

struct Asked {
  LocalRequest request;
  wire::Peer peer;
  std::optional<program::Desired> desired;         // of the manifest that came with it
  std::shared_ptr<const program::SavedPlan> plan;  // that came with it
  bool is_declared = false;                        // none came: the accepted declaration is meant
};
struct Answer {
  std::string output, errors;
  int exit_code = 0;
};
using Reply = std::function<void(Answer)>;

// Listens at `path` for the trusted user `uid` (wire::LocalServer). Manifests are kept in unnamed
// files of `spool`. `handle` is called on the loop; a reply after the server is gone does nothing.
[[nodiscard]] Result<std::unique_ptr<wire::LocalServer>> listen_local(
    loop::Loop& loop, const std::string& path, const std::string& spool, std::uint32_t uid,
    std::function<void(Asked, Reply)> handle);

}  // namespace datum::host
