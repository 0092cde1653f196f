// The files of one Repository as they lie on the machine and as they are to be. Internal to
// resource.
#pragma once

#include <optional>
#include <string>

#include "../provider.hpp"
#include "sources.hpp"

namespace datum::resource {

// apt's own limits are far below: a key ring of every Debian developer is 30 MiB, one repository's
// a few kilobytes.
inline constexpr std::uint64_t kMaxRepositoryFile = 1ULL << 20U;

// A regular file of a Repository; nothing if its name is free.
struct RepositoryFile {
  os::FileStat stat;
  std::string text;
};
// Errors: whatever is in the way, or lies there and is no regular file.
[[nodiscard]] Result<std::optional<RepositoryFile>> read_repository_file(Sight& sight,
                                                                         const std::string& path);
// Readable by everybody (apt fetches as a user of its own) and writable by root alone.
[[nodiscard]] bool is_well_kept(const Sight& sight, const os::FileStat& stat);

// The declared key; nothing for an unsigned one. `conflict` if its bytes are not those.
[[nodiscard]] Result<std::optional<std::string>> read_key(Sight& sight,
                                                          const model::Resource& repository);
// Where that key belongs: an armoured one into .asc, which apt tells by the name.
[[nodiscard]] std::string key_path(const model::Resource& repository, std::string_view key);

// All files as they are to be; what is not given must not be there, or stays as it is.
struct WantedFiles {
  std::string key_file;  // path; empty: none
  std::string key;
  std::string list;
  std::optional<std::string> pin;  // nothing: undeclared
};
[[nodiscard]] Result<WantedFiles> wanted_files(Sight& sight, const model::Resource& repository,
                                               const std::optional<RepositoryFile>& list);

}  // namespace datum::resource
