// A file that appears whole or not at all: written beside its name, synced, renamed, folder synced.
#pragma once

#include <string>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::program {

class DurableFile {
 public:
  // Creates `path` + ".part" (0600, emptied if it lies there from a dead process; a link is
  // refused). `invalid_argument` where `path` is a device, a pipe, a folder or a link: the rename
  // would replace it.
  [[nodiscard]] static Result<DurableFile> create(const std::string& path);
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;
  ~DurableFile();  // without a commit nothing remains

  [[nodiscard]] Status write(ByteView bytes);
  // After success `path` is durable with exactly what was written; an existing file was replaced.
  [[nodiscard]] Status commit();

 private:
  DurableFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace datum::program
