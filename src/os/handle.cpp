// What belongs to the interface of Files itself: handles, names of types, the rule for names.
#include <array>
#include <cstring>

#include "datum/base/assert.hpp"
#include "datum/os/files.hpp"

namespace datum::os {

// NAME_MAX of every file system Datum manages; longer names fail there anyway, later and less
// clearly.
static constexpr std::size_t kMaxNameBytes = 255;

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    if (files_ != nullptr && value_ >= 0) files_->close(value_);
    files_ = std::exchange(other.files_, nullptr);
    value_ = std::exchange(other.value_, -1);
  }
  return *this;
}

Handle::~Handle() {
  if (files_ != nullptr && value_ >= 0) files_->close(value_);
}

std::string_view to_string(FileType type) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "regular file", "directory",        "symbolic link", "FIFO",
      "socket",       "character device", "block device",  "unknown type"};
  static_assert(kNames.size() == static_cast<std::size_t>(FileType::unknown) + 1);
  const auto index = static_cast<std::size_t>(type);
  DATUM_ASSERT(index < kNames.size());
  return kNames[index];
}

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || name == "." || name == "..") return false;
  return std::memchr(name.data(), '/', name.size()) == nullptr &&
         std::memchr(name.data(), '\0', name.size()) == nullptr;
}

}  // namespace datum::os
