// What blobs weigh, and removing those that nobody needs. Only headers are read, but of lists the
// whole: content may be gigabytes.
#include <algorithm>
#include <array>

#include "folder_store.hpp"

namespace datum::blobs {

Result<FolderStore::Weight> FolderStore::weigh(const Digest& digest) const {
  os::OpenedFile opened;
  {
    const Lock lock(mutex_);
    auto found = open_blob(digest);
    if (!found && found.error().code() == ErrorCode::not_found) return Weight{};
    if (!found) return fail(std::move(found).error());
    opened = std::move(*found);
  }
  std::array<std::byte, kHeaderSize> bytes{};
  DATUM_ASSIGN(const auto count, files_.read(opened.handle, bytes));
  DATUM_ASSIGN(const auto header, read_header(ByteView(bytes).first(count)));
  Weight weight{opened.stat.size, {}};
  if (header.form != Form::list) return weight;
  DATUM_ASSIGN(const auto whole, read_file(digest));
  DATUM_ASSIGN(weight.parts, decode_list(whole));
  return weight;
}

// A content and its parts, those that are not counted yet: parts may be shared, and contents equal.
Result<FolderStore::Addition> FolderStore::find_addition(const Digest& digest,
                                                         const std::set<Digest>& counted) const {
  Addition addition;
  if (counted.contains(digest)) return addition;
  DATUM_ASSIGN(const auto weight, weigh(digest));
  addition.bytes = weight.bytes;
  addition.blobs.insert(digest);
  for (const auto& part : weight.parts) {
    if (counted.contains(part) || !addition.blobs.insert(part).second) continue;
    DATUM_ASSIGN(const auto of_part, weigh(part));
    addition.bytes += of_part.bytes;
  }
  return addition;
}

Result<std::uint64_t> FolderStore::used_by(std::span<const Digest> digests) const {
  std::set<Digest> counted;
  std::uint64_t bytes = 0;
  for (const auto& digest : digests) {
    DATUM_ASSIGN(auto addition, find_addition(digest, counted));
    bytes += addition.bytes;
    counted.merge(addition.blobs);
  }
  return bytes;
}

Status FolderStore::add_live(std::span<const Digest> live, std::set<Digest>& keep) const {
  for (const auto& digest : live) {
    if (!keep.insert(digest).second) continue;
    DATUM_ASSIGN(const auto weight, weigh(digest));
    keep.insert(weight.parts.begin(), weight.parts.end());
  }
  return {};
}

Status FolderStore::add_kept(const SweepRoots& roots, std::set<Digest>& keep) const {
  std::set<Digest> counted;
  std::uint64_t bytes = 0;
  for (const auto& digest : roots.kept) {
    DATUM_ASSIGN(auto addition, find_addition(digest, counted));
    if (bytes + addition.bytes > roots.kept_limit) break;
    bytes += addition.bytes;
    counted.merge(addition.blobs);
  }
  keep.merge(counted);
  return {};
}

Result<std::uint64_t> FolderStore::remove_others(const std::set<Digest>& keep,
                                                 std::int64_t young_ns) {
  const Lock lock(mutex_);
  std::uint64_t freed = 0;
  DATUM_ASSIGN(const auto subs, list_subs());
  for (const auto& sub : subs) {
    DATUM_ASSIGN(const auto folder, open_sub(sub));
    DATUM_ASSIGN(const auto entries, files_.list(folder));
    for (const auto& entry : entries) {
      const auto digest = Digest::find_hex(entry.name);
      if (!digest || keep.contains(*digest)) continue;
      DATUM_ASSIGN(const auto stat, files_.stat_at(folder, entry.name));
      if (stat.mtime_ns >= young_ns) continue;
      DATUM_TRY(files_.remove_file(folder, entry.name));
      freed += stat.size;
    }
  }
  used_.reset();
  return freed;
}

Result<std::uint64_t> FolderStore::sweep(const SweepRoots& roots, std::int64_t young_ns) {
  if (read_only_) return fail(ErrorCode::read_only, "blobs: opened for reading");
  std::vector<Digest> live(roots.live.begin(), roots.live.end());
  {
    const Lock lock(mutex_);
    for (const auto& [digest, unused] : pending_) live.push_back(digest);
  }
  std::set<Digest> keep;
  DATUM_TRY(add_live(live, keep));
  DATUM_TRY(add_kept(roots, keep));
  return remove_others(keep, young_ns);
}

}  // namespace datum::blobs
