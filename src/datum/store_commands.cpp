// status, owned, history: what a store says. Nothing is written.
#include <algorithm>
#include <filesystem>

#include "commands.hpp"
#include "datum/history/archive.hpp"
#include "datum/history/missing.hpp"
#include "datum/host/service_status.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/session.hpp"
#include "datum/resource/observer.hpp"
#include "datum/uv/uv_loop.hpp"
#include "history_command.hpp"
#include "print.hpp"
#include "service_client.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

// A service that runs passes by itself can be late with them.
void add_service(core::StatusInput& now, const host::ServiceFacts& service) {
  now.timer_expected = service.interval_ns > 0;
  if (now.timer_expected) now.timer_period_ns = service.interval_ns;
}

void add_service(core::HostStatus& status, std::vector<std::string>& faults,
                 const host::ServiceFacts& service) {
  if (!service.rejected.empty())
    faults.push_back("agent.yaml is not in force: " + service.rejected);
  if (!service.problem.empty()) faults.push_back("no pass can run: " + service.problem);
  if (service.unrecorded.empty()) return;
  faults.push_back("nothing can be recorded: " + service.unrecorded);
  host::add_unrecorded(status);
}

// The store may have been waited for already: all of it takes no longer than that may alone.
std::int64_t answer_within_ns(std::int64_t spent_ns) {
  constexpr std::int64_t kWholeNs = 10 * kNsPerSecond;
  constexpr std::int64_t kMostNs = 5 * kNsPerSecond;
  constexpr std::int64_t kLeastNs = kNsPerSecond / 10;
  return std::clamp(kWholeNs - spent_ns, kLeastNs, kMostNs);
}

// What a person can do about what a lost store had owned.
void add_orphans(std::vector<std::string>& faults, const core::State& state) {
  if (!state.loss || !state.last_pass || state.orphans.empty()) return;
  const auto count = state.orphans.size();
  faults.push_back("the store that was here before is lost (" +
                   std::string(core::to_string(state.loss->kind)) + "), and " +
                   std::to_string(count) + (count == 1 ? " target" : " targets") +
                   " that it owned, declared by nothing, wait for a decision: `datum owned "
                   "--orphans` looks at them, `datum adopt --orphans` lets them stay, `datum "
                   "remove --orphans` removes what is as Datum left it");
}

Result<int> run_status(const Arguments& arguments) {
  const auto clock = uv::make_clock();
  const auto began = clock->boot_now();
  DATUM_ASSIGN(const auto known, open_known_story(arguments));
  const auto& state = known.state;
  core::StatusInput now{clock->wall_now(), clock->boot_now(), clock->boot_id()};
  const auto asked =
      find_service_facts(arguments, answer_within_ns(clock->boot_now().ns - began.ns));
  const auto service = asked ? *asked : std::nullopt;
  if (service) add_service(now, *service);
  auto status = core::compute_status(state, now);
  DATUM_ASSIGN(const auto contests, inspect::read_contests(*known.story.reader, state, now));
  DATUM_ASSIGN(const auto path, story_path(arguments));
  const auto files = os_linux::make_files();
  std::vector<std::string> faults;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))  // an export has neither key nor blobs
    faults = engine::find_store_faults(*files, path, state);
  add_orphans(faults, state);
  if (!asked) faults.push_back(asked.error().message() + "; this is from the store alone");
  DATUM_ASSIGN(auto strays,
               history::describe_strays(*known.story.reader, history::archive_folder(path)));
  if (!strays.empty()) faults.push_back(std::move(strays));
  if (service) add_service(status, faults, *service);
  DATUM_ASSIGN(auto reverting, inspect::read_reverting(*known.story.reader, state));
  const inspect::StatusNotes notes{contests, faults, service ? service->link : std::string(),
                                   std::move(reverting)};
  const auto style = output_style(arguments);
  print(arguments.json ? inspect::status_json(state, status, notes, now.now)
                       : inspect::status_text(state, status, notes, now.now, style));
  return core::exit_code(status.condition);
}

Result<int> run_owned(const Arguments& arguments) {
  DATUM_ASSIGN(const auto known, open_known_story(arguments));
  const auto& state = known.state;
  Arguments rooted = arguments;
  rooted.root = state.root;  // a store is bound to its root
  DATUM_ASSIGN(auto session, open_session(rooted));
  DATUM_ASSIGN(const auto path, story_path(arguments));
  DATUM_ASSIGN(auto key, engine::read_key_or_random(*session.files, path));
  const auto machine = make_machine(session, nullptr, std::move(key));
  const auto nothing = std::make_shared<const resource::Declared>(
      resource::make_declared(std::make_shared<const model::Manifest>()));
  resource::Observer observer(machine, nothing);
  std::vector<inspect::OwnedLine> lines;
  for (const auto& [target, owned] : arguments.orphans ? state.orphans : state.owned)
    lines.push_back({target, owned, observer.observe_leaving(target, owned)});
  if (lines.empty() && arguments.orphans && !arguments.json) {
    print("No orphan of a lost store waits for a decision.\n");
    return 0;
  }
  print(arguments.json ? inspect::owned_json(lines)
                       : inspect::owned_text(lines, output_style(arguments)));
  return 0;
}

Result<int> run_on_store(const Arguments& arguments) {
  switch (arguments.verb) {
    case Verb::status:
      return run_status(arguments);
    case Verb::owned:
      return run_owned(arguments);
    default:
      return run_history(arguments);
  }
}

}  // namespace

int store_command(const Arguments& arguments) {
  return finish(run_on_store(arguments));
}

}  // namespace datum::program
