// How modes, paths and durations are written. A path is never repaired silently: the message shows
// the corrected spelling, because what is reviewed must be what is applied.
#include <algorithm>
#include <charconv>
#include <vector>

#include "datum/base/assert.hpp"
#include "datum/model/manifest.hpp"

namespace datum::model {
namespace {

bool is_octal(std::string_view text) {
  return text.find_first_not_of("01234567") == std::string_view::npos;
}

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  return parts;
}

std::string corrected(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const auto part : split_path(path)) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      kept.push_back(part);
    else if (!kept.empty())
      kept.pop_back();
  }
  std::string result;
  for (const auto part : kept) result.append(1, '/').append(part);
  return result.empty() ? "/" : result;
}

}  // namespace

Result<std::string> normalise_mode(std::string_view written) {
  if ((written.size() != 3 && written.size() != 4) || !is_octal(written))
    return fail(ErrorCode::invalid_argument,
                "a mode is 3 or 4 octal digits in quotes, for example \"0644\"");
  return written.size() == 3 ? "0" + std::string(written) : std::string(written);
}

std::uint32_t mode_bits(std::string_view normalised) {
  DATUM_ASSERT(normalised.size() == 4 && is_octal(normalised));
  std::uint32_t bits = 0;
  for (const char digit : normalised) bits = bits * 8 + static_cast<std::uint32_t>(digit - '0');
  return bits;
}

// NAME_MAX of every file system that Linux boots from.
static constexpr std::size_t kMaxComponent = 255;

// What is wrong with the components of a path, found in one walk over its bytes.
struct Faults {
  bool has_long_name = false;
  bool has_nul = false;
  bool is_normalised = true;  // no component that `corrected` would leave out
};

static Faults find_faults(std::string_view path) {
  Faults faults;
  std::size_t begin = 1;
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/') {
      faults.has_nul |= path[at] == '\0';
      continue;
    }
    const auto part = path.substr(begin, at - begin);
    faults.has_long_name |= part.size() > kMaxComponent;
    faults.is_normalised &= !part.empty() && part != "." && part != "..";
    begin = at + 1;
  }
  faults.is_normalised |= path == "/";
  return faults;
}

Status check_path(std::string_view path) {
  if (path.empty() || path.front() != '/')
    return fail(ErrorCode::invalid_argument, "a path begins with /");
  // The kernel's PATH_MAX counts the NUL at the end.
  if (path.size() >= kMaxPath)
    return fail(ErrorCode::limit_exceeded,
                "a path has at most " + std::to_string(kMaxPath - 1) + " bytes");
  const auto faults = find_faults(path);
  if (faults.has_long_name)
    return fail(ErrorCode::limit_exceeded,
                "one name of a path has at most " + std::to_string(kMaxComponent) + " bytes");
  if (faults.has_nul) return fail(ErrorCode::invalid_argument, "a path holds no NUL");
  if (faults.is_normalised) return {};
  return fail(ErrorCode::invalid_argument, "write it as " + corrected(path));
}

std::optional<std::int64_t> find_duration_ms(std::string_view text) {
  constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || count < 0 || count > kDayMs || text.front() == '-')
    return std::nullopt;
  const auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::int64_t unit_ms = unit == "ms"  ? 1
                               : unit == "s" ? 1000
                               : unit == "m" ? 60'000
                               : unit == "h" ? 3'600'000
                                             : 0;
  if (unit_ms == 0 || count > kDayMs / unit_ms) return std::nullopt;
  return count * unit_ms;
}

}  // namespace datum::model
