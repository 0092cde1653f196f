#include "durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace datum::program {

static std::string part_of(const std::string& path) {
  return path + ".part";
}

// The rename at the end would put a plain file in the place of a device, a pipe or a link.
static Status check_target(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return {};
  return fail(ErrorCode::invalid_argument,
              path + " is no regular file, and would be replaced by one; name another file");
}

Result<DurableFile> DurableFile::create(const std::string& path) {
  DATUM_TRY(check_target(path));
  const auto part = part_of(path);
  const int file =
      ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return fail(error_from_errno(errno, part));
  return DurableFile(path, file);
}

DurableFile::DurableFile(DurableFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

DurableFile::~DurableFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part_of(path_).c_str());
}

Status DurableFile::write(ByteView bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(descriptor_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail(error_from_errno(errno, path_));
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

Status DurableFile::commit() {
  if (::fsync(descriptor_) != 0) return fail(error_from_errno(errno, path_));
  if (::rename(part_of(path_).c_str(), path_.c_str()) != 0)
    return fail(error_from_errno(errno, path_));
  ::close(std::exchange(descriptor_, -1));
  const auto folder = std::filesystem::absolute(path_).parent_path().string();
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return fail(error_from_errno(errno, folder));
  const int problem = ::fsync(directory) == 0 ? 0 : errno;
  ::close(directory);
  if (problem != 0) return fail(error_from_errno(problem, folder));
  return {};
}

}  // namespace datum::program
