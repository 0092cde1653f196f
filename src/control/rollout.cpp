#include "datum/control/rollout.hpp"

#include <algorithm>
#include <charconv>

#include "datum/core/status.hpp"
#include "datum/text/human.hpp"

namespace datum::control {
namespace {

bool has_failed(const core::control::NodeReport& report) {
  return (report.flags & static_cast<std::uint32_t>(core::StatusFlag::failed)) != 0;
}

// Of a push that has more to release.
const Push* open_push(const State& state) {
  if (!state.push || state.push->is_aborted || state.push->planned.empty()) return nullptr;
  if (state.push->stage + 1 >= state.push->stages) return nullptr;
  return &*state.push;
}

Error no_open_push() {
  return {ErrorCode::conflict, "no push in stages waits for anything: `datum-control status`"};
}

std::optional<std::size_t> read_size(std::string_view word, std::size_t nodes) {
  const bool is_share = word.ends_with('%');
  if (is_share) word.remove_suffix(1);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number == 0) return std::nullopt;
  if (!is_share) return std::min(number, nodes);
  if (number > 100) return std::nullopt;
  return (nodes * number + 99) / 100;
}

}  // namespace

Result<std::vector<std::size_t>> read_stages(std::string_view text, std::size_t nodes) {
  std::vector<std::size_t> stages;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const auto size = read_size(word, nodes);
    if (!size)
      return fail(ErrorCode::invalid_argument, "--stages: '" + std::string(word) +
                                                   "' is no number of nodes and no share: 1,10%");
    if (!stages.empty() && *size < stages.back())
      return fail(ErrorCode::invalid_argument, "--stages: each has more nodes than the one before");
    if (stages.empty() || *size > stages.back()) stages.push_back(*size);
  }
  if (stages.empty() || stages.back() < nodes) stages.push_back(nodes);
  if (stages.size() > kMaxStages)
    return fail(ErrorCode::invalid_argument, "--stages: twenty at most");
  return stages;
}

Progress progress_of(const Node& node, const core::Generation& generation) {
  if (node.rejected == generation) return Progress::bad;
  const bool is_reported = node.report && node.report->accepted == generation;
  if (!is_reported || node.applied != generation) return Progress::waiting;
  if (has_failed(*node.report)) return Progress::bad;
  const bool only_observes = node.report->mode == core::Mode::observe;
  const bool is_done = only_observes || node.report->condition == core::Condition::converged;
  return is_done ? Progress::good : Progress::waiting;
}

StageView look_at_push(const State& state) {
  StageView view;
  if (!state.push) return view;
  for (const auto& [name, node] : state.nodes) {
    if (node.newest != state.push->begun.generation || node.standing != Standing::enrolled)
      continue;
    ++view.released;
    const auto progress = progress_of(node, node.newest);
    if (progress == Progress::good) ++view.good;
    if (state.push->without.count(name) != 0) continue;
    if (progress == Progress::waiting) view.waiting.push_back(name);
    if (progress == Progress::bad) view.bad.push_back(name);
  }
  return view;
}

std::string stage_line(const State& state, WallNs now) {
  if (!state.push || state.push->stages <= 1) return {};
  const auto& push = *state.push;
  const auto view = look_at_push(state);
  std::string line = "stage " + std::to_string(push.stage + 1) + " of " +
                     std::to_string(push.stages) + ": " + std::to_string(view.good) + " of " +
                     text::format_count(view.released, "node") + " done";
  if (push.is_aborted) return line + ", aborted";
  if (push.paused) return line + ", paused: " + push.paused->node + ": " + push.paused->reason;
  if (push.planned.empty()) return line + ", the last one";
  if (!view.waiting.empty())
    return line + ", waits for " + view.waiting.front() +
           (view.waiting.size() > 1 ? " and " + std::to_string(view.waiting.size() - 1) + " more"
                                    : "");
  const auto left = push.stage_begun.ns + push.soak_ns - now.ns;
  return line + ", the next in " + text::format_duration(std::max<std::int64_t>(left, 0));
}

Advance advance_push(const State& state, WallNs now) {
  const auto* push = open_push(state);
  if (push == nullptr || push->paused) return {};
  const auto view = look_at_push(state);
  if (!view.bad.empty()) {
    const auto& node = state.nodes.at(view.bad.front());
    const bool is_rejected = node.rejected == push->begun.generation;
    return {core::control::PushPaused{
                push->begun.generation, view.bad.front(),
                is_rejected ? "rejected it: " + node.rejected_why : "an action failed"},
            {}};
  }
  if (!view.waiting.empty() || now.ns - push->stage_begun.ns < push->soak_ns) return {};
  return {{}, push->stage + 1};
}

Result<core::control::PushResumed> resume_push(const State& state, core::Actor by) {
  const auto* push = open_push(state);
  if (push == nullptr) return fail(no_open_push());
  const auto view = look_at_push(state);
  core::control::PushResumed resumed{push->begun.generation, view.bad, std::move(by)};
  resumed.without.insert(resumed.without.end(), view.waiting.begin(), view.waiting.end());
  return resumed;
}

Result<core::control::PushAborted> abort_push(const State& state, std::string reason,
                                              core::Actor by) {
  const auto* push = open_push(state);
  if (push == nullptr) return fail(no_open_push());
  return core::control::PushAborted{push->begun.generation, std::move(reason), std::move(by)};
}

}  // namespace datum::control
