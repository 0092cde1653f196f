#include "datum/config/quantity.hpp"

#include <array>
#include <charconv>

#include "datum/base/time.hpp"

namespace datum::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

// Largest first.
constexpr std::array kTimeUnits = {
    Unit{"d", 86'400ULL * kNsPerSecond}, Unit{"h", 3'600ULL * kNsPerSecond},
    Unit{"m", 60ULL * kNsPerSecond}, Unit{"s", kNsPerSecond}, Unit{"ms", kNsPerMs}};
constexpr std::array kSizeUnits = {Unit{"TiB", 1ULL << 40U}, Unit{"GiB", 1ULL << 30U},
                                   Unit{"MiB", 1ULL << 20U}, Unit{"KiB", 1ULL << 10U},
                                   Unit{"B", 1}};

// No timer of Datum runs longer, and the sum with any clock stays within 64 bits.
constexpr std::uint64_t kLongest = 36'525ULL * 86'400ULL * kNsPerSecond;
// Sixteen of the largest file systems.
constexpr std::uint64_t kLargest = 1ULL << 50U;

template <std::size_t N>
std::optional<std::uint64_t> find_quantity(std::string_view text, const std::array<Unit, N>& units,
                                           std::uint64_t limit) {
  std::uint64_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || (text.front() == '0' && rest != text.data() + 1)) return std::nullopt;
  const std::string_view name(rest, static_cast<std::size_t>(end - rest));
  for (const auto& unit : units) {
    if (unit.name != name) continue;
    if (number > limit / unit.size) return std::nullopt;
    return number * unit.size;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string format_exact(std::uint64_t value, const std::array<Unit, N>& units) {
  for (const auto& unit : units)
    if (value != 0 && value % unit.size == 0)
      return std::to_string(value / unit.size) + std::string(unit.name);
  return {};
}

}  // namespace

std::optional<std::int64_t> find_duration_ns(std::string_view text) {
  const auto value = find_quantity(text, kTimeUnits, kLongest);
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string format_exact_duration(std::int64_t ns) {
  const auto text = format_exact(static_cast<std::uint64_t>(ns), kTimeUnits);
  return text.empty() ? "0s" : text;
}

std::optional<std::uint64_t> find_size(std::string_view text) {
  return find_quantity(text, kSizeUnits, kLargest);
}

std::string format_exact_size(std::uint64_t bytes) {
  const auto text = format_exact(bytes, kSizeUnits);
  return text.empty() ? "0B" : text;
}

}  // namespace datum::config
