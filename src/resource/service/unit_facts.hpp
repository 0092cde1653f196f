// What a unit's words mean for a Service: the one table of unit file states, and how declared
// fields compare with them (documents.md, Service). Pure.
#pragma once

#include <string_view>
#include <vector>

#include "datum/core/observation.hpp"
#include "datum/model/manifest.hpp"
#include "datum/os/units.hpp"

namespace datum::resource {

// Whether a unit is started at boot, as far as its file tells.
enum class Startup : std::uint8_t {
  on,        // by its own installation, and lasting
  off,       // not, or for this boot only
  masked,    // never started, whatever is installed
  none,      // there is no file
  no_answer  // static, indirect, generated, …: other units decide, or something makes it anew
};
// In place of "enabled-runtime", where a generator says so anew at each boot (unit_links.hpp).
inline constexpr std::string_view kByGenerator = "enabled by a generator";
[[nodiscard]] Startup startup_of(std::string_view file_state);
[[nodiscard]] bool is_masked(const os::Unit& unit);
[[nodiscard]] bool exists(const os::Unit& unit);
// "running", "stopped", "failed", "activating (auto-restart)".
[[nodiscard]] std::string describe_activity(const os::Unit& unit);

struct Comparison {
  std::vector<core::FieldDrift> drifts;
  std::string warning;  // what of the declaration cannot be observed here
};
[[nodiscard]] Comparison compare(const model::Resource& service, const os::Unit& unit);

}  // namespace datum::resource
