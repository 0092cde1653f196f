// status, owned, history, journal: what a store, a copy of one or an export says. Nothing is
// written.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "commands.hpp"
#include "datum/history/open.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/resource/observer.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "session.hpp"

namespace datum::program {

namespace {

WallNs now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

Result<std::string> store_path(const Arguments& arguments) {
  if (!arguments.journal.empty()) return absolute_path(arguments.journal);
  return state_folder(arguments);
}

Result<std::unique_ptr<journal::Reader>> open_store_reader(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, store_path(arguments));
  auto reader = history::open_reader(path);
  if (!reader && reader.error().code() == ErrorCode::not_found)
    return fail(ErrorCode::not_found,
                path +
                    ": there is no store here; --state DIR names one, and the first "
                    "`datum observe` or `datum reconcile` makes it");
  return reader;
}

Result<int> run_status(const Arguments& arguments) {
  DATUM_ASSIGN(const auto reader, open_store_reader(arguments));
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, true));
  const auto at = now();
  const auto status = core::compute_status(state, {at});
  print(arguments.json ? inspect::status_json(state, status)
                       : inspect::status_text(state, status, at, output_style(arguments)));
  return core::exit_code(status.condition);
}

Result<int> run_owned(const Arguments& arguments) {
  DATUM_ASSIGN(const auto reader, open_store_reader(arguments));
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, true));
  Arguments rooted = arguments;
  rooted.root = state.root;  // a store is bound to its root
  DATUM_ASSIGN(auto session, open_session(rooted));
  DATUM_ASSIGN(const auto path, store_path(arguments));
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

// A path, family:name, or the reference of something that the store knows.
Result<model::Target> find_target(const core::State& state, const std::string& text) {
  if (const auto reference = model::find_reference(text)) {
    for (const auto& [target, resource] : state.resources)
      if (resource.reference == *reference) return target;
    for (const auto& [target, owned] : state.owned)
      if (owned.reference == *reference) return target;
    return fail(ErrorCode::not_found, text +
                                          ": the store knows no resource of that name; give its "
                                          "target, for example /etc/motd");
  }
  if (text.starts_with('/')) return model::Target{model::TargetFamily::path, text};
  for (int number = 1; number <= static_cast<int>(model::TargetFamily::sysctl); ++number) {
    const auto family = static_cast<model::TargetFamily>(number);
    const auto prefix = std::string(model::to_string(family)) + ":";
    if (text.starts_with(prefix)) return model::Target{family, text.substr(prefix.size())};
  }
  return fail(ErrorCode::invalid_argument,
              text + ": not a target; give a path, family:name (unit:ssh.service) or Type[name]");
}

void print_events(const Arguments& arguments, const std::vector<history::StoredEvent>& events) {
  const auto style = output_style(arguments);
  for (const auto& stored : events)
    print(arguments.json ? inspect::event_json(stored) : inspect::event_line(stored, style));
}

// No journal has more; a list of all of it is asked for record by record.
constexpr std::size_t kAll = ~std::size_t{0} >> 1;

Result<int> run_history(const Arguments& arguments) {
  DATUM_ASSIGN(const auto reader, open_store_reader(arguments));
  DATUM_ASSIGN(const auto state, history::fold(*reader, 0, true));
  DATUM_ASSIGN(const auto target, find_target(state, arguments.target));
  DATUM_ASSIGN(const auto events, history::find_target(*reader, target, 1, kAll));
  if (events.empty())
    return fail(ErrorCode::not_found, target.text() + ": nothing is recorded about it");
  print_events(arguments, events);
  return 0;
}

bool is_kind(const history::StoredEvent& stored, const std::string& kind) {
  return kind.empty() || core::to_string(core::kind_of(stored.event)) == kind;
}

Result<std::vector<history::StoredEvent>> find_listed(journal::Reader& reader,
                                                      const Arguments& arguments) {
  const Seq from = std::max<Seq>(arguments.from, 1);
  std::vector<history::StoredEvent> events;
  if (!arguments.target.empty()) {
    DATUM_ASSIGN(const auto state, history::fold(reader, 0, true));
    DATUM_ASSIGN(const auto target, find_target(state, arguments.target));
    DATUM_ASSIGN(events, history::find_target(reader, target, from, kAll));
    if (arguments.pass != 0)
      std::erase_if(events, [&](const auto& stored) {
        return stored.place.seq != arguments.pass && core::pass_of(stored.event) != arguments.pass;
      });
    return events;
  }
  DATUM_ASSIGN(const auto sequences, history::find_pass(reader, arguments.pass, from, kAll));
  for (const Seq seq : sequences) {
    DATUM_ASSIGN(auto stored, history::read_event(reader, seq));
    events.push_back(std::move(stored));
  }
  return events;
}

