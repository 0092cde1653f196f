// Which files of a fleet folder are read, and their bytes. Private to the module.
#pragma once

#include <string>
#include <vector>

#include "documents.hpp"

namespace datum::fleet {

// A fleet with more files than this is a mistake in `root`, such as a home folder.
inline constexpr std::size_t kMaxFiles = 100'000;
// Folders inside one another: deeper ones are a mistake too, and each level holds a descriptor.
inline constexpr std::size_t kMaxFolderDepth = 64;
// Of one file of documents: several documents of the greatest size.
inline constexpr std::uint64_t kMaxDocumentFile = 64U << 20;

// Of all files together: they are held in memory while they are read.
inline constexpr std::uint64_t kMaxFleetBytes = 1ULL << 30;

struct Found {
  std::vector<std::string> files;  // relative paths, sorted; `datum.yaml` among them
  Faults faults;                   // by index into `files`, which may hold unread names for that
};

// All `*.yaml` and `*.yml` that are not excluded: no dot names, no linked folders.
[[nodiscard]] Found find_files(SourceFiles& sources, const std::vector<std::string>& exclude);

// "a/b" of "a/b/c.yaml"; empty for a file in the root.
[[nodiscard]] std::string folder_of_file(const std::string& file);

}  // namespace datum::fleet
