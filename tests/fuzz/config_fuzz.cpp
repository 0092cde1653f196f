// Any bytes → agent.yaml, hold, globs and quantities: nothing crashes, a fault never enforces, and
// a hold that is not clear is in force for ever.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datum/base/assert.hpp"
#include "datum/config/configuration.hpp"
#include "datum/config/glob.hpp"
#include "datum/config/hold.hpp"
#include "datum/config/quantity.hpp"

namespace {
using namespace datum;
using namespace datum::config;

void check_configuration(std::string_view bytes) {
  const auto parsed = parse_configuration("agent.yaml", "/etc/datum", bytes);
  const auto& mode = parsed.configuration.mode;
  DATUM_ASSERT(mode.value == Mode::observe || !mode.origin.is_default());
  for (const auto& line : describe(parsed.configuration))
    DATUM_ASSERT(parsed.faults.empty() || line.origin.is_default());
  for (std::uint8_t day = 0; day < 7; ++day) {
    const LocalTime noon{day, 720};
    const auto next = find_next_opening(parsed.configuration.windows.value, noon);
    DATUM_ASSERT(!next || is_open(parsed.configuration.windows.value, *next));
  }
}

void check_hold(std::string_view bytes) {
  const auto hold = parse_hold(bytes);
  DATUM_ASSERT(hold.present);
  DATUM_ASSERT(hold.fault.empty() || !hold.until);
  DATUM_ASSERT(hold.until || is_in_force(hold, {INT64_MAX}));
  DATUM_ASSERT(hold.reason.size() <= kMaxHoldReason);
  DATUM_ASSERT(!hold.now || hold.fault.empty());
}

void check_values(std::string_view bytes) {
  const auto cut = std::min(bytes.find('\n'), bytes.size());
  const auto glob = bytes.substr(0, std::min<std::size_t>(cut, 64));
  const auto text = bytes.substr(cut).substr(0, 256);
  DATUM_ASSERT(matches("*", text));
  DATUM_ASSERT(!matches(glob, text) || matches(std::string(glob) + "*", text));
  DATUM_ASSERT(!matches(glob, text) || matches("*" + std::string(glob), text));
  if (const auto duration = find_duration_ns(bytes))
    DATUM_ASSERT(find_duration_ns(format_exact_duration(*duration)) == duration);
  if (const auto size = find_size(bytes)) DATUM_ASSERT(find_size(format_exact_size(*size)) == size);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_configuration(bytes);
  check_hold(bytes);
  check_values(bytes);
  return 0;
}
