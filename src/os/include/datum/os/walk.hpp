// From a path of a document to (descriptor of its parent folder, last name), under the rules of
// design §10: the last component is never followed; an ancestor that is a link is followed only if
// the link, the folder it lies in and every folder above belong to root and nobody else can write
// them (merged /usr needs that); links stay inside the root, and an absolute target begins at the
// root again. Only uses `Files`, so it is the same on a real machine and on a modelled one.
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
  std::uint64_t mount = 0;  // as in FileStat
  // The first folder on the way, this one included, in which somebody other than root may change
  // names:
  // "/home/anna: owner uid 1000", "/tmp: writable by others (mode 1777)". Empty when none.
  std::string untrusted;
};

// The folder of the last component of `path` (absolute, normalised) and that component. Errors:
// `invalid_argument` (not of that form, or "/" itself, which has no name), `not_found` (a parent is
// missing), `not_directory`, `symlink` (a link that may not be followed; the message names the
// component, its owner and its folder's owner), `refused` (a link that leaves the root),
// `limit_exceeded` (more than 40 links, as in the kernel; more than 4096 bytes). The message begins
// with the component where the walk ended.
struct Location {
  std::shared_ptr<const Folder> folder;
  std::string name;
};

// How many folders a Walker keeps open: a process has 1024 descriptors by default, and the pool's
// jobs want theirs. Who knows of fewer says so.
inline constexpr std::size_t kMaxOpenFolders = 256;

// Keeps up to `max_open` folders open, the least recently used close first; what a Location holds
// stays open beside them. A
// second path below a known folder costs no system call.
class Walker {
 public:
  // `files` and `root` are borrowed and must outlive the results, which share the folders they have
  // in common. One Walker, one thread; a Location's folder may go to another. `trusted_uid` is the
  // uid that counts as root (tests that run without root pass their own).
  Walker(Files& files, const Handle& root, std::uint32_t trusted_uid = 0,
         std::size_t max_open = kMaxOpenFolders);
  [[nodiscard]] Result<Location> locate(std::string_view path);
  // Forgets all folders (what was seen may have changed).
  void forget();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace datum::os
