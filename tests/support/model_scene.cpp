// What tests do to the modelled machine and ask of it, beside the calls that the product makes.
#include <algorithm>
#include <cerrno>

#include "datum/base/assert.hpp"
#include "support/model_files.hpp"

namespace datum::support {

using os::FileType;

namespace {

// "/a/b" → "/a" and "b"; "/a" → "" and "a".
std::pair<std::string, std::string> split(const std::string& path) {
  DATUM_ASSERT(path.size() > 1 && path[0] == '/');
  const auto slash = path.rfind('/');
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

ModelFiles::ModelFiles() {
  add_file_system();
}
ModelFiles::~ModelFiles() = default;

std::uint32_t ModelFiles::add_file_system() {
  const auto number = static_cast<std::uint32_t>(file_systems_.size());
  Inode root;
  root.type = FileType::directory;
  root.mode = 0755;
  root.file_system = number;
  root.mtime_ns = root.ctime_ns = now_ns_;
  auto& file_system = file_systems_[number];
  file_system.root = disk_.make_inode(std::move(root));
  disk_.find(file_system.root)->parent = file_system.root;
  disk_.pin(file_system.root);
  disk_.sync(file_system.root);
  return number;
}

std::optional<ModelFiles::Found> ModelFiles::find_path(const std::string& path) const {
  Found at{file_systems_.at(0).root, true};
  for (std::size_t begin = 1; begin < path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto next = find_in(at.inode, path.substr(begin, end - begin));
    if (!next) return {};
    at = *next;
    begin = end + 1;
  }
  return at;
}

InodeNumber ModelFiles::expect_path(const std::string& path) const {
  const auto found = find_path(path);
  DATUM_ASSERT(found.has_value());
  return found->inode;
}

InodeNumber ModelFiles::make_parents(const std::string& path) {
  const auto [folder, name] = split(path);
  if (folder.empty()) return file_systems_.at(0).root;
  if (const auto found = find_path(folder)) return found->inode;
  Inode directory;
  directory.type = FileType::directory;
  directory.mode = 0755;
  return put(folder, std::move(directory));
}

InodeNumber ModelFiles::put(const std::string& path, Inode proto) {
  const auto directory = make_parents(path);
  const auto name = split(path).second;
  if (find_in(directory, name)) remove_all(directory, name);
  proto.file_system = disk_.find(directory)->file_system;
  const auto number = disk_.make_inode(std::move(proto));
  touch(number, true);
  change_names({{directory, name, number}});
  return number;
}

void ModelFiles::remove_all(InodeNumber directory, const std::string& name) {
  mounts_.erase({directory, name});
  const auto number = disk_.find(directory)->entries.at(name);
  const auto entries = disk_.find(number)->entries;
  for (const auto& [child, unused] : entries) remove_all(number, child);
  change_names({{directory, name, 0}});
}

void ModelFiles::put_directory(const std::string& path, std::uint32_t mode, std::uint32_t uid,
                               std::uint32_t gid) {
  const std::lock_guard guard(mutex_);
  auto number = InodeNumber{0};
  if (const auto found = path == "/" ? find_path("/") : std::nullopt) {
    number = found->inode;
  } else if (const auto there = find_path(path);
             there && disk_.find(there->inode)->type == FileType::directory) {
    number = there->inode;
  } else {
    Inode proto;
    proto.type = FileType::directory;
    number = put(path, std::move(proto));
  }
  auto* inode = disk_.find(number);
  inode->mode = mode;
  inode->uid = uid;
  inode->gid = gid;
  touch(number, false);
}

void ModelFiles::put_file(const std::string& path, std::string_view content, std::uint32_t mode,
                          std::uint32_t uid, std::uint32_t gid) {
  const std::lock_guard guard(mutex_);
  Inode proto;
  proto.mode = mode;
  proto.uid = uid;
  proto.gid = gid;
  const auto number = put(path, std::move(proto));
  auto* inode = disk_.find(number);
  inode->content.write(0, as_bytes(content));
  disk_.count_blocks(inode->file_system, static_cast<std::int64_t>(inode->content.blocks()));
}

void ModelFiles::put_symlink(const std::string& path, const std::string& target,
                             std::uint32_t uid) {
  const std::lock_guard guard(mutex_);
  Inode proto;
  proto.type = FileType::symlink;
  proto.mode = 0777;
  proto.uid = uid;
  proto.target = target;
  put(path, std::move(proto));
}

void ModelFiles::put_special(const std::string& path, FileType type) {
  const std::lock_guard guard(mutex_);
  Inode proto;
  proto.type = type;
  proto.mode = 0644;
  put(path, std::move(proto));
}

void ModelFiles::put_hard_link(const std::string& path, const std::string& existing) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(existing);
  change_names({{make_parents(path), split(path).second, number}});
}

void ModelFiles::put_attribute(const std::string& path, const std::string& name,
                               std::string_view value) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(path);
  disk_.find(number)->attributes[name] = to_bytes(value);
  touch(number, false);
}

void ModelFiles::remove(const std::string& path) {
  const std::lock_guard guard(mutex_);
  if (!find_path(path)) return;
  remove_all(make_parents(path), split(path).second);
}

void ModelFiles::set_owner_of(const std::string& path, std::uint32_t uid, std::uint32_t gid) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(path);
  disk_.find(number)->uid = uid;
  disk_.find(number)->gid = gid;
  touch(number, false);
}

