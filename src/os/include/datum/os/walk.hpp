// From a path of a document to (descriptor of its parent folder, last name), under the rules of
// design §10: the last component is never followed; an ancestor that is a link is followed only if the
// link and the folder it lies in belong to root and nobody else can write them; links stay inside the
// root. Only uses `Files`, so it is the same on a real machine and on a modelled one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datum/os/files.hpp"

namespace datum::os {

// An opened folder and what is known of the way to it.
struct Folder {
  Handle handle;
  std::string real_path;  // inside the root, with links resolved: "/usr/lib"
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  // A component that somebody other than root could have changed: "path: owner uid 1000". Empty when none.
  std::string untrusted;
};

// The folder of the last component of `path` (absolute, normalised) and that component. Errors:
// `not_found` (a parent is missing), `not_directory`, `symlink` (a link that may not be followed; the
// message names the component, its owner and its folder's owner), `refused` (a link that leaves the
// root), `limit_exceeded` (more than 40 links).
// `trusted_uid` is the uid that counts as root (0; tests that run without root pass their own).
struct Location {
  std::shared_ptr<const Folder> folder;
  std::string name;
};
class Walker {
 public:
  // `root` is borrowed; results share folders they have in common. One Walker, one thread.
  Walker(Files& files, const Handle& root, std::uint32_t trusted_uid = 0);
  [[nodiscard]] Result<Location> locate(std::string_view path);
  // Forgets all folders (what was seen may have changed).
  void forget();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace datum::os
