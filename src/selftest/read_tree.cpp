// The walk of the oracle: plain calls of the standard library, nothing of the product's.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "datum/selftest/oracle.hpp"

namespace datum::selftest {
namespace {

namespace fs = std::filesystem;

std::uint32_t mode_of(const fs::file_status& status) {
  return static_cast<std::uint32_t>(status.permissions()) & 07777U;
}

Result<Entry> read_entry(const fs::path& path) {
  std::error_code problem;
  const auto status = fs::symlink_status(path, problem);
  Entry entry;
  if (!problem && fs::is_symlink(status)) {
    entry.kind = Kind::symlink;
    entry.body = fs::read_symlink(path, problem).string();
  } else if (!problem && fs::is_directory(status)) {
    entry.kind = Kind::directory;
    entry.mode = mode_of(status);
  } else if (!problem && fs::is_regular_file(status)) {
    entry.mode = mode_of(status);
    std::ifstream file(path, std::ios::binary);
    entry.body.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) return fail(ErrorCode::io_error, path.string() + ": cannot be read");
  } else if (!problem) {
    return fail(ErrorCode::unsupported, path.string() + ": neither file, folder nor link");
  }
  if (problem) return fail(error_from_errno(problem.value(), path.string()));
  return entry;
}

}  // namespace

Result<Tree> read_tree(const std::string& root) {
  Tree tree;
  std::error_code problem;
  fs::recursive_directory_iterator walk(root, problem);
  for (; !problem && walk != fs::recursive_directory_iterator(); walk.increment(problem)) {
    DATUM_ASSIGN(auto entry, read_entry(walk->path()));
    tree.emplace(walk->path().lexically_relative(root).string(), std::move(entry));
  }
  if (problem) return fail(error_from_errno(problem.value(), root));
  return tree;
}

}  // namespace datum::selftest
