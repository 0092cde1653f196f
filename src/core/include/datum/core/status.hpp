// The host's condition and flags, computed from the state alone by one function that node and
// control plane share (design §4). The word does not depend on any mode.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "datum/core/state.hpp"

namespace datum::core {

// Bits are stored.
enum class StatusFlag : std::uint32_t {
  failed = 1 << 0,
  degraded = 1 << 1,
  partial = 1 << 2,
  awaiting_reboot = 1 << 3,
  observing = 1 << 4,
  mixed_mode = 1 << 5,
  held = 1 << 6,
  disconnected = 1 << 7,
  stale = 1 << 8,
  store_lost = 1 << 9,
  unrecorded = 1 << 10,
  contested = 1 << 11,
  unconfirmed = 1 << 12,
};
[[nodiscard]] std::string_view to_string(StatusFlag flag);  // "awaiting-reboot"
[[nodiscard]] std::vector<StatusFlag> flags_in(std::uint32_t bits);

struct HostStatus {
  Condition condition = Condition::unknown;
  std::uint32_t flags = 0;
  Counts counts;  // of the resources of the last pass
  std::uint32_t observed_only_drifted = 0;
  std::uint32_t acknowledged_drifted = 0;
  std::uint32_t pending_notifications = 0;
  // Targets that left the declaration, are Datum's to remove and are still there.
  std::uint32_t leaving = 0;
  std::string_view reason;  // why unknown: a constant text, empty otherwise
};

struct StatusInput {
  WallNs now;
  BootNs mono;  // with `boot`, of the same moment; without a boot the wall clock alone counts
  Id128 boot;
  std::int64_t timer_period_ns = 30LL * 60 * kNsPerSecond;
  bool timer_expected = false;  // a service runs passes by itself; only then can a host be stale
};
[[nodiscard]] HostStatus compute_status(const State& state, const StatusInput& input);
// The targets that are contested at that moment, in their order.
[[nodiscard]] std::vector<model::Target> contested_targets(const State& state,
                                                           const StatusInput& input);

// What is pending, by unit: as a pass that only observes reports it.
[[nodiscard]] std::vector<NotificationOutcome> pending_outcomes(const State& state);

// The acknowledgements that stand at `now`, by target (design §4: they change alerts and filters,
// never the word).
using Acknowledgements = std::map<model::Target, Acknowledgement>;
[[nodiscard]] Acknowledgements standing_acknowledgements(const State& state, WallNs now);

// 0 converged, 2 drifted, 4 unknown.
[[nodiscard]] int exit_code(Condition condition);

}  // namespace datum::core
