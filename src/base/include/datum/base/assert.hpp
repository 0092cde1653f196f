// Assertions state what a programmer believes. They stay on in production and end the process; bad
// bytes from outside are never an assertion but an Error. The message names the file without its
// folder: where it was compiled is nobody's business.
#pragma once

namespace datum {
[[noreturn]] void assert_failed(const char* expression, const char* file, int line) noexcept;
}

#define DATUM_ASSERT(expression)       \
  ((expression) ? static_cast<void>(0) \
                : ::datum::assert_failed(#expression, __FILE_NAME__, __LINE__))
