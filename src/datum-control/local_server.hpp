// What commands ask of the control plane over its local socket, as it comes in; what a push brings
// goes into the blobs. Nothing that a caller names is opened here: content comes as bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "callers.hpp"
#include "datum/blobs/blob_store.hpp"
#include "datum/control/local_request.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/loop/loop.hpp"
#include "datum/wire/local_server.hpp"

namespace datum::control {

// Listens at `path` for `callers` (wire::LocalServer); of those who may only read nothing else is
// taken than a question. `blobs` are borrowed for as long as the loop lives. `handle` is called on
// the loop; a reply after the server is gone does nothing.
[[nodiscard]] Result<std::unique_ptr<wire::LocalServer>> listen_local(
    loop::Loop& loop, const std::string& path, const Callers& callers, blobs::BlobStore& blobs,
    std::function<void(const LocalRequest&, wire::Peer, Reply)> handle);

}  // namespace datum::control
