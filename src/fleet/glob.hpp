// Shell-like patterns over relative paths, for `exclude`. Private to the module; pure.
#pragma once

#include <string_view>

namespace datum::fleet {

// `*` and `?` do not cross a slash, `**` does; `[a-z]` and `[!a-z]` are one character. Bytes, not
// characters. Time is the product of both lengths, whatever the pattern.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view path);
// Whether `exclude: [pattern]` leaves that path out: a pattern without a slash is compared with the
// last name of the path, any other with all of it; slashes at both ends of the pattern do not
// count.
[[nodiscard]] bool glob_excludes(std::string_view pattern, std::string_view path);

}  // namespace datum::fleet
