// The walk: one component at a time, each opened relative to the descriptor of its folder, so that
// a folder that is exchanged meanwhile is noticed and not followed. Known folders are kept by their
// real path; the spelling of a path (through links) leads to the real one by a table beside it.
#include "datum/os/walk.hpp"

#include <cstdio>
#include <list>
#include <unordered_map>

namespace datum::os {

namespace {

constexpr std::size_t kMaxSpellings = 65'536;  // parents of a large manifest; about 10 MiB
constexpr std::size_t kMaxPathBytes = 4096;    // PATH_MAX
constexpr int kMaxLinks = 40;                  // MAXSYMLINKS of Linux

// A Folder and what decides whether a link in it is followed.
struct KnownFolder : Folder {
  std::uint32_t uid = 0;
  std::uint32_t mode = 0;
};
using FolderPtr = std::shared_ptr<const KnownFolder>;

std::string octal(std::uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode));
  return text;
}

bool others_can_write(std::uint32_t mode) {
  return (mode & 022U) != 0;
}

std::string join(const std::string& folder, std::string_view name) {
  std::string path = folder == "/" ? std::string() : folder;
  return path.append("/").append(name);
}

std::string parent_of(const std::string& real_path) {
  const auto slash = real_path.rfind('/');
  return slash == 0 ? "/" : real_path.substr(0, slash);
}

// Puts the components of `path` on top of `pending`, the first one topmost.
void push_components(std::vector<std::string>& pending, std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (!name.empty() && name != ".") pending.emplace_back(name);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
}

