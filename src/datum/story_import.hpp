// A store from an export, for reading: nothing runs a pass on it.
#pragma once

#include <string>

#include "datum/history/story.hpp"

namespace datum::program {

struct ImportedStore {
  std::string folder;
  journal::Head head;
  std::size_t contents = 0;
};
// `folder` must be missing (then it is made, 0700) or empty. Its journal appears last, so a folder
// with one is complete. After an error nothing is left.
[[nodiscard]] Result<ImportedStore> import_store(const std::string& file,
                                                 const std::string& folder);

// What an import left that was cut off: its mark, or a part of it, and no journal. Empty: nothing.
[[nodiscard]] std::string words_of_cut_import(const std::string& folder);

}  // namespace datum::program
