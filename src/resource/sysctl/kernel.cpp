#include "kernel.hpp"

#include <algorithm>

#include "../path_facts.hpp"

namespace datum::resource {

namespace {

// The longest values are tables of a few hundred numbers.
constexpr std::size_t kMaxValue = 64 * 1024;

bool is_white(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

}  // namespace

bool is_live(const Machine& machine) {
  return machine.root_path == "/";
}

std::string kernel_path(std::string_view key) {
  std::string path("/proc/sys/");
  for (const char c : key) path.push_back(c == '.' ? '/' : c == '/' ? '.' : c);
  return path;
}

std::string collapsed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_white(c))
      result.push_back(c);
    else if (!result.empty() && result.back() != ' ')
      result.push_back(' ');
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

Result<std::optional<std::string>> read_kernel(Sight& sight, std::string_view key) {
  auto& files = sight.files();
  const auto where = sight.walker().locate(kernel_path(key));
  if (!where && is_missing(where.error())) return std::optional<std::string>();
  if (!where) return fail(where.error());
  const auto file = files.open_file(where->folder->handle, where->name, os::Access::read);
  if (!file && is_missing(file.error())) return std::optional<std::string>();
  if (!file) return fail(file.error());
  std::string text;
  const auto room = sight.buffer();
  while (text.size() < kMaxValue) {
    DATUM_ASSIGN(const auto count, files.read(*file, room));
    if (count == 0) break;
    text.append(as_text(room.first(count)));
  }
  return std::optional(collapsed(text));
}

Status write_kernel(Sight& sight, std::string_view key, std::string_view value) {
  auto& files = sight.files();
  const auto where = sight.walker().locate(kernel_path(key));
  if (!where) return fail(where.error());
  DATUM_ASSIGN(const auto file,
               files.open_file(where->folder->handle, where->name, os::Access::write));
  // The kernel keeps nothing of the old value anyway; a file that stands in for it would.
  DATUM_TRY(files.truncate(file, 0));
  return files.write(file, as_bytes(std::string(value).append(1, '\n')));
}

}  // namespace datum::resource
