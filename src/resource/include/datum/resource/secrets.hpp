// Secrets by name, for this machine only: their values go into files and accounts, and nowhere
// else. Looked up anew in every pass, so that a rotated one is drift.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/os/files.hpp"

namespace datum::resource {

// Certificates with their chains are tens of kilobytes.
inline constexpr std::size_t kMaxSecret = 1024 * 1024;

class Secrets {
 public:
  virtual ~Secrets() = default;
  // Its bytes as they are. `not_found`: there is none of that name; `refused`: others could have
  // read or changed it; the message names what is to be mended and never holds a value. Any thread.
  [[nodiscard]] virtual Result<std::string> find(std::string_view name) const = 0;
};

// One file a secret: `a/b` is the file b in the folder a. Folders must be the trusted user's and
// writable by nobody else, the file the trusted user's and closed to everybody else (0600, 0400);
// no link is followed. The service manager's credentials have this form too.
class FolderSecrets final : public Secrets {
 public:
  // `files` is borrowed. An empty `folder` has no secrets; `why` is said instead.
  FolderSecrets(os::Files& files, std::string folder, std::uint32_t trusted_uid,
                std::string why = {})
      : files_(files),
        folder_(std::move(folder)),
        trusted_uid_(trusted_uid),
        why_(std::move(why)) {}

  [[nodiscard]] Result<std::string> find(std::string_view name) const override;

 private:
  [[nodiscard]] Status check_folder(const os::Handle& folder, const std::string& path) const;
  [[nodiscard]] Result<std::string> read(const os::Handle& parent, std::string_view name,
                                         const std::string& path) const;

  os::Files& files_;
  std::string folder_;
  std::uint32_t trusted_uid_;
  std::string why_;
};

}  // namespace datum::resource
