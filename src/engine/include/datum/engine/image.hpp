// A machine that others are to be copied from: what makes it this one machine goes, what it was
// installed and configured with stays (docs/decisions/0054). Knows the folders that Datum writes
// to, and nothing of who asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/base/time.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

struct ImageRequest {
  std::string store;    // the store's folder
  std::string root;     // what /run and /var/lib/datum/release are below
  std::string config;   // the configuration's folder, where the store's witness lies; empty: none
  std::string metrics;  // the file for node_exporter; empty: none
  WallNs now;
  bool discard_journal = false;  // what is set aside now and was before is deleted
};

enum class Stripped : std::uint8_t { removed, set_aside, discarded };
[[nodiscard]] std::string_view to_string(Stripped what);  // "removed", "setAside", "discarded"
struct StrippedPart {
  std::string path;
  Stripped what = Stripped::removed;
  std::string moved_to;  // of set_aside
  bool operator==(const StrippedPart&) const = default;
};

// In this order: the store's witness goes; identity (key, certificate, declarations) and what else
// is only this machine's is removed; journal, archive, blobs, key and former damaged stores move
// into `image-TIME` in the store's folder, which then is a store that can be read, or are deleted;
// marks and sockets in /run and of the rollback script go. The kept release stays. Durable on
// return, and nothing where there was nothing. Cut off anywhere, a second call comes to the same
// end; between the two the store is refused as one that has lost its journal. `refused`: a rollback
// is being done. The caller sees to it that nobody has the store.
[[nodiscard]] Result<std::vector<StrippedPart>> prepare_image(os::Files& files,
                                                              const ImageRequest& request);

}  // namespace datum::engine