void ModelFiles::set_mode_of(const std::string& path, std::uint32_t mode) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(path);
  disk_.find(number)->mode = mode;
  touch(number, false);
}

void ModelFiles::mount(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto covered = expect_path(path);
  const auto directory = make_parents(path);
  if (disk_.find(covered)->type == FileType::directory) {
    const auto root = file_systems_.at(add_file_system()).root;
    disk_.find(root)->parent = directory;
    mounts_[{directory, split(path).second}] = root;
  } else {
    mounts_[{directory, split(path).second}] = covered;
  }
}

void ModelFiles::unmount(const std::string& path) {
  const std::lock_guard guard(mutex_);
  mounts_.erase({make_parents(path), split(path).second});
}

std::uint32_t ModelFiles::file_system_of(const std::string& path) const {
  return disk_.find(expect_path(path))->file_system;
}

void ModelFiles::set_read_only(const std::string& path, bool read_only) {
  const std::lock_guard guard(mutex_);
  file_systems_.at(file_system_of(path)).read_only = read_only;
}

void ModelFiles::set_immutable(const std::string& path, bool immutable) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(path);
  disk_.find(number)->immutable = immutable;
  touch(number, false);
}

void ModelFiles::set_flags(const std::string& path, std::uint32_t flags) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(path);
  disk_.find(number)->flags = flags;
  touch(number, false);
}

std::uint32_t ModelFiles::flags_of(const std::string& path) {
  const std::lock_guard guard(mutex_);
  return disk_.find(expect_path(path))->flags;
}

void ModelFiles::set_free_bytes(const std::string& path, std::uint64_t bytes) {
  const std::lock_guard guard(mutex_);
  const auto number = file_system_of(path);
  file_systems_.at(number).capacity_blocks =
      disk_.used_blocks(number) + bytes / Content::kBlockBytes;
}

void ModelFiles::set_free_inodes(const std::string& path, std::uint64_t inodes) {
  const std::lock_guard guard(mutex_);
  const auto number = file_system_of(path);
  file_systems_.at(number).capacity_inodes = disk_.used_inodes(number) + inodes;
}

void ModelFiles::set_reports_sync_errors(bool reports) {
  const std::lock_guard guard(mutex_);
  reports_sync_errors_ = reports;
}

void ModelFiles::set_has_attributes(bool has) {
  const std::lock_guard guard(mutex_);
  has_attributes_ = has;
}

void ModelFiles::set_clock(std::function<WallNs()> clock) {
  const std::lock_guard guard(mutex_);
  clock_ = std::move(clock);
}

