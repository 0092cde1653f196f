// A push in stages: who is in which, whether the running one went well, and what comes next. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/control/state.hpp"

namespace datum::control {

// More stages than this nobody follows.
inline constexpr std::size_t kMaxStages = 20;

// "1,10%,50%": how many of `nodes` have got it after each stage, ascending; a last stage for all is
// added where it is missing. Percentages are rounded up. `invalid_argument` in words.
[[nodiscard]] Result<std::vector<std::size_t>> read_stages(std::string_view text,
                                                           std::size_t nodes);

// How a node does with a generation that was released to it.
enum class Progress : std::uint8_t { good, waiting, bad };
// Good: it applied it, nothing failed, and it is converged, or only observes. Bad: it rejected it,
// or an action of its pass failed.
[[nodiscard]] Progress progress_of(const Node& node, const core::Generation& generation);

struct StageView {
  std::size_t released = 0, good = 0;
  std::vector<std::string> waiting, bad;  // without those that a person went on without
};
[[nodiscard]] StageView look_at_push(const State& state);
// In words, for `status`; empty where it has one stage.
[[nodiscard]] std::string stage_line(const State& state, WallNs now);

// What follows at `now`: nothing, a pause, or the next stage.
struct Advance {
  std::optional<core::control::PushPaused> pause;
  std::optional<std::uint32_t> next_stage;
};
[[nodiscard]] Advance advance_push(const State& state, WallNs now);

// A person's word. `conflict` where no staged push goes on.
[[nodiscard]] Result<core::control::PushResumed> resume_push(const State& state, core::Actor by);
[[nodiscard]] Result<core::control::PushAborted> abort_push(const State& state, std::string reason,
                                                            core::Actor by);

}  // namespace datum::control
