// See the header. A path is walked name by name from the root's descriptor; a link is read and its
// target put in place of it, so that `..` never passes the root and nothing is opened by path.
#include "source_files.hpp"

#include <deque>
#include <utility>

#include "datum/crypto/digest.hpp"

namespace datum::fleet {
namespace {

// As many as the kernel follows (path_resolution(7)).
constexpr int kMaxLinks = 40;
constexpr std::size_t kReadPiece = 256 * 1024;

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const auto name = path.substr(0, slash);
    if (!name.empty() && name != ".") names.emplace_back(name);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return names;
}

// The folders from the root to where the walk stands; the root itself is borrowed.
class Way {
 public:
  explicit Way(const os::Handle& root) : root_(root) {}
  [[nodiscard]] const os::Handle& here() const { return below_.empty() ? root_ : below_.back(); }
  void enter(os::Handle folder) { below_.push_back(std::move(folder)); }
  [[nodiscard]] bool leave() {
    if (below_.empty()) return false;
    below_.pop_back();
    return true;
  }
  [[nodiscard]] std::vector<os::Handle>& below() { return below_; }

 private:
  const os::Handle& root_;
  std::vector<os::Handle> below_;
};

tl::unexpected<Error> leaves_root(const std::string& path) {
  return fail(ErrorCode::refused, path + " leaves the fleet's folder");
}

struct Last {
  std::string name;  // empty for the root
  os::FileType type = os::FileType::directory;
};

// Stands on the folder of the last name and returns that name, links resolved.
Result<Last> walk(os::Files& files, Way& way, const std::string& path) {
  const auto first = split(path);
  std::deque<std::string> names(first.begin(), first.end());
  int links = 0;
  while (!names.empty()) {
    const auto name = std::move(names.front());
    names.pop_front();
    if (name == "..") {
      if (!way.leave()) return leaves_root(path);
      continue;
    }
    DATUM_ASSIGN(const auto stat, files.stat_at(way.here(), name));
    if (stat.type == os::FileType::symlink) {
      if (++links > kMaxLinks) return fail(ErrorCode::limit_exceeded, path + ": too many links");
      DATUM_ASSIGN(const auto target, files.read_symlink(way.here(), name));
      if (target.empty() || target.front() == '/') return leaves_root(path);
      auto inserted = split(target);
      names.insert(names.begin(), std::make_move_iterator(inserted.begin()),
                   std::make_move_iterator(inserted.end()));
      continue;
    }
    if (names.empty()) return Last{name, stat.type};
    DATUM_ASSIGN(auto folder, files.open_directory(way.here(), name, os::Follow::no));
    way.enter(std::move(folder));
  }
  return Last{};
}

class FileStream final : public ByteSource {
 public:
  FileStream(os::Files& files, os::Handle handle) : files_(files), handle_(std::move(handle)) {}
  Result<std::size_t> read(MutableByteView out) override { return files_.read(handle_, out); }

 private:
  os::Files& files_;
  os::Handle handle_;
};

}  // namespace

Result<std::string> join_path(std::string_view folder, std::string_view written) {
  if (written.empty() || written.front() == '/')
    return fail(ErrorCode::invalid_argument,
                "a file of the fleet is named relative to the folder "
                "of its layer");
  auto names = split(folder);
  for (auto& name : split(written)) {
    if (name != "..") {
      names.push_back(std::move(name));
      continue;
    }
    if (names.empty())
      return fail(ErrorCode::refused, std::string(written) + " leaves the fleet's folder");
    names.pop_back();
  }
  std::string path;
  for (const auto& name : names) path.append(path.empty() ? "" : "/").append(name);
  return path;
}

Result<std::unique_ptr<SourceFiles>> SourceFiles::open(os::Files& files, const std::string& root) {
  DATUM_ASSIGN(auto handle, files.open_root(root));
  return std::unique_ptr<SourceFiles>(new SourceFiles(files, std::move(handle)));
}

