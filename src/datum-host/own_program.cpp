#include "own_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "datum/base/time.hpp"

namespace datum::host {

namespace {
constexpr const char* kRunning = "/proc/self/exe";
}

OwnProgram::Identity OwnProgram::identity_of(const char* path) {
  struct stat info {};
  if (::stat(path, &info) != 0) return {};
  return {info.st_ino, info.st_ctim.tv_sec * kNsPerSecond + info.st_ctim.tv_nsec};
}

OwnProgram OwnProgram::of_this_process() {
  OwnProgram own;
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink(kRunning, path.data(), path.size());
  if (length <= 0) return own;
  own.path_.assign(path.data(), static_cast<std::size_t>(length));
  own.running_ = identity_of(kRunning);
  return own;
}

// The change time alone moves with a new mode or another link: the file is the same one then.
bool OwnProgram::is_replaced() const {
  if (path_.empty()) return false;
  const auto now = identity_of(path_.c_str());
  return now.inode != 0 && now.inode != running_.inode && now != forgotten_;
}

void OwnProgram::forget() {
  forgotten_ = identity_of(path_.c_str());
}

}  // namespace datum::host