Status check_form(std::string_view path) {
  if (path.size() > kMaxPathBytes)
    return fail(ErrorCode::limit_exceeded, "a path of more than 4096 bytes");
  bool normalised = path.size() > 1 && path[0] == '/';
  for (std::size_t begin = 1; normalised && begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    normalised = is_valid_name(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (normalised) return {};
  return fail(ErrorCode::invalid_argument,
              std::string(path) + ": not an absolute, normalised path of a name below the root");
}

}  // namespace

struct Walker::Impl {
  struct Entry {
    FolderPtr open;                         // empty once it was closed for lack of room
    std::weak_ptr<const KnownFolder> held;  // still open while somebody's Location holds it
    std::list<std::string>::iterator use;   // valid while `open` is set
  };

  Files& files;
  const Handle& root;
  std::uint32_t trusted_uid;
  std::size_t max_open;
  std::unordered_map<std::string, Entry> folders;           // by real path
  std::list<std::string> uses;                              // most recent first
  std::unordered_map<std::string, std::string> real_paths;  // of spellings
  FolderPtr root_folder;

  Impl(Files& the_files, const Handle& the_root, std::uint32_t the_trusted_uid,
       std::size_t the_max_open)
      : files(the_files),
        root(the_root),
        trusted_uid(the_trusted_uid),
        max_open(std::max<std::size_t>(the_max_open, 1)) {}

  Result<FolderPtr> make_folder(Handle handle, std::string real_path, const std::string& untrusted);
  Result<FolderPtr> open_root();
  FolderPtr find_open(const std::string& real_path);
  void keep(const FolderPtr& folder);
  Result<FolderPtr> enter(const FolderPtr& parent, std::string_view name);
  Result<FolderPtr> open_real(const std::string& real_path);
  Result<std::string> read_trusted_link(const FolderPtr& folder, std::string_view name);
  Result<FolderPtr> resolve(std::string_view path);
  Result<FolderPtr> open_folder(std::string_view path);
};

Result<FolderPtr> Walker::Impl::make_folder(Handle handle, std::string real_path,
                                            const std::string& untrusted) {
  const auto stat = files.stat(handle);
  if (!stat) return fail(Error(stat.error()).context(real_path));
  auto folder = std::make_shared<KnownFolder>();
  folder->handle = std::move(handle);
  folder->device = stat->device;
  folder->inode = stat->inode;
  folder->mount = stat->mount;
  folder->uid = stat->uid;
  folder->mode = stat->mode;
  folder->untrusted = untrusted;
  if (untrusted.empty() && stat->uid != trusted_uid)
    folder->untrusted = real_path + ": owner uid " + std::to_string(stat->uid);
  else if (untrusted.empty() && others_can_write(stat->mode))
    folder->untrusted = real_path + ": writable by others (mode " + octal(stat->mode) + ")";
  folder->real_path = std::move(real_path);
  return FolderPtr(std::move(folder));
}

Result<FolderPtr> Walker::Impl::open_root() {
  if (!root_folder) {
    DATUM_ASSIGN(root_folder, make_folder(Handle::borrow(root), "/", {}));
  }
  return root_folder;
}

FolderPtr Walker::Impl::find_open(const std::string& real_path) {
  if (real_path == "/") return root_folder;
  const auto found = folders.find(real_path);
  if (found == folders.end()) return nullptr;
  auto& entry = found->second;
  if (entry.open) {
    uses.splice(uses.begin(), uses, entry.use);
    return entry.open;
  }
  auto held = entry.held.lock();
  if (held) keep(held);
  return held;
}

void Walker::Impl::keep(const FolderPtr& folder) {
  if (uses.size() >= max_open) {
    const auto last = folders.find(uses.back());
    last->second.open.reset();
    if (last->second.held.expired()) folders.erase(last);
    uses.pop_back();
  }
  if (folders.size() >= kMaxSpellings)
    std::erase_if(folders, [](const auto& entry) { return entry.second.held.expired(); });
  uses.push_front(folder->real_path);
  folders[folder->real_path] = {folder, folder, uses.begin()};
}

Result<FolderPtr> Walker::Impl::enter(const FolderPtr& parent, std::string_view name) {
  auto real_path = join(parent->real_path, name);
  if (auto known = find_open(real_path)) return known;
  auto handle = files.open_directory(parent->handle, name, Follow::no);
  if (!handle) return fail(std::move(handle).error().context(real_path));
  DATUM_ASSIGN(auto folder,
               make_folder(std::move(*handle), std::move(real_path), parent->untrusted));
  keep(folder);
  return folder;
}

// A path that had no link in it when it was seen; one that has got one meanwhile is `symlink`.
Result<FolderPtr> Walker::Impl::open_real(const std::string& real_path) {
  if (auto known = find_open(real_path)) return known;
  DATUM_ASSIGN(auto folder, open_root());
  std::vector<std::string> pending;
  push_components(pending, real_path);
  for (; !pending.empty(); pending.pop_back()) {
    DATUM_ASSIGN(folder, enter(folder, pending.back()));
  }
  return folder;
}

Result<std::string> Walker::Impl::read_trusted_link(const FolderPtr& folder,
                                                    std::string_view name) {
  const auto path = join(folder->real_path, name);
  const auto stat = files.stat_at(folder->handle, name);
  if (!stat) return fail(Error(stat.error()).context(path));
  if (stat->type != FileType::symlink)
    return fail(ErrorCode::conflict, path + ": changed while it was looked at");
  // Whoever may rename a folder further up could put another folder of root's in this one's place,
  // so the whole way must be root's, not only the last folder.
  if (stat->uid != trusted_uid || !folder->untrusted.empty()) {
    auto message = path + ": a symbolic link of uid " + std::to_string(stat->uid) +
                   " in a folder of uid " + std::to_string(folder->uid) + " (mode " +
                   octal(folder->mode) + ") is not followed";
    if (!folder->untrusted.empty()) message += "; " + folder->untrusted;
    return fail(ErrorCode::symlink, std::move(message));
  }
  auto target = files.read_symlink(folder->handle, name);
  if (!target) return fail(std::move(target).error().context(path));
  return target;
}

Result<FolderPtr> Walker::Impl::resolve(std::string_view path) {
  DATUM_ASSIGN(auto current, open_root());
  std::vector<std::string> pending;
  push_components(pending, path);
  int links = 0;
  while (!pending.empty()) {
    const auto name = std::move(pending.back());
    pending.pop_back();
    if (name == "..") {
      if (current->real_path == "/")
        return fail(ErrorCode::refused, std::string(path) + ": a link on this way leaves the root");
      DATUM_ASSIGN(current, open_real(parent_of(current->real_path)));
      continue;
    }
    auto next = enter(current, name);
    if (!next && next.error().code() == ErrorCode::symlink) {
      DATUM_ASSIGN(const auto target, read_trusted_link(current, name));
      if (++links > kMaxLinks)
        return fail(ErrorCode::limit_exceeded,
                    join(current->real_path, name) + ": more than 40 links on this way");
      push_components(pending, target);
      if (target[0] == '/') current = root_folder;
      continue;
    }
    if (!next) return fail(std::move(next).error());
    current = std::move(*next);
  }
  return current;
}

Result<FolderPtr> Walker::Impl::open_folder(std::string_view path) {
  const auto known = real_paths.find(std::string(path));
  if (known != real_paths.end())
    if (auto open = find_open(known->second)) return open;
  DATUM_ASSIGN(auto folder, resolve(path));
  if (real_paths.size() >= kMaxSpellings) real_paths.clear();
  real_paths.insert_or_assign(std::string(path), folder->real_path);
  return folder;
}

Walker::Walker(Files& files, const Handle& root, std::uint32_t trusted_uid, std::size_t max_open)
    : impl_(std::make_shared<Impl>(files, root, trusted_uid, max_open)) {}

Result<Location> Walker::locate(std::string_view path) {
  DATUM_TRY(check_form(path));
  const auto slash = path.rfind('/');
  DATUM_ASSIGN(auto folder, impl_->open_folder(path.substr(0, slash)));
  return Location{std::move(folder), std::string(path.substr(slash + 1))};
}

void Walker::forget() {
  impl_->folders.clear();
  impl_->uses.clear();
  impl_->real_paths.clear();
  impl_->root_folder.reset();
}

}  // namespace datum::os
