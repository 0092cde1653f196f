// Durability of a wave: what is staged before it goes live, folders and changed objects after. One
// sync of the file system where that is more than a threshold and errors are reported, else each by
// itself.
#include <algorithm>

#include "wave_run.hpp"

namespace datum::resource {

namespace {

void fail_all(const std::vector<Work*>& works, const Error& error) {
  for (auto* work : works) {
    work->undurable = true;
    if (work->going())
      work->error =
          Error(ErrorCode::io_error, "not durable: " + error.message(), error.sys_errno());
  }
}

}  // namespace

void WaveRun::sync_group(std::vector<ToSync>& group) {
  auto& files = sight_.files();
  const bool many = group.size() > options_.file_sync_threshold;
  const bool closed =
      std::any_of(group.begin(), group.end(), [](const auto& one) { return one.closed; });
  if (closed || (many && files.reports_file_system_sync_errors())) {
    const auto synced = files.sync_file_system(*group.front().handle);
    if (synced) return;
    for (const auto& one : group) fail_all(one.works, synced.error());
    return;
  }
  for (const auto& one : group) {
    const auto synced = files.sync(*one.handle);
    if (!synced) fail_all(one.works, synced.error());
  }
}

void WaveRun::sync_by_device(std::vector<ToSync> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.device < b.device; });
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(),
                                  [&](const auto& one) { return one.device != begin->device; });
    std::vector<ToSync> group(std::make_move_iterator(begin), std::make_move_iterator(end));
    sync_group(group);
    begin = end;
  }
}

void WaveRun::sync_staged() {
  std::vector<ToSync> all;
  for (auto& work : works_) {
    if (!work.going() || !work.staged) continue;
    // The folder's descriptor was opened before the first byte was written.
    const auto& handle = work.handle ? work.handle : work.where.folder->handle;
    all.push_back({work.where.folder->device, &handle, {&work}, !work.handle});
    bench_.crash_point("sync", work);
  }
  sync_by_device(std::move(all));
  for (auto& work : works_)
    if (!work.going()) discard(bench_, work);
}

void WaveRun::sync_live() {
  std::vector<ToSync> all;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> folders;
  for (auto& work : works_) {
    if (!work.live && !work.folder_changed) continue;
    const auto& folder = *work.where.folder;
    bench_.crash_point("sync-folder", work);
    if (work.object_changed) {
      const auto& handle = work.handle ? work.handle : folder.handle;
      all.push_back({folder.device, &handle, {&work}, !work.handle});
    }
    // Also for a changed object: the name that leads to it may be somebody's newest change.
    const auto [at, fresh] = folders.emplace(std::pair(folder.device, folder.inode), all.size());
    if (fresh) all.push_back({folder.device, &folder.handle, {}});
    all[at->second].works.push_back(&work);
  }
  for (auto& work : works_) work.undurable = false;  // what was staged and failed is no more
  sync_by_device(std::move(all));
  for (auto& work : works_) {
    if (!work.going() && work.folder_changed)
      work.left_behind =
          work.undurable || anything_left(sight_, work.where, bench_.temp_name_of(work));
    work.handle = {};
    if (work.live) bench_.crash_point("folder-synced", work);
  }
}

}  // namespace datum::resource
