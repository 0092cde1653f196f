// Reading dpkg's database as of one moment. dpkg writes each change as a numbered file in `updates`
// and from time to time all of it as a new `status`, which takes the old one's name before the
// numbered ones go: whoever reads `status` first and finds it the same afterwards has seen all.
#include <algorithm>

#include "datum/os/apt.hpp"

namespace datum::os {

namespace {

// All of Debian would be 60,000 paragraphs of a kilobyte.
constexpr std::uint64_t kMaxStatus = 128ULL << 20U;
// dpkg itself merges them after 250; each is one paragraph.
constexpr std::size_t kMaxUpdates = 1'000;
constexpr std::uint64_t kMaxUpdate = 1ULL << 20U;
// A transaction writes some ten times a second, reading takes milliseconds.
constexpr int kTries = 20;

struct Identity {
  std::uint64_t inode = 0, size = 0;
  std::int64_t mtime_ns = 0, ctime_ns = 0;
  bool operator==(const Identity&) const = default;
};

Identity identity_of(const FileStat& stat) {
  return {stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns};
}

struct Text {
  std::string bytes;
  Identity identity;
};

Result<Text> read_file(Files& files, const Handle& folder, const std::string& name,
                       std::uint64_t limit) {
  auto looked = files.open_file_with_stat(folder, name, Access::read);
  if (!looked) return fail(std::move(looked).error().context(name));
  const auto& opened = *looked;
  if (opened.stat.size > limit)
    return fail(ErrorCode::limit_exceeded, name + ": larger than any that dpkg writes");
  Text text;
  text.identity = identity_of(opened.stat);
  text.bytes.resize(opened.stat.size);
  std::size_t at = 0;
  while (at < text.bytes.size()) {
    const MutableByteView rest(reinterpret_cast<std::byte*>(text.bytes.data()) + at,
                               text.bytes.size() - at);
    DATUM_ASSIGN(const auto count, files.read(opened.handle, rest));
    if (count == 0) break;
    at += count;
  }
  text.bytes.resize(at);
  return text;
}

bool is_number(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::vector<std::string>> list_updates(Files& files, const Handle& folder) {
  const auto updates = files.open_directory(folder, "updates", Follow::no);
  if (!updates && updates.error().code() == ErrorCode::not_found) return std::vector<std::string>{};
  if (!updates) return fail(updates.error());
  DATUM_ASSIGN(const auto entries, files.list(*updates));
  std::vector<std::string> names;
  for (const auto& entry : entries)
    if (is_number(entry.name)) names.push_back(entry.name);
  if (names.size() > kMaxUpdates)
    return fail(ErrorCode::limit_exceeded, "updates: more than dpkg ever leaves");
  std::sort(names.begin(), names.end());
  return names;
}

// `conflict`: it changed meanwhile.
Result<PackageBook> read_once(Files& files, const Handle& folder) {
  DATUM_ASSIGN(auto status, read_file(files, folder, "status", kMaxStatus));
  DATUM_ASSIGN(const auto names, list_updates(files, folder));
  std::vector<std::string> updates;
  if (!names.empty()) {
    DATUM_ASSIGN(const auto inside, files.open_directory(folder, "updates", Follow::no));
    for (const auto& name : names) {
      auto text = read_file(files, inside, name, kMaxUpdate);
      if (!text && text.error().code() == ErrorCode::not_found)
        return fail(ErrorCode::conflict, "updates changed");
      if (!text) return fail(std::move(text).error());
      updates.push_back(std::move(text->bytes));
    }
    DATUM_ASSIGN(const auto after, list_updates(files, folder));
    if (after != names) return fail(ErrorCode::conflict, "updates changed");
  }
  DATUM_ASSIGN(const auto now, files.stat_at(folder, "status"));
  if (identity_of(now) != status.identity) return fail(ErrorCode::conflict, "status changed");
  return PackageBook::parse(std::move(status.bytes), std::move(updates));
}

Result<Handle> open_folder(Files& files, const Handle& root) {
  DATUM_ASSIGN(const auto var, files.open_directory(root, "var", Follow::yes));
  DATUM_ASSIGN(const auto lib, files.open_directory(var, "lib", Follow::yes));
  return files.open_directory(lib, "dpkg", Follow::yes);
}

}  // namespace

Result<PackageBook> read_dpkg(Files& files, const Handle& root) {
  auto folder = open_folder(files, root);
  if (!folder) return fail(std::move(folder).error().context("/var/lib/dpkg"));
  for (int left = kTries;; --left) {
    auto book = read_once(files, *folder);
    if (book) return book;
    if (book.error().code() == ErrorCode::conflict && left > 1) continue;
    return fail(std::move(book).error().context("/var/lib/dpkg"));
  }
}

}  // namespace datum::os