std::optional<std::string> ModelFiles::find_content(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto found = find_path(path);
  if (!found || disk_.find(found->inode)->type != FileType::regular) return {};
  return disk_.find(found->inode)->content.text();
}

std::optional<std::string> ModelFiles::find_target(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto found = find_path(path);
  if (!found || disk_.find(found->inode)->type != FileType::symlink) return {};
  return disk_.find(found->inode)->target;
}

std::optional<os::FileStat> ModelFiles::find_stat(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto found = find_path(path);
  if (!found) return {};
  return stat_of(*found);
}

void ModelFiles::collect_paths(InodeNumber directory, const std::string& prefix,
                               std::vector<std::string>& paths) const {
  for (const auto& [name, unused] : disk_.find(directory)->entries) {
    const auto child = find_in(directory, name)->inode;
    paths.push_back(prefix + "/" + name);
    if (disk_.find(child)->type == FileType::directory)
      collect_paths(child, prefix + "/" + name, paths);
  }
}

std::vector<std::string> ModelFiles::paths() {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> paths;
  collect_paths(file_systems_.at(0).root, "", paths);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::size_t ModelFiles::open_handles() {
  const std::lock_guard guard(mutex_);
  return handles_.size();
}

std::uint64_t ModelFiles::calls(Call call) {
  const std::lock_guard guard(mutex_);
  return calls_[call];
}

std::uint64_t ModelFiles::changing_calls() {
  const std::lock_guard guard(mutex_);
  return changing_calls_;
}

void ModelFiles::fail_call(Call call, std::uint64_t nth, int sys_errno) {
  const std::lock_guard guard(mutex_);
  DATUM_ASSERT(nth > 0 && sys_errno != 0);
  faults_[{call, calls_[call] + nth}] = sys_errno;
}

void ModelFiles::forget_faults() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
}

void ModelFiles::stop_at_change(std::uint64_t nth) {
  const std::lock_guard guard(mutex_);
  stop_at_ = nth == 0 ? 0 : changing_calls_ + nth;
}

bool ModelFiles::stopped() {
  const std::lock_guard guard(mutex_);
  return stop_at_ != 0 && changing_calls_ >= stop_at_;
}

void ModelFiles::fail_write_back(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto number = expect_path(path);
  disk_.lose_write_back(number);
  ++file_errors_[number];
  ++file_systems_.at(disk_.find(number)->file_system).write_errors;
}

void ModelFiles::set_before_call(std::function<void(Call, std::string_view)> before) {
  const std::lock_guard guard(mutex_);
  before_call_ = std::move(before);
}

void ModelFiles::settle() {
  const std::lock_guard guard(mutex_);
  for (const auto& [number, unused] : file_systems_) disk_.sync_file_system(number);
}

void ModelFiles::end_process() {
  const std::lock_guard guard(mutex_);
  const auto closed = std::move(handles_);
  handles_.clear();
  stop_at_ = 0;
  for (const auto& [value, file] : closed) forget_if_unnamed(file.inode);
}

CrashOutcome ModelFiles::crash_as(std::uint64_t seed, ModelDisk::Survives survives) {
  const std::lock_guard guard(mutex_);
  handles_.clear();
  file_errors_.clear();
  stop_at_ = 0;
  faults_.clear();
  const auto outcome = disk_.crash(seed, survives);
  std::erase_if(mounts_, [&](const auto& mount) {
    const auto* directory = disk_.find(mount.first.first);
    return directory == nullptr || !directory->entries.contains(mount.first.second) ||
           disk_.find(mount.second) == nullptr;
  });
  return outcome;
}

CrashOutcome ModelFiles::crash(std::uint64_t seed) {
  return crash_as(seed, ModelDisk::Survives::seeded);
}
CrashOutcome ModelFiles::crash_losing_everything() {
  return crash_as(0, ModelDisk::Survives::nothing);
}
CrashOutcome ModelFiles::crash_keeping_everything() {
  return crash_as(0, ModelDisk::Survives::everything);
}

}  // namespace datum::support
