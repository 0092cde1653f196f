// The walk over Datum's own folders.
#include "datum/resource/own_contents.hpp"

namespace datum::resource {

namespace {

// A store and a configuration are four folders deep; deeper is not what Datum made.
constexpr int kMaxDepth = 16;
// Blobs of the largest fleet are some hundred thousand; more would only cost memory.
constexpr std::size_t kMaxObjects = 2'000'000;

}  // namespace

OwnContents::OwnContents(os::Files& files, std::vector<std::string> folders)
    : files_(files), folders_(std::move(folders)) {}

bool OwnContents::contains(std::uint64_t device, std::uint64_t inode) const {
  std::call_once(once_, [this] { look(); });
  return incomplete_ || keys_.contains({device, inode});
}

void OwnContents::look() const {
  for (const auto& path : folders_) {
    const auto folder = files_.open_root(path);
    if (!folder && folder.error().code() == ErrorCode::not_found) continue;
    if (!folder || !add_below(*folder, 0)) incomplete_ = true;
  }
}

Status OwnContents::add_below(const os::Handle& folder, int depth) const {
  DATUM_ASSIGN(const auto own, files_.stat(folder));
  keys_.insert({own.device, own.inode});
  if (depth == kMaxDepth || keys_.size() > kMaxObjects)
    return fail(ErrorCode::limit_exceeded, "more than a store has");
  DATUM_ASSIGN(const auto entries, files_.list(folder));
  for (const auto& entry : entries) {
    if (entry.type == os::FileType::directory) {
      const auto inside = files_.open_directory(folder, entry.name, os::Follow::no);
      if (inside) {
        DATUM_TRY(add_below(*inside, depth + 1));
        continue;
      }
    }
    const auto stat = files_.stat_at(folder, entry.name);
    if (stat) keys_.insert({stat->device, stat->inode});
  }
  return {};
}

}  // namespace datum::resource
