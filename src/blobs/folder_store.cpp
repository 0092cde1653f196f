// Putting, reading and counting blobs. Making them durable stands in folder_sync.cpp.
#include "folder_store.hpp"

#include <algorithm>

#include "blob_stream.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::blobs {

namespace {

constexpr std::string_view kTempPrefix = "tmp-";

// Fills `out` unless the source ends first.
Result<std::size_t> read_full(ByteSource& source, MutableByteView out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    DATUM_ASSIGN(const auto count, source.read(out.subspan(filled)));
    if (count == 0) break;
    filled += count;
  }
  return filled;
}

std::string sub_of(const Digest& digest) {
  return digest.hex().substr(0, 2);
}

bool is_sub(const os::DirectoryEntry& entry) {
  return entry.type == os::FileType::directory && entry.name.size() == 2;
}

}  // namespace

FolderStore::~FolderStore() {
  const Lock lock(mutex_);
  drop_pending();
}

Status FolderStore::remove_dead_temps() {
  const Lock lock(mutex_);
  DATUM_ASSIGN(const auto entries, files_.list(folder_));
  for (const auto& entry : entries)
    if (entry.name.starts_with(kTempPrefix)) DATUM_TRY(files_.remove_file(folder_, entry.name));
  return {};
}

Result<os::Handle> FolderStore::open_sub(std::string_view sub) const {
  return files_.open_directory(folder_, sub, os::Follow::no);
}

Result<os::OpenedFile> FolderStore::open_blob(const Digest& digest) const {
  const auto pending = pending_.find(digest);
  if (pending != pending_.end())
    return files_.open_file_with_stat(folder_, pending->second.temp, os::Access::read);
  DATUM_ASSIGN(const auto sub, open_sub(sub_of(digest)));
  return files_.open_file_with_stat(sub, digest.hex(), os::Access::read);
}

Result<Bytes> FolderStore::read_file(const Digest& digest) const {
  os::OpenedFile opened;
  {
    const Lock lock(mutex_);
    DATUM_ASSIGN(opened, open_blob(digest));
  }
  if (opened.stat.size > kHeaderSize + kMaxListBytes)
    return fail(ErrorCode::corrupt, "blob: longer than any blob");
  Bytes file(opened.stat.size);
  std::size_t filled = 0;
  while (filled < file.size()) {
    DATUM_ASSIGN(const auto count,
                 files_.read(opened.handle, MutableByteView(file).subspan(filled)));
    if (count == 0) return fail(ErrorCode::corrupt, "blob: cut short");
    filled += count;
  }
  return file;
}

// Found on the disk: worth nothing if its bytes are damaged, then it is written anew.
bool FolderStore::is_sound(const Digest& digest) const {
  const auto file = read_file(digest);
  if (!file) return false;
  const auto header = read_header(*file);
  if (!header) return false;
  if (header->form != Form::list) return decode_content(*file, digest).has_value();
  const auto parts = decode_list(*file);
  return parts && std::all_of(parts->begin(), parts->end(),
                              [&](const auto& part) { return contains(part); });
}

Status FolderStore::put_part(const Digest& digest, ByteView file) {
  const Lock lock(mutex_);
  if (pending_.contains(digest)) return {};
  return write_temp(digest, file);
}

Status FolderStore::write_temp(const Digest& digest, ByteView file) {
  Pending pending;
  for (;;) {
    pending.temp = std::string(kTempPrefix) + std::to_string(next_temp_++);
    auto created = files_.create_file(folder_, pending.temp);
    if (!created && created.error().code() == ErrorCode::already_exists) continue;
    if (!created) return fail(std::move(created).error().context("blob"));
    pending.handle = std::move(*created);
    break;
  }
  auto written = files_.write(pending.handle, file);
  if (!written) {
    pending.handle = {};
    static_cast<void>(files_.remove_file(folder_, pending.temp));
    return fail(std::move(written).error().context("blob"));
  }
  if (used_) *used_ += file.size();
  pending_.emplace(digest, std::move(pending));
  if (many(pending_.size()))
    for (auto& [unused, one] : pending_) one.handle = {};
  return {};
}

Result<Stored> FolderStore::put(ByteView content) {
  if (content.size() > kPartSize) {
    ViewSource source(content);
    return put_stream(source);
  }
  if (read_only_) return fail(ErrorCode::read_only, "blobs: opened for reading");
  const Stored stored{crypto::sha256(content), content.size()};
  {
    const Lock lock(mutex_);
    if (pending_.contains(stored.digest)) return stored;
  }
  if (is_sound(stored.digest)) {
    const Lock lock(mutex_);
    if (!proven_.contains(sub_of(stored.digest))) unproven_.insert(sub_of(stored.digest));
    return stored;
  }
  DATUM_TRY(put_part(stored.digest, encode_content(content)));
  return stored;
}

Result<Stored> FolderStore::put_stream(ByteSource& source) {
  if (read_only_) return fail(ErrorCode::read_only, "blobs: opened for reading");
  // Grows with the content: most of it is small.
  Bytes part(std::min<std::size_t>(kPartSize, 64 * 1024));
  DATUM_ASSIGN(auto filled, read_full(source, part));
  if (filled == part.size()) {
    part.resize(kPartSize);
    DATUM_ASSIGN(const auto more, read_full(source, MutableByteView(part).subspan(filled)));
    filled += more;
  }
  part.resize(filled);
  if (filled < kPartSize) return put(part);
  return put_parts(source, std::move(part));
}

