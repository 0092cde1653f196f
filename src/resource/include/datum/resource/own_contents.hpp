// Every object inside Datum's own folders, for names that could be another way to one of them: a
// hard link, or a name on another mount of the same file system. Looked up only for those, and then
// once for all threads. Owns a set of (device, inode); knows no path of a document.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "datum/os/files.hpp"

namespace datum::resource {

class OwnContents {
 public:
  // `folders`: absolute paths of this machine, not below --root. `files` is borrowed.
  OwnContents(os::Files& files, std::vector<std::string> folders);

  // Whether (device, inode) is one of the folders or anything below them, as they were at the first
  // call. Where a folder cannot be read to its end, everything is: nothing is touched on a guess.
  // Any thread.
  [[nodiscard]] bool contains(std::uint64_t device, std::uint64_t inode) const;

 private:
  struct Key {
    std::uint64_t device;
    std::uint64_t inode;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::uint64_t>{}(key.inode * 31 + key.device);
    }
  };
  void look() const;
  [[nodiscard]] Status add_below(const os::Handle& folder, int depth) const;

  os::Files& files_;
  std::vector<std::string> folders_;
  mutable std::once_flag once_;
  mutable std::unordered_set<Key, KeyHash> keys_;
  mutable bool incomplete_ = false;
};

}  // namespace datum::resource
