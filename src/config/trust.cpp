#include "datum/config/trust.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace datum::config {

Status check_trusted(const os::FileStat& stat, std::string_view path, std::uint32_t trusted_uid) {
  constexpr std::uint32_t kOthersWrite = 0022;
  const std::string name(path);
  if (stat.uid != trusted_uid) {
    const auto owner = trusted_uid == 0 ? "root" : "uid " + std::to_string(trusted_uid);
    return fail(ErrorCode::refused, name + " belongs to uid " + std::to_string(stat.uid) +
                                        " and must belong to " + owner + ": chown " +
                                        std::to_string(trusted_uid) + " " + name);
  }
  if ((stat.mode & kOthersWrite) != 0) {
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", stat.mode & 07777U);
    return fail(ErrorCode::refused, name + " can be written by others than its owner (mode " +
                                        mode.data() + "): chmod go-w " + name);
  }
  return {};
}

}  // namespace datum::config
