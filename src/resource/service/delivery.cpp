// What a unit can tell of a restart or reload afterwards. A start has an invocation of its own; a
// reload has none, but each change of the unit's state has a time, and a unit that was at rest
// before and has the same invocation since changes its state for a reload only.
#include <algorithm>
#include <array>
#include <charconv>

#include "datum/resource/wave.hpp"
#include "unit_facts.hpp"

namespace datum::resource {

namespace {

struct Moment {
  std::string invocation;
  std::uint64_t state_changed_us = 0;
  bool at_rest = false;  // it was active, and nobody's job was under way
};

// "INVOCATION changed=MICROSECONDS rest|between"; "-" for a unit that was never started.
std::optional<Moment> parse(std::string_view text) {
  constexpr std::string_view kChanged = " changed=";
  const auto at = text.find(kChanged);
  if (at == std::string_view::npos) return {};
  Moment moment;
  moment.invocation = text.substr(0, at);
  const auto* const end = text.data() + text.size();
  const auto number =
      std::from_chars(text.data() + at + kChanged.size(), end, moment.state_changed_us);
  if (number.ec != std::errc{}) return {};
  moment.at_rest =
      std::string_view(number.ptr, static_cast<std::size_t>(end - number.ptr)) == " rest";
  return moment;
}

std::string invocation_of(const os::Unit& unit) {
  return unit.invocation.empty() ? "-" : unit.invocation;
}

Told tell_reload(const Moment& before, const os::Unit& unit) {
  if (unit.state_changed_us == before.state_changed_us) return Told::did_not;
  if (!before.at_rest) return Told::untellable;
  return unit.reload_result.empty() || unit.reload_result == "success" ? Told::happened
                                                                       : Told::failed;
}

}  // namespace

std::string describe_moment(const os::Unit& unit) {
  const bool at_rest = unit.active_state == "active" && !unit.has_job;
  return invocation_of(unit) + " changed=" + std::to_string(unit.state_changed_us) +
         (at_rest ? " rest" : " between");
}

// A unit that was started since has read what was there, whoever started it.
Told tell_delivery(const std::string& moment, bool restart, bool same_boot, const os::Unit& unit) {
  const auto before = parse(moment);
  if (!before || !unit.problem.empty() || unit.has_job) return Told::untellable;
  if (!is_running(unit)) return Told::did_not;
  if (!same_boot || invocation_of(unit) != before->invocation) return Told::happened;
  if (restart) return Told::did_not;
  return tell_reload(*before, unit);
}

std::int64_t settle_ns(const model::Resource& service) {
  constexpr std::int64_t kDefaultMs = 2000;
  const auto written = service.text(model::Field::settle);
  const auto given = model::find_duration_ms(written);
  return given.value_or(kDefaultMs) * kNsPerMs;
}

}  // namespace datum::resource
