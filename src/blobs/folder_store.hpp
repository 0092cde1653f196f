// Blobs in a folder of the file system. What is put lies in `blobs/tmp-N` until `sync`, which makes
// the bytes durable before they get their name: a blob under its name is whole, whenever the power
// goes. One mutex guards the shared handles and what is pending.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "blob_format.hpp"
#include "datum/blobs/blob_store.hpp"

namespace datum::blobs {

// More files than this are made durable by one sync of the file system (design §5).
inline constexpr std::size_t kSyncThreshold = 64;

class FolderStore final : public BlobStore {
 public:
  FolderStore(os::Files& files, os::Handle folder, bool read_only)
      : files_(files), folder_(std::move(folder)), read_only_(read_only) {}
  ~FolderStore() override;

  [[nodiscard]] Result<Stored> put(ByteView content) override;
  [[nodiscard]] Result<Stored> put_stream(ByteSource& source) override;
  [[nodiscard]] Status sync() override;
  bool contains(const Digest& digest) const override;
  [[nodiscard]] Result<Bytes> read(const Digest& digest, std::size_t limit) const override;
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override;
  [[nodiscard]] Result<std::uint64_t> used() const override;
  [[nodiscard]] Status remove(const Digest& digest) override;
  [[nodiscard]] Result<std::uint64_t> used_by(std::span<const Digest> digests) const override;
  [[nodiscard]] Result<std::uint64_t> sweep(const SweepRoots& roots,
                                            std::int64_t young_ns) override;

  // Of writers that died; only before anything is put.
  [[nodiscard]] Status remove_dead_temps();
  // A whole blob file; for the streams that `open` gives.
  [[nodiscard]] Result<Bytes> read_file(const Digest& digest) const;

 private:
  struct Pending {
    std::string temp;
    os::Handle handle;  // none once there are more than one would sync one by one
  };
  using Lock = std::scoped_lock<std::mutex>;
  struct Weight {
    std::uint64_t bytes = 0;    // of its own file, 0 if there is none
    std::vector<Digest> parts;  // of a list
  };
  struct Addition {
    std::uint64_t bytes = 0;
    std::set<Digest> blobs;
  };

  // The functions below are called with the lock held.
  [[nodiscard]] Result<os::Handle> open_sub(std::string_view sub) const;
  [[nodiscard]] Result<os::OpenedFile> open_blob(const Digest& digest) const;
  [[nodiscard]] Status write_temp(const Digest& digest, ByteView file);
  [[nodiscard]] Status sync_temps();
  [[nodiscard]] Status name_all(std::vector<Digest>& named, std::set<std::string>& touched);
  [[nodiscard]] Status sync_folders(const std::set<std::string>& touched);
  [[nodiscard]] Status sync_handle_of(const Pending& pending);
  void drop_pending();
  void unname(const std::vector<Digest>& named);
  [[nodiscard]] bool many(std::size_t count) const;
  [[nodiscard]] Result<std::uint64_t> measure() const;
  [[nodiscard]] Result<std::vector<std::string>> list_subs() const;

  // Without the lock.
  [[nodiscard]] Result<Weight> weigh(const Digest& digest) const;
  [[nodiscard]] Result<Addition> find_addition(const Digest& digest,
                                               const std::set<Digest>& counted) const;
  [[nodiscard]] Status add_live(std::span<const Digest> live, std::set<Digest>& keep) const;
  [[nodiscard]] Status add_kept(const SweepRoots& roots, std::set<Digest>& keep) const;
  [[nodiscard]] Result<std::uint64_t> remove_others(const std::set<Digest>& keep,
                                                    std::int64_t young_ns);

  [[nodiscard]] Status put_part(const Digest& digest, ByteView file);
  [[nodiscard]] bool is_sound(const Digest& digest) const;
  [[nodiscard]] Result<Stored> put_parts(ByteSource& source, Bytes first);

  os::Files& files_;
  os::Handle folder_;
  bool read_only_;
  mutable std::mutex mutex_;
  std::map<Digest, Pending> pending_;
  std::set<std::string>
      unproven_;                  // folders with blobs found there, whose names may not be durable
  std::set<std::string> proven_;  // folders that this process has synced
  std::uint64_t next_temp_ = 0;
  mutable std::optional<std::uint64_t> used_;
};

}  // namespace datum::blobs
