// Which mode an act runs in, and which term decided it (design §3). A minimum over terms: adding a
// term can only weaken. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/time.hpp"

namespace datum::core {

enum class Mode : std::uint8_t { observe = 1, enforce = 2 };
[[nodiscard]] std::string_view to_string(Mode mode);

// What decided. Numbers are stored.
enum class ModeTerm : std::uint8_t {
  absent = 1,         // no configuration says anything: observe
  configuration = 2,  // agent.yaml
  argument = 3,       // --mode, a person's act for one pass
  hold = 4,
  window = 5,
  policy = 6,        // the resource's own `policy: observe`
  observe_list = 7,  // the local list of agent.yaml
};
[[nodiscard]] std::string_view to_string(ModeTerm term);

struct EffectiveMode {
  Mode mode = Mode::observe;
  ModeTerm term = ModeTerm::absent;
  std::string reason;  // for people: "hold: database migration, until 14:00"
  bool operator==(const EffectiveMode&) const = default;
};

// The host's terms, as read at one moment.
struct ModeTerms {
  std::optional<Mode> configured;  // agent.yaml
  std::optional<Mode> argument;    // stands in for `configured` in one pass
  bool held = false;
  std::string hold_reason;
  bool outside_window = false;
  std::string window_reason;
};

// Terms are tried in the order hold, window, argument/configuration; the first that says observe
// names the reason. Nothing configured and no argument: observe by `absent`.
[[nodiscard]] EffectiveMode host_mode(const ModeTerms& terms);
// The resource's own restrictions on top of the host's.
[[nodiscard]] EffectiveMode resource_mode(const EffectiveMode& host, bool policy_observe,
                                          bool in_observe_list);

}  // namespace datum::core
