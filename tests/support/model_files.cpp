// The calls on open files: reading, writing, syncing, owners, modes, attributes.
#include "support/model_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "datum/base/assert.hpp"

namespace datum::support {

using os::FileStat;
using os::FileType;
using os::Handle;

namespace {

tl::unexpected<Error> error_of(int sys_errno, std::string_view what) {
  return fail(error_from_errno(sys_errno, what));
}

constexpr std::size_t kMaxAttributeBytes = 65'536;  // XATTR_SIZE_MAX
constexpr std::size_t kMaxAttributeName = 255;

bool has_known_prefix(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kPrefixes = {"user.", "trusted.", "security.",
                                                                "system."};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix);
  });
}

}  // namespace

std::string_view to_string(Call call) {
  static constexpr std::array<std::string_view, 26> kNames = {"open_root",
                                                              "open_directory",
                                                              "open_file",
                                                              "create_file",
                                                              "stat",
                                                              "stat_at",
                                                              "read",
                                                              "write",
                                                              "seek",
                                                              "truncate",
                                                              "sync",
                                                              "sync_file_system",
                                                              "set_owner",
                                                              "set_mode",
                                                              "read_attributes",
                                                              "set_attribute",
                                                              "remove_attribute",
                                                              "carry_flags",
                                                              "make_directory",
                                                              "make_symlink",
                                                              "read_symlink",
                                                              "rename",
                                                              "remove_file",
                                                              "remove_directory",
                                                              "list",
                                                              "space"};
  static_assert(kNames.size() == static_cast<std::size_t>(Call::space) + 1);
  return kNames[static_cast<std::size_t>(call)];
}

bool changes_machine(Call call) {
  switch (call) {
    case Call::create_file:
    case Call::write:
    case Call::truncate:
    case Call::sync:
    case Call::sync_file_system:
    case Call::set_owner:
    case Call::set_mode:
    case Call::set_attribute:
    case Call::remove_attribute:
    case Call::carry_flags:
    case Call::make_directory:
    case Call::make_symlink:
    case Call::rename:
    case Call::remove_file:
    case Call::remove_directory:
      return true;
    default:
      return false;
  }
}

ModelFiles::Entered ModelFiles::enter(Call call, std::string_view name) {
  std::function<void(Call, std::string_view)> before;
  {
    const std::lock_guard guard(mutex_);
    before = before_call_;
  }
  if (before) before(call, name);
  Entered entered{std::unique_lock(mutex_), {}};
  if (stop_at_ != 0 && changing_calls_ >= stop_at_) {
    entered.status = fail(ErrorCode::cancelled, "the modelled process was stopped here");
    return entered;
  }
  const auto count = ++calls_[call];
  if (changes_machine(call) && ++changing_calls_ == stop_at_) {
    entered.status = fail(ErrorCode::cancelled, "the modelled process was stopped here");
    return entered;
  }
  const auto fault = faults_.find({call, count});
  if (fault != faults_.end()) {
    entered.status = error_of(fault->second, to_string(call));
    faults_.erase(fault);
  }
  return entered;
}

Result<ModelFiles::OpenFile*> ModelFiles::open_file_of(const Handle& handle) {
  const auto found = handles_.find(handle.value());
  if (found == handles_.end()) return error_of(EBADF, "handle");
  return &found->second;
}

Result<InodeNumber> ModelFiles::directory_of(const Handle& handle) {
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  const auto* inode = disk_.find(file->inode);
  if (inode->type != FileType::directory) return error_of(ENOTDIR, "handle");
  return InodeNumber{file->inode};
}

std::uint64_t ModelFiles::free_blocks(std::uint32_t file_system) const {
  const auto capacity = file_systems_.at(file_system).capacity_blocks;
  return capacity - std::min(capacity, disk_.used_blocks(file_system));
}
std::uint64_t ModelFiles::free_inodes(std::uint32_t file_system) const {
  const auto capacity = file_systems_.at(file_system).capacity_inodes;
  return capacity - std::min(capacity, disk_.used_inodes(file_system));
}

// An immutable file and a read-only file system refuse every change, root's too.
Status ModelFiles::check_changeable(InodeNumber number) const {
  const auto* inode = disk_.find(number);
  if (file_systems_.at(inode->file_system).read_only) return error_of(EROFS, "change");
  if (inode->immutable) return error_of(EPERM, "change");
  return {};
}

void ModelFiles::touch(InodeNumber number, bool content) {
  ++now_ns_;
  if (clock_) now_ns_ = std::max(now_ns_, clock_().ns);
  auto* inode = disk_.find(number);
  inode->ctime_ns = now_ns_;
  if (content) inode->mtime_ns = now_ns_;
  disk_.mark_changed(number, content && inode->type == FileType::regular);
}