Result<os::Handle> SourceFiles::open_inside(const std::string& path) {
  const std::lock_guard lock(mutex_);
  Way way(root_);
  DATUM_ASSIGN(const auto last, walk(files_, way, path));
  if (last.type == os::FileType::directory)
    return fail(ErrorCode::is_directory, path + " is a folder");
  if (last.type != os::FileType::regular)
    return fail(ErrorCode::invalid_argument,
                path + " is a " + std::string(os::to_string(last.type)) + ", no regular file");
  return files_.open_file(way.here(), last.name, os::Access::read);
}

Result<os::Handle> SourceFiles::open_folder(const std::string& path) {
  const std::lock_guard lock(mutex_);
  os::Handle at;
  for (const auto& name : split(path)) {
    DATUM_ASSIGN(at, files_.open_directory(at ? at : root_, name, os::Follow::no));
  }
  return at;
}

Status SourceFiles::check(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (checked_.contains(path)) return {};
  }
  DATUM_ASSIGN(const auto handle, open_inside(path));
  const std::lock_guard lock(mutex_);
  checked_.insert(path);
  return {};
}

Result<SourceFiles::Hashed> SourceFiles::hash(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = hashed_.find(path); known != hashed_.end()) return known->second;
  }
  DATUM_ASSIGN(const auto handle, open_inside(path));
  crypto::Sha256 hasher;
  Hashed result;
  Bytes piece(kReadPiece);
  while (true) {
    DATUM_ASSIGN(const auto count, files_.read(handle, piece));
    if (count == 0) break;
    hasher.update(ByteView(piece).first(count));
    result.size += count;
    const auto read = as_text(ByteView(piece).first(count));
    result.small = result.size <= kKeptSource ? result.small.append(read) : std::string();
  }
  result.digest = hasher.finish();
  const std::lock_guard lock(mutex_);
  hashed_.emplace(path, result);
  by_digest_.emplace(result.digest, path);
  return result;
}

Result<std::string> SourceFiles::read_text(const std::string& path, std::uint64_t limit) {
  DATUM_ASSIGN(const auto handle, open_inside(path));
  DATUM_ASSIGN(const auto stat, files_.stat(handle));
  std::string text;
  // One byte more than the file had shows its end without another call.
  text.resize(static_cast<std::size_t>(std::min(stat.size, limit)) + 1);
  std::size_t used = 0;
  while (true) {
    const auto room = std::as_writable_bytes(std::span(text).subspan(used));
    DATUM_ASSIGN(const auto count, files_.read(handle, room));
    used += count;
    if (used > limit)
      return fail(ErrorCode::limit_exceeded,
                  path + " is larger than " + std::to_string(limit >> 20U) + " MiB");
    if (count == 0) break;
    if (used == text.size()) text.resize(text.size() * 2);
  }
  text.resize(used);
  return text;
}

Result<std::unique_ptr<ByteSource>> SourceFiles::stream(const std::string& path) {
  DATUM_ASSIGN(auto handle, open_inside(path));
  return std::unique_ptr<ByteSource>(std::make_unique<FileStream>(files_, std::move(handle)));
}

Result<std::string> SourceFiles::find(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  const auto known = by_digest_.find(digest);
  if (known == by_digest_.end())
    return fail(ErrorCode::not_found, "no file of the fleet has digest " + digest.hex());
  return known->second;
}

bool SourceFiles::leads_to_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  const auto parent = open_folder(slash == std::string::npos ? "" : path.substr(0, slash));
  if (!parent) return false;
  const std::lock_guard lock(mutex_);
  const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
  return files_.open_directory(*parent ? *parent : root_, name, os::Follow::yes).has_value();
}

Result<std::vector<os::DirectoryEntry>> SourceFiles::list(const std::string& folder) {
  DATUM_ASSIGN(const auto handle, open_folder(folder));
  const auto& open = handle ? handle : root_;
  DATUM_ASSIGN(auto entries, files_.list(open));
  for (auto& entry : entries) {
    if (entry.type != os::FileType::unknown) continue;
    DATUM_ASSIGN(const auto stat, files_.stat_at(open, entry.name));
    entry.type = stat.type;
  }
  return entries;
}

}  // namespace datum::fleet
