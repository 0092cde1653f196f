// Blobs of a declaration as they come over the link: in order, in parts, each checked against its
// digest before it goes into the store. What is small is gathered in memory, what is large in a
// file beside the blobs. Everything that touches the disk is a job of one worker; nothing of it is
// durable before the store's `sync`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datum/blobs/blob_store.hpp"
#include "datum/core/link_message.hpp"
#include "datum/loop/loop.hpp"
#include "datum/os/files.hpp"

namespace datum::engine {

// A file of the store's folder, while a large blob comes. Removed at its end, and by the next one.
inline constexpr std::string_view kIncomingName = "incoming";
// Bytes that wait for the disk, beyond which nothing more is read from the link.
inline constexpr std::size_t kMostBytesBehind = 4 * 1024 * 1024;

struct WantedBlob {
  Digest digest;
  std::uint64_t size = 0;  // exactly
};

class BlobReceiver {
 public:
  // All are borrowed; `worker` runs one job at a time, and is gone before `blobs` and `files` are.
  BlobReceiver(os::Files& files, std::string store_folder, blobs::BlobStore& blobs,
               loop::Worker& worker);
  ~BlobReceiver();
  BlobReceiver(const BlobReceiver&) = delete;
  BlobReceiver& operator=(const BlobReceiver&) = delete;

  // What was asked for, in that order. `done` runs once, when all are in the store, or with what
  // went wrong: `not_found`: the other end has one of them not; `corrupt`: what came is not what
  // was asked for; whatever the disk failed with. Not while another one is open.
  void begin(std::vector<WantedBlob> wanted, std::function<void(Status)> done);
  // A part that nobody waits for is passed over: it was asked for by an earlier connection.
  void take(core::BlobPart part);
  // Nobody waits any more; `done` does not run.
  void cancel();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(done_); }
  [[nodiscard]] bool is_behind() const;

 private:
  struct Spool;
  void begin_next();
  void store_front();
  void submit(std::function<Status()> work, std::size_t bytes, std::function<void()> then);
  void finish(Status status);

  os::Files& files_;
  std::string folder_;
  blobs::BlobStore& blobs_;
  loop::Worker& worker_;
  std::deque<WantedBlob> wanted_;
  std::function<void(Status)> done_;
  std::uint64_t offset_ = 0;      // of the first one that is wanted
  Bytes gathered_;                // of it, if it is small
  std::shared_ptr<Spool> spool_;  // of it, if it is large
  std::size_t behind_ = 0;
  std::uint64_t turn_ = 0;  // tells what an earlier `begin` left on the worker
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace datum::engine
