// The calls that take a name: opening, making, renaming, removing, listing.
#include <algorithm>
#include <cerrno>

#include "support/model_files.hpp"

namespace datum::support {

using os::FileStat;
using os::FileType;
using os::Follow;
using os::Handle;

namespace {

constexpr int kMaxLinks = 40;  // as in Linux

tl::unexpected<Error> errno_error(int sys_errno, std::string_view what) {
  return fail(error_from_errno(sys_errno, what));
}

Status check_name(std::string_view name) {
  if (os::is_valid_name(name)) return {};
  return fail(ErrorCode::invalid_argument, "not a file name: \"" + std::string(name) + "\"");
}

}  // namespace

std::optional<ModelFiles::Found> ModelFiles::find_in(InodeNumber directory,
                                                     std::string_view name) const {
  const std::string text(name);
  const auto& entries = disk_.find(directory)->entries;
  const auto entry = entries.find(text);
  if (entry == entries.end()) return {};
  const auto mounted = mounts_.find({directory, text});
  if (mounted != mounts_.end()) return Found{mounted->second, true};
  return Found{entry->second, false};
}

Result<ModelFiles::Found> ModelFiles::look_up(const Handle& parent, std::string_view name) {
  DATUM_TRY(check_name(name));
  DATUM_ASSIGN(const auto directory, directory_of(parent));
  const auto found = find_in(directory, name);
  if (!found) return errno_error(ENOENT, name);
  return *found;
}

// Path resolution as the kernel does it, every link followed.
Result<ModelFiles::Found> ModelFiles::follow(InodeNumber directory, std::string_view path,
                                             int links) {
  const auto root = file_systems_.at(0).root;
  Found at{path.starts_with('/') ? root : directory, false};
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const auto name = path.substr(0, slash);
    path.remove_prefix(std::min(path.size(), slash + 1));
    if (name.empty() || name == ".") continue;
    const auto* inode = disk_.find(at.inode);
    if (inode->type != FileType::directory) return errno_error(ENOTDIR, name);
    if (name == "..") {
      at = {at.inode == root ? root : inode->parent, false};
      continue;
    }
    const auto next = find_in(at.inode, name);
    if (!next) return errno_error(ENOENT, name);
    const auto* target = disk_.find(next->inode);
    if (target->type != FileType::symlink) {
      at = *next;
      continue;
    }
    if (links == kMaxLinks) return errno_error(ELOOP, name);
    DATUM_ASSIGN(at, follow(at.inode, target->target, links + 1));
  }
  return at;
}

Result<Handle> ModelFiles::open_root(const std::string& path) {
  const auto entered = enter(Call::open_root, path);
  DATUM_TRY(entered.status);
  if (path.empty() || path[0] != '/')
    return fail(ErrorCode::invalid_argument, "not an absolute path: \"" + path + "\"");
  DATUM_ASSIGN(const auto found, follow(file_systems_.at(0).root, path, 0));
  if (disk_.find(found.inode)->type != FileType::directory) return errno_error(ENOTDIR, path);
  return add_handle(found, false);
}

