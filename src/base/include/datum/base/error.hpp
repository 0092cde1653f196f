// Errors are values: a closed code that callers branch on, the errno it came from (0 if none), and
// a text that grows on the way up. `Result<T>` is the only way a Datum function reports failure;
// ignoring one is a compile-time warning and a lint error. Nothing here logs or throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace datum {

// Closed set. Callers branch on these; the text is for people only. Order is free, names are
// stable.
enum class ErrorCode : std::uint8_t {
  invalid_argument,     // the caller's input is wrong and will stay wrong
  not_found,            // ENOENT and its kin
  already_exists,       // EEXIST
  permission_denied,    // EACCES, EPERM
  corrupt,              // bytes that are not what they must be
  unsupported_version,  // newer than this program reads
  io_error,             // EIO and other faults of a device
  no_space,             // ENOSPC, EDQUOT
  read_only,            // EROFS
  busy,                 // EBUSY, ETXTBSY, a lock that somebody else holds
  timed_out,
  cancelled,
  conflict,        // the world changed since it was looked at
  refused,         // a rule of Datum's forbids it (brake, trust, bound store)
  unavailable,     // a bus, tool or service is not there
  limit_exceeded,  // a documented limit
  not_directory,   // ENOTDIR
  is_directory,    // EISDIR
  symlink,         // a link where none may be followed (ELOOP)
  cross_device,    // EXDEV
  not_empty,       // ENOTEMPTY
  unsupported,     // EOPNOTSUPP, ENOSYS
  internal,        // a library failed in a way that has no name here
};

[[nodiscard]] std::string_view to_string(ErrorCode code);

class Error {
 public:
  Error(ErrorCode code, std::string message, int sys_errno = 0)
      : message_(std::move(message)), sys_errno_(sys_errno), code_(code) {}

  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] int sys_errno() const { return sys_errno_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  // Puts "what: " in front of the message: the outermost caller reads first.
  [[nodiscard]] Error context(std::string_view what) && {
    message_.insert(0, std::string(what) + ": ");
    return std::move(*this);
  }

 private:
  std::string message_;
  int sys_errno_;
  ErrorCode code_;
};

// Maps an errno value to the closed code; the message is "what: strerror".
[[nodiscard]] Error error_from_errno(int sys_errno, std::string_view what);

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error(code, std::move(message)));
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace datum

// Leaves the function with the error of `expr`, if it has one.
#define DATUM_TRY(expr)                                          \
  do {                                                           \
    if (auto datum_try_result = (expr); !datum_try_result)       \
      return ::datum::fail(std::move(datum_try_result).error()); \
  } while (false)

#define DATUM_CONCAT_INNER(a, b) a##b
#define DATUM_CONCAT(a, b) DATUM_CONCAT_INNER(a, b)

// `DATUM_ASSIGN(auto x, f());` binds the value of `f()` or leaves the function with its error.
#define DATUM_ASSIGN(decl, expr) \
  DATUM_ASSIGN_INNER(DATUM_CONCAT(datum_result_, __LINE__), decl, expr)
#define DATUM_ASSIGN_INNER(tmp, decl, expr)               \
  auto tmp = (expr);                                      \
  if (!tmp) return ::datum::fail(std::move(tmp).error()); \
  decl = std::move(*tmp)
