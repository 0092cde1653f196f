// status, owned, history: what a store says. Nothing is written.
#include <chrono>

#include "commands.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/resource/observer.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "session.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

WallNs now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

Result<int> run_status(const Arguments& arguments) {
  DATUM_ASSIGN(const auto story, open_story(arguments));
  const auto& reader = story.reader;
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, true));
  const auto at = now();
  const auto status = core::compute_status(state, {at});
  print(arguments.json ? inspect::status_json(state, status)
                       : inspect::status_text(state, status, at, output_style(arguments)));
  return core::exit_code(status.condition);
}

Result<int> run_owned(const Arguments& arguments) {
  DATUM_ASSIGN(const auto story, open_story(arguments));
  const auto& reader = story.reader;
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, true));
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
  for (const auto& [target, owned] : state.owned)
    lines.push_back({target, owned, observer.observe_leaving(target, owned)});
  print(arguments.json ? inspect::owned_json(lines)
                       : inspect::owned_text(lines, output_style(arguments)));
  return 0;
}

void print_events(const Arguments& arguments, const std::vector<history::StoredEvent>& events) {
  const auto style = output_style(arguments);
  for (const auto& stored : events)
    print(arguments.json ? inspect::event_json(stored) : inspect::event_line(stored, style));
}

// No journal has more.
constexpr std::size_t kAll = ~std::size_t{0} >> 1;

Result<int> run_history(const Arguments& arguments) {
  DATUM_ASSIGN(const auto story, open_story(arguments));
  const auto& reader = story.reader;
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, true));
  DATUM_ASSIGN(const auto target, find_target(state, arguments.target));
  DATUM_ASSIGN(const auto events, history::find_target(*reader, target, 1, kAll));
  if (events.empty())
    return fail(ErrorCode::not_found, target.text() + ": nothing is recorded about it");
  print_events(arguments, events);
  return 0;
}

Result<int> run(const Arguments& arguments) {
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
  auto code = run(arguments);
  if (!code) return report_error(code.error());
  return finish_output(*code);
}

}  // namespace datum::program