Result<Handle> ModelFiles::open_directory(const Handle& parent, std::string_view name,
                                          Follow follow_link) {
  const auto entered = enter(Call::open_directory, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(auto found, look_up(parent, name));
  if (disk_.find(found.inode)->type == FileType::symlink) {
    if (follow_link == Follow::no) return errno_error(ELOOP, "open directory");
    DATUM_ASSIGN(const auto directory, directory_of(parent));
    DATUM_ASSIGN(found, follow(directory, disk_.find(found.inode)->target, 1));
  }
  if (disk_.find(found.inode)->type != FileType::directory)
    return errno_error(ENOTDIR, "open directory");
  return add_handle(found, false);
}

Result<Handle> ModelFiles::open_file(const Handle& parent, std::string_view name,
                                     os::Access access) {
  DATUM_ASSIGN(auto opened, open_file_with_stat(parent, name, access));
  return std::move(opened.handle);
}

Result<os::OpenedFile> ModelFiles::open_file_with_stat(const Handle& parent, std::string_view name,
                                                       os::Access access) {
  const auto entered = enter(Call::open_file, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto found, look_up(parent, name));
  const auto type = disk_.find(found.inode)->type;
  if (type == FileType::symlink) return errno_error(ELOOP, "open file");
  if (type == FileType::directory) return errno_error(EISDIR, "open file");
  if (type != FileType::regular)
    return fail(ErrorCode::invalid_argument, "open file: a " + std::string(to_string(type)));
  if (access == os::Access::write) DATUM_TRY(check_changeable(found.inode));
  return os::OpenedFile{add_handle(found, access == os::Access::write), stat_of(found)};
}

// A name that can be made: valid, free, in a folder that can be changed.
Result<InodeNumber> ModelFiles::new_name(const Handle& parent, std::string_view name) {
  DATUM_TRY(check_name(name));
  DATUM_ASSIGN(const auto directory, directory_of(parent));
  if (find_in(directory, name)) return errno_error(EEXIST, name);
  DATUM_TRY(check_changeable(directory));
  const auto* inode = disk_.find(directory);
  if (inode->links == 0 && directory != file_systems_.at(inode->file_system).root)
    return errno_error(ENOENT, name);  // the folder itself was removed
  return directory;
}

Result<InodeNumber> ModelFiles::new_inode(InodeNumber directory, std::string_view name,
                                          Inode proto) {
  proto.file_system = disk_.find(directory)->file_system;
  if (free_inodes(proto.file_system) == 0 || free_blocks(proto.file_system) == 0)
    return errno_error(ENOSPC, name);
  const auto number = disk_.make_inode(std::move(proto));
  touch(number, true);
  change_names({{directory, std::string(name), number}});
  return number;
}

void ModelFiles::change_names(const NameChange& change) {
  std::vector<InodeNumber> named;
  for (const auto& slot : change) {
    const auto old = find_in(slot.directory, slot.name);
    if (old) named.push_back(old->inode);
    if (slot.value != 0) named.push_back(slot.value);
  }
  disk_.change_names(change);
  for (const auto& slot : change) touch(slot.directory, true);
  for (const auto number : named) touch(number, false);
  for (const auto number : named) forget_if_unnamed(number);
}

void ModelFiles::forget_if_unnamed(InodeNumber number) {
  const auto* inode = disk_.find(number);
  if (inode != nullptr && inode->links == 0) disk_.forget_if_unnamed(number, is_open(number));
}

Result<Handle> ModelFiles::create_file(const Handle& parent, std::string_view name) {
  const auto entered = enter(Call::create_file, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto directory, new_name(parent, name));
  Inode proto;
  proto.mode = 0600;
  DATUM_ASSIGN(const auto number, new_inode(directory, name, std::move(proto)));
  return add_handle({number, false}, true);
}

Result<FileStat> ModelFiles::stat_at(const Handle& parent, std::string_view name) {
  const auto entered = enter(Call::stat_at, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto found, look_up(parent, name));
  return stat_of(found);
}

Status ModelFiles::make_directory(const Handle& parent, std::string_view name, std::uint32_t mode) {
  const auto entered = enter(Call::make_directory, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto directory, new_name(parent, name));
  Inode proto;
  proto.type = FileType::directory;
  proto.mode = mode & 07777U;
  DATUM_TRY(new_inode(directory, name, std::move(proto)));
  return {};
}

Status ModelFiles::make_symlink(const Handle& parent, std::string_view name,
                                std::string_view target) {
  const auto entered = enter(Call::make_symlink, name);
  DATUM_TRY(entered.status);
  if (target.empty() || target.find('\0') != std::string_view::npos)
    return fail(ErrorCode::invalid_argument, "make symbolic link: not a target");
  DATUM_ASSIGN(const auto directory, new_name(parent, name));
  Inode proto;
  proto.type = FileType::symlink;
  proto.mode = 0777;
  proto.target = target;
  DATUM_TRY(new_inode(directory, name, std::move(proto)));
  return {};
}

Result<std::string> ModelFiles::read_symlink(const Handle& parent, std::string_view name) {
  const auto entered = enter(Call::read_symlink, name);
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto found, look_up(parent, name));
  const auto* inode = disk_.find(found.inode);
  if (inode->type != FileType::symlink) return errno_error(EINVAL, "read symbolic link");
  return std::string(inode->target);
}

