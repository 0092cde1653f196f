// A folder of one test below $TMPDIR, with all that was put into it removed at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace datum::support {

class ScratchFolder {
 public:
  // `word` tells in whose test it was made, should it be left behind.
  explicit ScratchFolder(const std::string& word) {
    path = (std::filesystem::temp_directory_path() / ("datum-" + word + "-XXXXXX")).string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no scratch folder " + path);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path;
};

}  // namespace datum::support