Handle ModelFiles::add_handle(Found found, bool writable) {
  const auto file_system = disk_.find(found.inode)->file_system;
  handles_[next_handle_] = {found.inode,
                            0,
                            writable,
                            found.mount_root,
                            file_errors_[found.inode],
                            file_systems_[file_system].write_errors};
  return {*this, next_handle_++};
}

bool ModelFiles::is_open(InodeNumber number) const {
  return std::any_of(handles_.begin(), handles_.end(),
                     [&](const auto& entry) { return entry.second.inode == number; });
}

void ModelFiles::close(int value) noexcept {
  const std::lock_guard guard(mutex_);
  const auto found = handles_.find(value);
  if (found == handles_.end()) return;
  const auto number = found->second.inode;
  handles_.erase(found);
  const auto* inode = disk_.find(number);
  if (inode != nullptr && inode->links == 0) disk_.forget_if_unnamed(number, is_open(number));
}

FileStat ModelFiles::stat_of(Found found) const {
  const auto* inode = disk_.find(found.inode);
  FileStat stat;
  stat.type = inode->type;
  stat.mode = inode->type == FileType::symlink ? 0777 : inode->mode;
  stat.uid = inode->uid;
  stat.gid = inode->gid;
  stat.device = 100 + inode->file_system;
  stat.inode = found.inode;
  stat.links = inode->links;
  if (inode->type == FileType::directory) {
    stat.links = 2;
    for (const auto& [name, child] : inode->entries)
      if (disk_.find(child)->type == FileType::directory) ++stat.links;
    stat.size = Content::kBlockBytes;
  } else {
    stat.size = inode->type == FileType::symlink ? inode->target.size() : inode->content.size();
  }
  stat.allocated = inode->content.blocks() * Content::kBlockBytes;
  stat.mtime_ns = inode->mtime_ns;
  stat.ctime_ns = inode->ctime_ns;
  stat.mount = 10 + inode->file_system;
  stat.mount_root = found.mount_root;
  stat.immutable = inode->immutable;
  return stat;
}

