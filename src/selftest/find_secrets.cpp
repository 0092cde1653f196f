// What lies in the blobs. Where a secret has no business: the journal's file with all its free
// pages, blobs that are not old content, and what a process printed.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "datum/blobs/blob_store.hpp"
#include "datum/selftest/oracle.hpp"

namespace datum::selftest {
namespace {

namespace fs = std::filesystem;

// In front of old content that nobody may guess from its name: 8 bytes and an HMAC.
constexpr std::size_t kWrapBytes = 8 + Digest::kSize;
constexpr std::size_t kMaxBlob = std::size_t{64} * 1024 * 1024;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_kept(std::string_view content, const std::set<std::string>& old) {
  return content.size() > kWrapBytes && old.contains(std::string(content.substr(kWrapBytes)));
}

// Names of blob files that were not looked at yet.
std::vector<std::string> new_blobs(const fs::path& folder, std::set<std::string>& known) {
  std::vector<std::string> names;
  std::error_code problem;
  fs::recursive_directory_iterator walk(folder, problem);
  for (; !problem && walk != fs::recursive_directory_iterator(); walk.increment(problem)) {
    auto name = walk->path().filename().string();
    if (walk->is_regular_file(problem) && known.insert(name).second)
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Violations find_missing_blobs(os::Files& files, const std::string& store, const Claims& claims) {
  if (claims.blobs.empty()) return {};
  const auto blobs = blobs::open_blobs(files, store, true);
  if (!blobs) return {"the store's blobs do not open: " + blobs.error().message()};
  Violations violations;
  for (const auto& digest : claims.blobs)
    if (!(*blobs)->contains(digest))
      violations.push_back("blob " + digest.hex() + " is named by a record and not there");
  return violations;
}

Violations find_secrets(os::Files& files, const std::string& store, std::string_view mark,
                        const std::set<std::string>& old, std::set<std::string>& known) {
  Violations violations;
  if (read_file(fs::path(store) / "journal" / "data.mdb").find(mark) != std::string::npos)
    violations.push_back("the journal holds the content of the sensitive file");
  const auto blobs = blobs::open_blobs(files, store, true);
  if (!blobs) return violations;  // none yet
  for (const auto& name : new_blobs(fs::path(store) / "blobs", known)) {
    const auto digest = Digest::find_hex(name);
    if (!digest) continue;  // a dead temp file
    const auto content = (*blobs)->read(*digest, kMaxBlob);
    if (!content) {
      violations.push_back("blob " + name + ": " + content.error().message());
      continue;
    }
    const auto text = as_text(*content);
    if (text.find(mark) != std::string_view::npos && !is_kept(text, old))
      violations.push_back("blob " + name +
                           " holds the content of the sensitive file, and is not "
                           "old content under a name that says nothing");
  }
  return violations;
}

Violations find_secrets_in(std::string_view printed, std::string_view mark) {
  if (printed.find(mark) == std::string_view::npos) return {};
  return {"the content of the sensitive file was printed"};
}

}  // namespace datum::selftest
