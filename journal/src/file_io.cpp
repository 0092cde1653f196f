#include "file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace datum::journal {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Fd> open_at(int folder, const std::string& name, int flags) {
  for (;;) {
    const int fd =
        ::openat(folder, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0) return Fd(fd);
    if (errno != EINTR) return fail(error_from_errno(errno, "open " + name));
  }
}

Result<Fd> open_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail(error_from_errno(errno, "open " + path));
  return Fd(fd);
}

Status read_exact(int fd, std::uint64_t offset, MutableByteView out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got =
        ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got == 0) return fail(ErrorCode::corrupt, "the file is shorter than it says");
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(error_from_errno(errno, "read"));
    done += static_cast<std::size_t>(got);
  }
  return {};
}

Status write_all(int fd, ByteView bytes) {
  while (!bytes.empty()) {
    const auto put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(error_from_errno(errno, "write"));
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Status sync_fd(int fd, std::string_view what) {
  // An interrupted fsync has synced nothing that may be relied on: it is tried again.
  while (::fsync(fd) != 0)
    if (errno != EINTR) return fail(error_from_errno(errno, "sync " + std::string(what)));
  return {};
}

Status replace_file(int folder, const std::string& name, std::string_view text,
                    const StepHook& hook) {
  const auto reach = [&hook](std::string_view point) {
    if (hook) hook(point);
  };
  const std::string part = name + ".part";
  // Made anew: what has the name may be another name of somebody's file.
  if (::unlinkat(folder, part.c_str(), 0) != 0 && errno != ENOENT)
    return fail(error_from_errno(errno, "remove " + part));
  DATUM_ASSIGN(const Fd fd, open_at(folder, part, O_WRONLY | O_CREAT | O_EXCL));
  DATUM_TRY(write_all(fd.get(), as_bytes(text)));
  reach("before sync of the mark");
  DATUM_TRY(sync_fd(fd.get(), part));
  reach("after sync of the mark");
  reach("before renaming the mark");
  if (::renameat(folder, part.c_str(), folder, name.c_str()) != 0)
    return fail(error_from_errno(errno, "rename " + part));
  reach("after renaming the mark");
  reach("before sync of the mark's name");
  DATUM_TRY(sync_fd(folder, "the folder of " + name));
  reach("after sync of the mark's name");
  return {};
}

Result<PathParts> split_path(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == path.size() - 1 || path.empty())
    return fail(ErrorCode::invalid_argument, "'" + path + "' names no file");
  if (slash == std::string::npos) return PathParts{".", path};
  return PathParts{slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace datum::journal
