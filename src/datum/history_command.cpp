// datum history: the records about one target, and at each drift what else lies in the window in
// which it happened.
#include "history_command.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "datum/engine/store.hpp"
#include "datum/inspect/attribution.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "machine_logs.hpp"
#include "print.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

constexpr std::size_t kEveryRecord = std::numeric_limits<std::size_t>::max() >> 1;
// A target that is fought over has thousands of drifts, and logs reach back a year at most.
constexpr std::size_t kMaxWindows = 100;

// Whether the journal is this machine's own: not an export, and not a store made from one.
bool is_own_store(const Arguments& arguments) {
  const auto path = story_path(arguments);
  std::error_code ignored;
  return arguments.journal.empty() && path && std::filesystem::is_directory(*path, ignored) &&
         !std::filesystem::exists(*path + "/" + std::string(engine::kImportedName), ignored);
}

// The logs of the root that the store is bound to. A copy of a journal may have come from anywhere.
inspect::LogsRead read_logs(const Arguments& arguments, const core::State& state,
                            const model::Target& target,
                            const std::vector<inspect::DriftWindow>& windows) {
  inspect::LogsRead logs;
  if (windows.empty()) return logs;
  if (!is_own_store(arguments)) {
    logs.not_read.emplace_back("logs: those of the machine that this copy came from are not here");
    return logs;
  }
  const auto files = os_linux::make_files();
  const auto root = files->open_root(state.root);
  if (!root) {
    logs.not_read.push_back("logs: " + root.error().message());
    return logs;
  }
  WallNs since = windows.front().from;
  for (const auto& window : windows) since = std::min(since, window.from);
  return read_machine_logs(*files, *root, target, since);
}

}  // namespace

Result<int> run_history(const Arguments& arguments) {
  DATUM_ASSIGN(const auto known, open_known_story(arguments));
  const auto& story = known.story;
  const auto& reader = story.reader;
  const auto& state = known.state;
  DATUM_ASSIGN(const auto target, find_target(state, arguments.target));
  DATUM_ASSIGN(const auto events, history::find_target(*reader, target, 1, kEveryRecord));
  if (events.empty())
    return fail(ErrorCode::not_found, target.text() + ": nothing is recorded about it");
  DATUM_ASSIGN(auto windows, inspect::find_drift_windows(*reader, events));
  if (windows.size() > kMaxWindows)
    windows.erase(windows.begin(), windows.end() - static_cast<std::ptrdiff_t>(kMaxWindows));
  const auto logs = read_logs(arguments, state, target, windows);
  std::map<Seq, inspect::DriftWindow> by_drift;
  for (const auto& window : windows) by_drift.emplace(window.drift, window);
  const auto style = output_style(arguments);
  for (const auto& stored : events) {
    print(arguments.json ? inspect::event_json(stored) : inspect::event_line(stored, style));
    const auto window = by_drift.find(stored.place.seq);
    if (window == by_drift.end()) continue;
    const auto report = inspect::make_drift_report(window->second, stored, logs);
    print(arguments.json ? inspect::drift_report_json(report, logs)
                         : inspect::drift_report_text(report, logs, style));
  }
  return 0;
}

}  // namespace datum::program