Status ModelFiles::check_rename(Found source, InodeNumber to_directory,
                                const std::optional<Found>& replaced, bool no_replace) const {
  const auto* inode = disk_.find(source.inode);
  if (replaced && no_replace) return errno_error(EEXIST, "rename");
  if (source.mount_root || (replaced && replaced->mount_root)) return errno_error(EBUSY, "rename");
  if (inode->type == FileType::directory)
    for (auto at = to_directory;; at = disk_.find(at)->parent) {
      if (at == source.inode) return errno_error(EINVAL, "rename");
      if (at == file_systems_.at(inode->file_system).root) break;
    }
  if (replaced) {
    const auto* other = disk_.find(replaced->inode);
    const bool from_directory = inode->type == FileType::directory;
    const bool onto_directory = other->type == FileType::directory;
    if (from_directory && !onto_directory) return errno_error(ENOTDIR, "rename");
    if (!from_directory && onto_directory) return errno_error(EISDIR, "rename");
    if (onto_directory && !other->entries.empty()) return errno_error(ENOTEMPTY, "rename");
    DATUM_TRY(check_changeable(replaced->inode));
  }
  return check_changeable(source.inode);
}

Status ModelFiles::rename(const Handle& from_parent, std::string_view from, const Handle& to_parent,
                          std::string_view to, bool no_replace) {
  const auto entered = enter(Call::rename, to);
  DATUM_TRY(entered.status);
  DATUM_TRY(check_name(to));
  DATUM_ASSIGN(const auto source, look_up(from_parent, from));
  DATUM_ASSIGN(const auto from_directory, directory_of(from_parent));
  DATUM_ASSIGN(const auto to_directory, directory_of(to_parent));
  if (disk_.find(from_directory)->file_system != disk_.find(to_directory)->file_system)
    return errno_error(EXDEV, "rename");
  DATUM_TRY(check_changeable(from_directory));
  DATUM_TRY(check_changeable(to_directory));
  const auto replaced = find_in(to_directory, to);
  DATUM_TRY(check_rename(source, to_directory, replaced, no_replace));
  if (replaced && replaced->inode == source.inode) return {};  // two names of one file: nothing
  change_names(
      {{from_directory, std::string(from), 0}, {to_directory, std::string(to), source.inode}});
  return {};
}

Status ModelFiles::remove_name(const Handle& parent, std::string_view name, bool directory) {
  DATUM_ASSIGN(const auto found, look_up(parent, name));
  DATUM_ASSIGN(const auto folder, directory_of(parent));
  const auto* inode = disk_.find(found.inode);
  const bool is_directory = inode->type == FileType::directory;
  if (directory && !is_directory) return errno_error(ENOTDIR, "remove directory");
  if (!directory && is_directory) return errno_error(EISDIR, "remove file");
  if (found.mount_root) return errno_error(EBUSY, "remove");
  if (!inode->entries.empty()) return errno_error(ENOTEMPTY, "remove directory");
  DATUM_TRY(check_changeable(folder));
  DATUM_TRY(check_changeable(found.inode));
  change_names({{folder, std::string(name), 0}});
  return {};
}

Status ModelFiles::remove_file(const Handle& parent, std::string_view name) {
  const auto entered = enter(Call::remove_file, name);
  DATUM_TRY(entered.status);
  return remove_name(parent, name, false);
}

Status ModelFiles::remove_directory(const Handle& parent, std::string_view name) {
  const auto entered = enter(Call::remove_directory, name);
  DATUM_TRY(entered.status);
  return remove_name(parent, name, true);
}

Result<std::vector<os::DirectoryEntry>> ModelFiles::list(const Handle& directory) {
  const auto entered = enter(Call::list, {});
  DATUM_TRY(entered.status);
  DATUM_ASSIGN(const auto number, directory_of(directory));
  std::vector<os::DirectoryEntry> entries;
  for (const auto& [name, child] : disk_.find(number)->entries)
    entries.push_back({name, disk_.find(find_in(number, name)->inode)->type});
  return entries;
}

}  // namespace datum::support