Result<Stored> FolderStore::put_parts(ByteSource& source, Bytes part) {
  crypto::Sha256 whole;
  std::vector<Digest> parts;
  Stored stored;
  while (!part.empty()) {
    whole.update(part);
    DATUM_ASSIGN(const auto put_one, put(part));
    parts.push_back(put_one.digest);
    stored.size += part.size();
    if (parts.size() * Digest::kSize > kMaxListBytes - Digest::kSize)
      return fail(ErrorCode::limit_exceeded, "blob: more than 16 TiB");
    part.resize(kPartSize);
    DATUM_ASSIGN(const auto filled, read_full(source, part));
    part.resize(filled);
  }
  stored.digest = whole.finish();
  if (parts.size() == 1) return stored;
  DATUM_TRY(put_part(stored.digest, encode_list(stored.size, parts)));
  return stored;
}

bool FolderStore::contains(const Digest& digest) const {
  const Lock lock(mutex_);
  if (pending_.contains(digest)) return true;
  const auto sub = open_sub(sub_of(digest));
  return sub && files_.stat_at(*sub, digest.hex()).has_value();
}

Result<std::unique_ptr<ByteSource>> FolderStore::open(const Digest& digest) const {
  DATUM_ASSIGN(auto file, read_file(digest));
  DATUM_ASSIGN(const auto header, read_header(file));
  if (header.form == Form::list) {
    DATUM_ASSIGN(auto parts, decode_list(file));
    return std::unique_ptr<ByteSource>(std::make_unique<ListSource>(*this, std::move(parts)));
  }
  DATUM_ASSIGN(auto content, decode_content(file, digest));
  return std::unique_ptr<ByteSource>(std::make_unique<BytesSource>(std::move(content)));
}

Result<Bytes> FolderStore::read(const Digest& digest, std::size_t limit) const {
  DATUM_ASSIGN(const auto file, read_file(digest));
  DATUM_ASSIGN(const auto header, read_header(file));
  if (header.size > limit)
    return fail(ErrorCode::limit_exceeded, "blob: " + std::to_string(header.size) +
                                               " bytes, the limit here is " +
                                               std::to_string(limit));
  if (header.form != Form::list) return decode_content(file, digest);
  DATUM_ASSIGN(auto source, open(digest));
  Bytes content(header.size);
  DATUM_ASSIGN(const auto filled, read_full(*source, content));
  if (filled != content.size() || crypto::sha256(content) != digest)
    return fail(ErrorCode::corrupt, "blob: content does not have its digest " + digest.hex());
  return content;
}

Result<std::vector<std::string>> FolderStore::list_subs() const {
  DATUM_ASSIGN(const auto entries, files_.list(folder_));
  std::vector<std::string> subs;
  for (const auto& entry : entries)
    if (is_sub(entry)) subs.push_back(entry.name);
  std::sort(subs.begin(), subs.end());
  return subs;
}

Result<std::uint64_t> FolderStore::measure() const {
  std::uint64_t bytes = 0;
  DATUM_ASSIGN(const auto subs, list_subs());
  for (const auto& sub : subs) {
    DATUM_ASSIGN(const auto folder, open_sub(sub));
    DATUM_ASSIGN(const auto entries, files_.list(folder));
    for (const auto& entry : entries) {
      DATUM_ASSIGN(const auto stat, files_.stat_at(folder, entry.name));
      bytes += stat.size;
    }
  }
  for (const auto& [unused, pending] : pending_) {
    DATUM_ASSIGN(const auto stat, files_.stat_at(folder_, pending.temp));
    bytes += stat.size;
  }
  return bytes;
}

Result<std::uint64_t> FolderStore::used() const {
  const Lock lock(mutex_);
  if (!used_) {
    DATUM_ASSIGN(used_, measure());
  }
  return *used_;
}

Status FolderStore::remove(const Digest& digest) {
  if (read_only_) return fail(ErrorCode::read_only, "blobs: opened for reading");
  const Lock lock(mutex_);
  used_.reset();
  if (const auto pending = pending_.find(digest); pending != pending_.end()) {
    auto removed = files_.remove_file(folder_, pending->second.temp);
    pending_.erase(pending);
    return removed;
  }
  const auto sub = open_sub(sub_of(digest));
  auto removed = sub ? files_.remove_file(*sub, digest.hex()) : Status(fail(sub.error()));
  if (!removed && removed.error().code() == ErrorCode::not_found) return {};
  return removed;
}

Result<std::unique_ptr<BlobStore>> open_blobs(os::Files& files, const std::string& folder,
                                              bool read_only) {
  constexpr std::string_view kName = "blobs";
  DATUM_ASSIGN(const auto parent, files.open_root(folder));
  auto opened = files.open_directory(parent, kName, os::Follow::no);
  if (!opened && opened.error().code() == ErrorCode::not_found && !read_only) {
    DATUM_TRY(files.make_directory(parent, kName, 0700));
    DATUM_TRY(files.sync(parent));
    opened = files.open_directory(parent, kName, os::Follow::no);
  }
  if (!opened) return fail(std::move(opened).error().context("blobs"));
  auto store = std::make_unique<FolderStore>(files, std::move(*opened), read_only);
  if (!read_only) DATUM_TRY(store->remove_dead_temps());
  return std::unique_ptr<BlobStore>(std::move(store));
}

}  // namespace datum::blobs
