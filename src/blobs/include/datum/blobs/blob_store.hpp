// Content-addressed store of bytes beside the journal: old content kept for revert, plans, declared
// content. A folder `blobs/` (0700) of files named by the SHA-256 of their content, compressed with
// zstd where that helps, in 256 sub-folders; content larger than 8 MiB lies in parts under a list
// (docs/formats/blobs.md). Knows no event. Any thread; two writers of one digest are harmless. Only
// the holder of the store's writer lock opens it for writing: opening removes dead temp files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "datum/base/content.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/os/files.hpp"

namespace datum::blobs {

// Old content kept for revert: at most this much of one file and in all (design §7).
inline constexpr std::uint64_t kMaxKeptFile = 16ULL * 1024 * 1024;
inline constexpr std::uint64_t kMaxKeptTotal = 2ULL * 1024 * 1024 * 1024;
inline constexpr std::size_t kPartSize = 8 * 1024 * 1024;

// For sweeps that nothing can run beside.
inline constexpr std::int64_t kNoneIsYoung = INT64_MAX;

struct Stored {
  Digest digest;  // of the plain content
  std::uint64_t size = 0;
};

// What a sweep leaves. Borrowed for the call.
struct SweepRoots {
  std::span<const Digest> live;  // in any case
  // In this order for as long as all of them together, live or not, take no more than `kept_limit`
  // bytes on disk: the first that does not fit any more goes, and all behind it.
  std::span<const Digest> kept = {};
  std::uint64_t kept_limit = kMaxKeptTotal;
};

// `open` (of ContentSource) gives a stream that checks each part before it hands it out: `corrupt`
// where the bytes do not have their digest. It holds at most one part in memory and must not
// outlive the store. What is staged is readable like the rest.
class BlobStore : public ContentSource {
 public:
  // Stages a blob: it is readable at once, durable only after `sync`. Returns its digest.
  [[nodiscard]] virtual Result<Stored> put(ByteView content) = 0;
  // The same from a stream of any length in constant memory.
  // Holds one part in memory. After an error parts may be left, which the next `sweep` removes.
  [[nodiscard]] virtual Result<Stored> put_stream(ByteSource& source) = 0;
  // Everything put so far is durable on return: each file and each touched folder, by one sync of
  // the file system when there are more than 64 and errors are reported, else one by one. After an
  // error what was put since the last successful sync is not durable and must be put again.
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual bool contains(const Digest& digest) const = 0;
  // The whole content if it is at most `limit` bytes; `limit_exceeded` otherwise. `corrupt` if the
  // bytes do not have the digest.
  [[nodiscard]] virtual Result<Bytes> read(const Digest& digest, std::size_t limit) const = 0;
  // Bytes on disk, as of the first call and what went in and out through this object since.
  [[nodiscard]] virtual Result<std::uint64_t> used() const = 0;
  // Of large content only the list: its parts may belong to others too and go with the next
  // `sweep`. Nothing there is no error.
  [[nodiscard]] virtual Status remove(const Digest& digest) = 0;
  // Bytes on disk of these with their parts, each once; what is not there takes none. Reads the
  // header of each, so it costs an open for each.
  [[nodiscard]] virtual Result<std::uint64_t> used_by(std::span<const Digest> digests) const = 0;
  // Removes every durable blob that `roots` does not keep, with its parts; says how many bytes that
  // freed. Files that were written at or after `young_ns` (wall clock) stay in any case: an event
  // that names them may not be durable yet. A list that cannot be read ends it before anything is
  // removed. No put may run meanwhile; what is staged stays.
  [[nodiscard]] virtual Result<std::uint64_t> sweep(const SweepRoots& roots,
                                                    std::int64_t young_ns = kNoneIsYoung) = 0;
};

// `folder` is the store's folder; `blobs/` is made below it (0700, synced) unless `read_only`:
// then it must be there (`not_found`), and putting and removing are `read_only`.
[[nodiscard]] Result<std::unique_ptr<BlobStore>> open_blobs(os::Files& files,
                                                            const std::string& folder,
                                                            bool read_only);

}  // namespace datum::blobs