Result<FileStat> ModelFiles::stat(const Handle& handle) {
  const auto entered = enter(Call::stat, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  return stat_of({file->inode, file->mount_root});
}

Result<std::size_t> ModelFiles::read(const Handle& handle, MutableByteView out) {
  const auto entered = enter(Call::read, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  const auto* inode = disk_.find(file->inode);
  if (inode->type != FileType::regular) return error_of(EISDIR, "read");
  const auto count = inode->content.read(file->offset, out);
  file->offset += count;
  return count;
}

// Like a kernel that runs out of blocks in the middle: what fitted stays written.
Status ModelFiles::write(const Handle& handle, ByteView bytes) {
  const auto entered = enter(Call::write, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  if (!file->writable) return error_of(EBADF, "write");
  DATUM_TRY(check_changeable(file->inode));
  auto* inode = disk_.find(file->inode);
  const auto file_system = inode->file_system;
  while (!bytes.empty()) {
    const auto inside = file->offset % Content::kBlockBytes;
    const auto part = bytes.first(std::min(bytes.size(), Content::kBlockBytes - inside));
    const auto added = inode->content.missing_blocks(file->offset, part.size());
    if (added > free_blocks(file_system)) return error_of(ENOSPC, "write");
    disk_.count_blocks(file_system, static_cast<std::int64_t>(added));
    inode->content.write(file->offset, part);
    file->offset += part.size();
    bytes = bytes.subspan(part.size());
    touch(file->inode, true);
  }
  return {};
}

Result<std::uint64_t> ModelFiles::seek_data(const Handle& handle, std::uint64_t offset) {
  const auto entered = enter(Call::seek, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  file->offset = disk_.find(file->inode)->content.next_data(offset);
  return std::uint64_t{file->offset};
}

Result<std::uint64_t> ModelFiles::seek_hole(const Handle& handle, std::uint64_t offset) {
  const auto entered = enter(Call::seek, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  file->offset = offset;
  return disk_.find(file->inode)->content.next_hole(offset);
}

Status ModelFiles::seek(const Handle& handle, std::uint64_t offset) {
  const auto entered = enter(Call::seek, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  if (offset > static_cast<std::uint64_t>(INT64_MAX))
    return fail(ErrorCode::limit_exceeded, "an offset beyond 2^63 - 1");
  file->offset = offset;
  return {};
}

Status ModelFiles::truncate(const Handle& handle, std::uint64_t size) {
  const auto entered = enter(Call::truncate, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  if (!file->writable) return error_of(EINVAL, "truncate");
  DATUM_TRY(check_changeable(file->inode));
  auto* inode = disk_.find(file->inode);
  const auto before = inode->content.blocks();
  inode->content.truncate(size);
  disk_.count_blocks(inode->file_system, static_cast<std::int64_t>(inode->content.blocks()) -
                                             static_cast<std::int64_t>(before));
  touch(file->inode, true);
  return {};
}

// Each handle hears of a failed write-back once, as in Linux.
Status ModelFiles::report_write_error(std::uint64_t& seen, std::uint64_t now) {
  if (seen == now) return {};
  seen = now;
  return error_of(EIO, "sync");
}

Status ModelFiles::sync(const Handle& handle) {
  const auto entered = enter(Call::sync, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  disk_.sync(file->inode);
  return report_write_error(file->seen_file_errors, file_errors_[file->inode]);
}

Status ModelFiles::sync_file_system(const Handle& handle) {
  const auto entered = enter(Call::sync_file_system, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto* file, open_file_of(handle));
  const auto file_system = disk_.find(file->inode)->file_system;
  disk_.sync_file_system(file_system);
  if (!reports_sync_errors_) return {};
  return report_write_error(file->seen_system_errors, file_systems_[file_system].write_errors);
}

bool ModelFiles::reports_file_system_sync_errors() {
  const std::lock_guard guard(mutex_);
  return reports_sync_errors_;
}

// chown of anything but a directory takes set-uid, set-gid of an executable and capabilities with
// it.
Status ModelFiles::change_owner(InodeNumber number, std::uint32_t uid, std::uint32_t gid) {
  DATUM_TRY(check_changeable(number));
  auto* inode = disk_.find(number);
  if (uid != UINT32_MAX) inode->uid = uid;
  if (gid != UINT32_MAX) inode->gid = gid;
  if (inode->type == FileType::regular) {
    inode->mode &= ~04000U;
    if ((inode->mode & 0010U) != 0) inode->mode &= ~02000U;
    inode->attributes.erase("security.capability");
  }
  touch(number, false);
  return {};
}

Status ModelFiles::set_owner(const Handle& handle, std::uint32_t uid, std::uint32_t gid) {
  const auto entered = enter(Call::set_owner, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  return change_owner(file->inode, uid, gid);
}

Status ModelFiles::set_owner_at(const Handle& parent, std::string_view name, std::uint32_t uid,
                                std::uint32_t gid) {
  const auto entered = enter(Call::set_owner, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto found, look_up(parent, name));
  return change_owner(found.inode, uid, gid);
}

Status ModelFiles::set_mode(const Handle& handle, std::uint32_t mode) {
  const auto entered = enter(Call::set_mode, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  DATUM_TRY(check_changeable(file->inode));
  disk_.find(file->inode)->mode = mode & 07777U;
  touch(file->inode, false);
  return {};
}

Result<std::vector<os::Attribute>> ModelFiles::read_attributes(const Handle& handle) {
  const auto entered = enter(Call::read_attributes, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  std::vector<os::Attribute> attributes;
  for (const auto& [name, value] : disk_.find(file->inode)->attributes)
    attributes.push_back({name, value});
  return attributes;
}

Status ModelFiles::set_attribute(const Handle& handle, const os::Attribute& attribute) {
  const auto entered = enter(Call::set_attribute, attribute.name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  if (!has_attributes_ || !has_known_prefix(attribute.name))
    return error_of(EOPNOTSUPP, "set attribute " + attribute.name);
  if (attribute.name.size() > kMaxAttributeName || attribute.value.size() > kMaxAttributeBytes)
    return error_of(E2BIG, "set attribute");
  DATUM_TRY(check_changeable(file->inode));
  disk_.find(file->inode)->attributes[attribute.name] = attribute.value;
  touch(file->inode, false);
  return {};
}

Status ModelFiles::remove_attribute(const Handle& handle, std::string_view name) {
  const auto entered = enter(Call::remove_attribute, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  DATUM_TRY(check_changeable(file->inode));
  if (disk_.find(file->inode)->attributes.erase(std::string(name)) == 0)
    return error_of(ENODATA, "remove attribute " + std::string(name));
  touch(file->inode, false);
  return {};
}

// One number: what the flags mean is the file system's business.
Status ModelFiles::carry_flags(const Handle& from, const Handle& to) {
  const auto entered = enter(Call::carry_flags, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* source, open_file_of(from));
  DATUM_ASSIGN(const auto* file, open_file_of(to));
  DATUM_TRY(check_changeable(file->inode));
  const auto flags = disk_.find(source->inode)->flags;
  if (disk_.find(file->inode)->flags == flags) return {};
  if (disk_.find(file->inode)->content.size() != 0) return error_of(EINVAL, "set inode flags");
  disk_.find(file->inode)->flags = flags;
  touch(file->inode, false);
  return {};
}

Result<os::Space> ModelFiles::space(const Handle& handle) {
  const auto entered = enter(Call::space, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto* file, open_file_of(handle));
  const auto file_system = disk_.find(file->inode)->file_system;
  return os::Space{free_blocks(file_system) * Content::kBlockBytes, free_inodes(file_system)};
}

}  // namespace datum::support
