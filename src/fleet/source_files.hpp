// Files of the fleet folder, opened by relative path and never outside of it: links are followed
// only while they stay inside the root. Knows digests of what it has hashed; knows nothing of
// documents.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/os/files.hpp"

namespace datum::fleet {

// A template or document is held in memory whole: as long as one document may be.
inline constexpr std::uint64_t kMaxTextFile = 16U << 20;

// Sources up to this size are kept when they are hashed, so that they need not be read again.
inline constexpr std::uint64_t kKeptSource = 256;

// `written` relative to `folder`, without `.` and `..`: "a/b", "../c" → "a/c". Errors:
// `invalid_argument` (absolute or empty), `refused` (it leaves the root).
[[nodiscard]] Result<std::string> join_path(std::string_view folder, std::string_view written);

class SourceFiles {
 public:
  // `files` is borrowed. The root is opened once and kept open.
  [[nodiscard]] static Result<std::unique_ptr<SourceFiles>> open(os::Files& files,
                                                                 const std::string& root);

  struct Hashed {
    Digest digest;
    std::uint64_t size = 0;
    std::string small;  // all of it, if it is at most kKeptSource
  };
  // All take a path relative to the root, as join_path yields it, and any thread. Errors: those of
  // os::Files, `refused` for a link that leaves the root, `limit_exceeded` for more than 40 links.
  [[nodiscard]] Status check(const std::string& path);         // exists and is a regular file
  [[nodiscard]] Result<Hashed> hash(const std::string& path);  // streamed, once per path
  [[nodiscard]] Result<std::string> read_text(const std::string& path, std::uint64_t limit);
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> stream(const std::string& path);
  // The path that was hashed to this digest.
  [[nodiscard]] Result<std::string> find(const Digest& digest);
  // Whether the last name is a link to a folder, wherever that lies.
  [[nodiscard]] bool leads_to_folder(const std::string& path);
  // Entries of a folder reached without following any link; their types are known.
  [[nodiscard]] Result<std::vector<os::DirectoryEntry>> list(const std::string& folder);

 private:
  SourceFiles(os::Files& files, os::Handle root) : files_(files), root_(std::move(root)) {}
  [[nodiscard]] Result<os::Handle> open_inside(const std::string& path);
  [[nodiscard]] Result<os::Handle> open_folder(const std::string& path);

  os::Files& files_;
  os::Handle root_;
  std::mutex mutex_;  // guards all below and use of `root_`
  std::unordered_set<std::string> checked_;
  std::unordered_map<std::string, Hashed> hashed_;
  std::unordered_map<Digest, std::string, DigestHash> by_digest_;
};

}  // namespace datum::fleet
