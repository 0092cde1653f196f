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

static Status check_folder(os::Files& files, const std::string& path, std::uint32_t trusted_uid,
                           bool sticky_will_do) {
  constexpr std::uint32_t kOthersWrite = 0022;
  constexpr std::uint32_t kSticky = 01000;
  const auto handle = files.open_root(path);
  if (!handle) return {};  // whoever goes there makes it, or says why that cannot be
  DATUM_ASSIGN(const auto stat, files.stat(*handle));
  if (stat.uid != trusted_uid && stat.uid != 0)
    return fail(ErrorCode::refused, path + " belongs to uid " + std::to_string(stat.uid) +
                                        ", who could put something else in its place: use a "
                                        "folder of root's own");
  const bool open = (stat.mode & kOthersWrite) != 0;
  if (!open || (sticky_will_do && (stat.mode & kSticky) != 0)) return {};
  return fail(ErrorCode::refused, path + " can be written by others: run chmod go-w " + path);
}

Status check_way(os::Files& files, const std::string& path, std::uint32_t trusted_uid) {
  DATUM_TRY(check_folder(files, path, trusted_uid, false));
  for (auto slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1))
    DATUM_TRY(check_folder(files, path.substr(0, slash), trusted_uid, true));
  return check_folder(files, "/", trusted_uid, true);
}

}  // namespace datum::config