// Kinds have numbers below this, in groups of twenty.
constexpr std::uint16_t kKindsEnd = 256;

Status check_kind(const std::string& kind) {
  if (kind.empty()) return {};
  for (std::uint16_t number = 1; number < kKindsEnd; ++number)
    if (core::to_string(static_cast<core::EventKind>(number)) == kind) return {};
  return fail(ErrorCode::invalid_argument,
              "--kind " + kind + ": no event has this name; docs/formats/events.md lists them");
}

// Streams where it can: a list of a million records does not stand in memory.
Result<int> run_list(const Arguments& arguments) {
  DATUM_TRY(check_kind(arguments.kind));
  DATUM_ASSIGN(const auto reader, open_store_reader(arguments));
  std::vector<history::StoredEvent> events;
  if (arguments.pass != 0 || !arguments.target.empty()) {
    DATUM_ASSIGN(events, find_listed(*reader, arguments));
    std::erase_if(events, [&](const auto& stored) { return !is_kind(stored, arguments.kind); });
    if (arguments.limit != 0 && events.size() > arguments.limit)
      events.erase(events.begin(), events.end() - static_cast<std::ptrdiff_t>(arguments.limit));
    print_events(arguments, events);
    return 0;
  }
  const auto style = output_style(arguments);
  std::size_t skip = 0;
  if (arguments.limit != 0) {
    DATUM_TRY(history::scan_events(*reader, std::max<Seq>(arguments.from, 1),
                                   [&](const history::StoredEvent& stored) {
                                     skip += is_kind(stored, arguments.kind) ? 1 : 0;
                                     return journal::Visit::go_on;
                                   }));
    skip = skip > arguments.limit ? skip - arguments.limit : 0;
  }
  DATUM_TRY(history::scan_events(
      *reader, std::max<Seq>(arguments.from, 1), [&](const history::StoredEvent& stored) {
        if (!is_kind(stored, arguments.kind)) return journal::Visit::go_on;
        if (skip > 0)
          --skip;
        else
          print(arguments.json ? inspect::event_json(stored) : inspect::event_line(stored, style));
        return journal::Visit::go_on;
      }));
  return 0;
}

Result<int> run_show(const Arguments& arguments) {
  DATUM_ASSIGN(const auto reader, open_store_reader(arguments));
  DATUM_ASSIGN(const auto stored, history::read_event(*reader, arguments.seq));
  print(arguments.json ? inspect::event_json(stored)
                       : inspect::event_text(stored, output_style(arguments)));
  return 0;
}

Result<journal::Verification> verify_path(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    DATUM_ASSIGN(auto verification, journal::verify_export(path));
    if (!verification.sound) return verification;
    DATUM_ASSIGN(const auto reader, journal::open_export(path));
    return history::verify_events(*reader, std::move(verification));
  }
  DATUM_ASSIGN(const auto log, history::open_for_verify(path));
  return history::verify(*log);
}

Result<int> run_verify(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, store_path(arguments));
  auto verification = verify_path(path);
  if (!verification) return fail(std::move(verification).error().context(path));
  if (arguments.json) {
    text::JsonWriter json;
    json.begin_object()
        .member("path", path)
        .member("sound", verification->sound)
        .member("records", verification->records)
        .member("head", verification->head.seq)
        .member("hash", verification->head.hash.hex())
        .member("badSeq", verification->bad_seq)
        .member("problem", verification->problem)
        .end_object();
    print(json.take() + "\n");
  } else if (verification->sound) {
    print("Sound: " + text::format_count(verification->records, "record") + ", head " +
          std::to_string(verification->head.seq) + " sha256:" + verification->head.hash.hex() +
          "\n");
  } else {
    print("Damaged: " + verification->problem + "\n");
  }
  return verification->sound ? 0 : 1;
}

Result<int> run(const Arguments& arguments) {
  switch (arguments.verb) {
    case Verb::status:
      return run_status(arguments);
    case Verb::owned:
      return run_owned(arguments);
    case Verb::history:
      return run_history(arguments);
    case Verb::journal_list:
      return run_list(arguments);
    case Verb::journal_show:
      return run_show(arguments);
    default:
      return run_verify(arguments);
  }
}

}  // namespace

int store_command(const Arguments& arguments) {
  auto code = run(arguments);
  if (!code) return report_error(code.error());
  return finish_output(*code);
}

}  // namespace datum::program
