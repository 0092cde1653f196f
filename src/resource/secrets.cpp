#include "datum/resource/secrets.hpp"

#include <array>

namespace datum::resource {

namespace {

std::string octal(std::uint32_t mode) {
  std::string text;
  for (int shift = 9; shift >= 0; shift -= 3)
    text.push_back(static_cast<char>('0' + (mode >> static_cast<unsigned>(shift) & 7U)));
  return text;
}

std::string describe(const os::FileStat& stat) {
  return "uid " + std::to_string(stat.uid) + ", mode " + octal(stat.mode);
}

}  // namespace

Status FolderSecrets::check_folder(const os::Handle& folder, const std::string& path) const {
  constexpr std::uint32_t kWritableByOthers = 0022;
  DATUM_ASSIGN(const auto stat, files_.stat(folder));
  if (stat.uid == trusted_uid_ && (stat.mode & kWritableByOthers) == 0) return {};
  return fail(ErrorCode::refused, path + " is not trusted with secrets (" + describe(stat) +
                                      "): it must belong to uid " + std::to_string(trusted_uid_) +
                                      " and be writable by nobody else");
}

Result<std::string> FolderSecrets::read(const os::Handle& parent, std::string_view name,
                                        const std::string& path) const {
  constexpr std::uint32_t kOpenToOthers = 0077;
  auto opened = files_.open_file_with_stat(parent, name, os::Access::read);
  if (!opened) return fail(std::move(opened).error().context(path));
  if (opened->stat.uid != trusted_uid_ || (opened->stat.mode & kOpenToOthers) != 0)
    return fail(ErrorCode::refused, path + " is not kept as a secret (" + describe(opened->stat) +
                                        "): it must belong to uid " + std::to_string(trusted_uid_) +
                                        " and have mode 0600");
  std::string value;
  std::array<std::byte, 4096> piece{};
  for (;;) {
    DATUM_ASSIGN(const auto count, files_.read(opened->handle, piece));
    if (count == 0) return value;
    value.append(as_text(ByteView(piece).first(count)));
    if (value.size() > kMaxSecret)
      return fail(ErrorCode::limit_exceeded, path + ": a secret has at most 1 MiB");
  }
}

Result<std::string> FolderSecrets::find(std::string_view name) const {
  if (folder_.empty()) return fail(ErrorCode::not_found, why_);
  auto folder = files_.open_root(folder_);
  if (!folder) return fail(std::move(folder).error().context(folder_));
  auto path = folder_;
  DATUM_TRY(check_folder(*folder, path));
  for (;;) {
    const auto slash = name.find('/');
    const auto part = name.substr(0, slash);
    path.append(1, '/').append(part);
    if (slash == std::string_view::npos) return read(*folder, part, path);
    auto below = files_.open_directory(*folder, part, os::Follow::no);
    if (!below) return fail(std::move(below).error().context(path));
    DATUM_TRY(check_folder(*below, path));
    folder = std::move(below);
    name.remove_prefix(slash + 1);
  }
}

}  // namespace datum::resource
