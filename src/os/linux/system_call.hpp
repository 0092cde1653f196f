// What every system call of this folder needs: repetition after a signal, and errno as an Error.
#pragma once

#include <cerrno>
#include <string_view>

#include "datum/base/error.hpp"

namespace datum::os_linux {

// Calls again while a signal interrupted it.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

[[nodiscard]] inline tl::unexpected<Error> error_of(int reason, std::string_view what) {
  return fail(error_from_errno(reason, what));
}
[[nodiscard]] inline tl::unexpected<Error> last_error(std::string_view what) {
  return error_of(errno, what);
}
[[nodiscard]] inline Status status_of(int result, std::string_view what) {
  if (result < 0) return last_error(what);
  return {};
}

}  // namespace datum::os_linux
