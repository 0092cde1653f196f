// Names and numbers of users and groups, from the root's own passwd and group files, never through
// NSS: a name means the same on a dead machine's disk, under --root and on the live system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::os {

class Accounts {
 public:
  virtual ~Accounts() = default;
  // "root" and "0" are 0 even where the files are missing; a string of digits is that number. An
  // error: it is neither, and the file cannot be read, so that nobody knows whose name it is.
  [[nodiscard]] virtual Result<std::optional<std::uint32_t>> find_uid(std::string_view name) = 0;
  [[nodiscard]] virtual Result<std::optional<std::uint32_t>> find_gid(std::string_view name) = 0;
  // The first name with that number, or the number itself in digits; 0 is "root" if nothing else.
  [[nodiscard]] virtual std::string user_name(std::uint32_t uid) = 0;
  [[nodiscard]] virtual std::string group_name(std::uint32_t gid) = 0;
  // After something that may have made or removed accounts.
  virtual void refresh() = 0;
};

// Reads /etc/passwd and /etc/group below `root`, now and at each `refresh`; the files and what
// `root` has open are borrowed for as long as the result lives. Missing files are empty ones, lines
// that are not of the format are passed over, the first of several lines for one name or number
// counts. What cannot be read (a link, a folder, a FIFO, above 64 MiB: a million accounts) is known
// by number alone until a later `refresh` reads it. Any thread may call the result.
[[nodiscard]] std::unique_ptr<Accounts> read_accounts(Files& files, const Handle& root);

}  // namespace datum::os
