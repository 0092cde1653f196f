// Durability: bytes first, then names, then the folders of the names. A failed sync proves nothing
// about a later one, so what it covered is given up and must be put again.
#include "folder_store.hpp"

namespace datum::blobs {

bool FolderStore::many(std::size_t count) const {
  return count > kSyncThreshold && files_.reports_file_system_sync_errors();
}

void FolderStore::drop_pending() {
  for (auto& [unused, pending] : pending_) {
    pending.handle = {};
    static_cast<void>(files_.remove_file(folder_, pending.temp));
  }
  if (!pending_.empty()) used_.reset();
  pending_.clear();
}

void FolderStore::unname(const std::vector<Digest>& named) {
  for (const auto& digest : named) {
    const auto name = digest.hex();
    const auto sub = open_sub(name.substr(0, 2));
    if (sub) static_cast<void>(files_.remove_file(*sub, name));
  }
}

Status FolderStore::sync_handle_of(const Pending& pending) {
  if (pending.handle) return files_.sync(pending.handle);
  DATUM_ASSIGN(const auto handle, files_.open_file(folder_, pending.temp, os::Access::write));
  return files_.sync(handle);
}

Status FolderStore::sync_temps() {
  if (many(pending_.size())) return files_.sync_file_system(folder_);
  for (const auto& [unused, pending] : pending_) DATUM_TRY(sync_handle_of(pending));
  return {};
}

Status FolderStore::name_all(std::vector<Digest>& named, std::set<std::string>& touched) {
  // Sorted by digest, so that each folder is opened once.
  std::string current;
  os::Handle sub;
  for (auto& [digest, pending] : pending_) {
    const auto name = digest.hex();
    if (name.substr(0, 2) != current) {
      current = name.substr(0, 2);
      auto opened = open_sub(current);
      if (!opened && opened.error().code() == ErrorCode::not_found) {
        DATUM_TRY(files_.make_directory(folder_, current, 0700));
        opened = open_sub(current);
      }
      if (!opened) return fail(std::move(opened).error());
      sub = std::move(*opened);
      touched.insert(current);
    }
    DATUM_TRY(files_.rename(folder_, pending.temp, sub, name, false));
    named.push_back(digest);
  }
  return {};
}

Status FolderStore::sync_folders(const std::set<std::string>& touched) {
  if (touched.empty()) return {};
  if (many(touched.size() + 1)) return files_.sync_file_system(folder_);
  for (const auto& name : touched) {
    DATUM_ASSIGN(const auto sub, open_sub(name));
    DATUM_TRY(files_.sync(sub));
  }
  return files_.sync(folder_);
}

Status FolderStore::sync() {
  if (read_only_) return fail(ErrorCode::read_only, "blobs: opened for reading");
  const Lock lock(mutex_);
  if (pending_.empty() && unproven_.empty()) return {};
  auto touched = unproven_;
  std::vector<Digest> named;
  auto status = sync_temps();
  if (status) status = name_all(named, touched);
  if (status) status = sync_folders(touched);
  if (!status) {
    unname(named);
    for (const auto& digest : named) pending_.erase(digest);
    drop_pending();
    used_.reset();
    return fail(std::move(status).error().context("blobs are not durable"));
  }
  pending_.clear();
  unproven_.clear();
  proven_.merge(touched);
  return {};
}

}  // namespace datum::blobs
