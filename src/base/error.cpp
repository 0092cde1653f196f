#include "datum/base/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include "datum/base/assert.hpp"

namespace datum {

std::string_view to_string(ErrorCode code) {
  static constexpr std::array<std::string_view, 23> kNames = {"invalid argument",
                                                              "not found",
                                                              "already exists",
                                                              "permission denied",
                                                              "corrupt",
                                                              "unsupported version",
                                                              "input/output error",
                                                              "no space",
                                                              "read-only",
                                                              "busy",
                                                              "timed out",
                                                              "cancelled",
                                                              "conflict",
                                                              "refused",
                                                              "unavailable",
                                                              "limit exceeded",
                                                              "not a directory",
                                                              "is a directory",
                                                              "symbolic link",
                                                              "other file system",
                                                              "not empty",
                                                              "unsupported",
                                                              "internal error"};
  static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::internal) + 1);
  const auto index = static_cast<std::size_t>(code);
  DATUM_ASSERT(index < kNames.size());
  return kNames[index];
}

static ErrorCode code_from_errno(int sys_errno) {
  switch (sys_errno) {
    case ENOENT:
    case ESRCH:
    case ENODEV:
    case ENXIO:
    case ENODATA:
      return ErrorCode::not_found;
    case EEXIST:
      return ErrorCode::already_exists;
    case EACCES:
    case EPERM:
      return ErrorCode::permission_denied;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::no_space;
    case EROFS:
      return ErrorCode::read_only;
    case EBUSY:
    case ETXTBSY:
    case EAGAIN:
      return ErrorCode::busy;
    case ETIMEDOUT:
      return ErrorCode::timed_out;
    case ECANCELED:
      return ErrorCode::cancelled;
    case EINVAL:
    case ENAMETOOLONG:
    case EBADF:
      return ErrorCode::invalid_argument;
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case E2BIG:
    case ENOMEM:
      return ErrorCode::limit_exceeded;
    case ENOTDIR:
      return ErrorCode::not_directory;
    case EISDIR:
      return ErrorCode::is_directory;
    case ELOOP:
      return ErrorCode::symlink;
    case EXDEV:
      return ErrorCode::cross_device;
    case ENOTEMPTY:
      return ErrorCode::not_empty;
    case EOPNOTSUPP:
    case ENOSYS:
      return ErrorCode::unsupported;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case ENOTCONN:
      return ErrorCode::unavailable;
    default:
      return ErrorCode::io_error;
  }
}

Error error_from_errno(int sys_errno, std::string_view what) {
  std::array<char, 128> buffer{};
  const char* text = strerror_r(sys_errno, buffer.data(), buffer.size());
  return {code_from_errno(sys_errno), std::string(what) + ": " + text, sys_errno};
}

}  // namespace datum
