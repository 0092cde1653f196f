#include "small_file.hpp"

#include <array>

namespace datum::config {

Result<std::string> read_small_file(os::Files& files, const os::Handle& file, std::size_t limit) {
  std::string bytes;
  std::array<std::byte, 4096> buffer{};
  while (true) {
    DATUM_ASSIGN(const auto size, files.read(file, buffer));
    if (size == 0) return bytes;
    bytes += as_text(ByteView(buffer).first(size));
    if (bytes.size() > limit)
      return fail(ErrorCode::limit_exceeded, "larger than " + std::to_string(limit) + " bytes");
  }
}

}  // namespace datum::config
