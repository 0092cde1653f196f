// A file mapped for reading. Private pages: later writes to the file may or may not show, so every
// content that is read from it is checked against its digest by whoever reads.
#pragma once

#include <memory>
#include <string>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::program {

class MappedFile {
 public:
  // `invalid_argument`: empty, or not a regular file.
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  // The same of an open file, which may be closed afterwards; `name` is for messages.
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> map(int descriptor,
                                                                     const std::string& name);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] ByteView bytes() const { return {static_cast<const std::byte*>(at_), size_}; }

 private:
  MappedFile(void* at, std::size_t size) : at_(at), size_(size) {}
  void* at_;
  std::size_t size_;
};

}  // namespace datum::program
