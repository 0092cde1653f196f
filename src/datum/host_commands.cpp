// hold, mode, config: what the administrator of this machine decides, in its configuration folder.
// The file is what counts; the journal is told by the service, or here where none runs.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "commands.hpp"
#include "datum/base/rfc3339.hpp"
#include "datum/config/edit.hpp"
#include "datum/config/hold.hpp"
#include "datum/config/quantity.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "service_client.hpp"
#include "store_end.hpp"
#include "story_source.hpp"

namespace datum::program {
namespace {

// The folder that a hold or a configuration goes to; made if it is missing, its parents are not.
Result<os::Handle> open_config(os::Files& files, const Arguments& arguments) {
  const auto path = config_folder(arguments);
  auto folder = files.open_root(path);
  if (folder || folder.error().code() != ErrorCode::not_found) return folder;
  constexpr mode_t kForAllToRead = 0755;
  if (::mkdir(path.c_str(), kForAllToRead) != 0) return fail(error_from_errno(errno, path));
  if (::chmod(path.c_str(), kForAllToRead) != 0) return fail(error_from_errno(errno, path));
  return files.open_root(path);
}

// Into the store where there is one and no service runs that would say it itself. What cannot be
// told is a warning: the file is in force all the same.
void tell_journal(const Arguments& arguments, host::LocalVerb verb, const core::Command& command) {
  const auto warn = [](const Error& error) {
    std::fprintf(stderr, "warning: in force, and not in the journal yet: %s\n",
                 text::escape_lines(error.message()).c_str());
  };
  auto request = make_local_request(arguments, verb);
  if (!request) return warn(request.error());
  const auto told = tell_service(arguments, std::move(*request));
  if (told) return;
  if (told.error().code() != ErrorCode::not_found) return warn(told.error());
  core::State known;
  {
    auto story = open_known_story(arguments);
    if (!story && story.error().code() == ErrorCode::not_found) return;
    if (!story) return warn(story.error());
    known = std::move(story->state);
  }
  const auto recorded = record_in_store(arguments, known, command);
  // A hold that no pass ever saw is lifted without a trace.
  if (!recorded && recorded.error().code() != ErrorCode::refused) warn(recorded.error());
}

Result<std::optional<WallNs>> hold_end(const Arguments& arguments) {
  if (arguments.hold_for.empty()) return std::optional<WallNs>();
  const auto duration = config::find_duration_ns(arguments.hold_for);
  if (duration && *duration > 0) return std::optional(WallNs{wall_now().ns + *duration});
  return fail(ErrorCode::invalid_argument,
              "--for " + arguments.hold_for + ": a duration such as 30m, 2h or 7d was expected");
}

std::string hold_json(const config::Hold& hold) {
  text::JsonWriter json;
  json.begin_object().member("held", hold.present);
  json.key("until");
  if (hold.until)
    json.value(format_rfc3339(*hold.until));
  else
    json.null();
  json.member("reason", hold.reason).member("now", hold.now).end_object();
  return json.take() + "\n";
}

// Whatever lies there counts as a hold, and only a file is removed or replaced.
Error not_a_hold(const Arguments& arguments, Error error) {
  if (error.code() == ErrorCode::invalid_argument) return error;
  const auto path = config_folder(arguments) + "/" + std::string(config::kHoldName);
  if (error.code() != ErrorCode::is_directory) return std::move(error).context(path);
  return {ErrorCode::is_directory,
          path +
              ": a folder lies there, which holds the machine as a file would, and is not "
              "removed: look what it is, and remove it"};
}

Result<int> run_hold(const Arguments& arguments) {
  const auto files = os_linux::make_files();
  DATUM_ASSIGN(const auto folder, open_config(*files, arguments));
  const auto actor = current_actor(arguments);
  if (arguments.lift) {
    auto lifted = config::lift_hold(*files, folder, actor.uid);
    if (!lifted && lifted.error().code() == ErrorCode::not_found)
      return fail(ErrorCode::not_found, "no hold stands in " + config_folder(arguments));
    if (!lifted) return fail(not_a_hold(arguments, std::move(lifted).error()));
    tell_journal(arguments, host::LocalVerb::hold, core::LiftHold{core::HoldOrigin::local, actor});
    // It has been told.
    static_cast<void>(config::take_lifter(*files, folder, trusted_uid()));
  } else {
    if (arguments.reason.empty())
      return fail(ErrorCode::invalid_argument,
                  arguments.command_line + ": give --reason WORDS: others will ask why");
    DATUM_ASSIGN(const auto until, hold_end(arguments));
    auto written =
        config::write_hold(*files, folder, until, arguments.reason, arguments.hold_now, actor.uid);
    if (!written) return fail(not_a_hold(arguments, std::move(written).error()));
  }
  const auto hold = config::read_hold(*files, folder);
  if (!arguments.lift)
    tell_journal(
        arguments, host::LocalVerb::hold,
        core::SetHold{core::HoldOrigin::local, hold.until.value_or(WallNs{}), hold.reason, actor});
  print(arguments.json   ? hold_json(hold)
        : arguments.lift ? "the hold is lifted\n"
                         : "held: " + text::escape(config::describe(hold)) + "\n");
  return 0;
}

core::EffectiveMode configured(core::Mode mode) {
  core::ModeTerms terms;
  terms.configured = mode;
  return core::host_mode(terms);
}

// What enforcing would begin with is shown before it is allowed.
Result<int> run_mode(const Arguments& arguments) {
  const auto files = os_linux::make_files();
  DATUM_ASSIGN(const auto folder, open_config(*files, arguments));
  const auto path = config_folder(arguments);
  DATUM_ASSIGN(const auto before, read_config(*files, path));
  const bool enforce = arguments.mode_word == "enforce";
  if (enforce && before.source.value) {
    auto dry = arguments;
    dry.verb = Verb::plan;
    dry.command_line = "datum plan";
    const int code = pass_command(dry);
    constexpr int kRefused = 1;
    if (code == kRefused)
      return fail(ErrorCode::refused, "the mode was not changed: no pass could run");
  }
  const auto mode = enforce ? config::Mode::enforce : config::Mode::observe;
  DATUM_TRY(config::set_mode(*files, folder, path, trusted_uid(), mode));
  const auto was =
      before.mode.value == config::Mode::enforce ? core::Mode::enforce : core::Mode::observe;
  const auto now = enforce ? core::Mode::enforce : core::Mode::observe;
  tell_journal(arguments, host::LocalVerb::reload,
               core::ChangeMode{configured(was), configured(now), current_actor(arguments)});
  DATUM_ASSIGN(const auto after, read_config(*files, path));
  print("mode: " + std::string(config::to_string(after.mode.value)) + " (" +
        text::escape(after.mode.origin.text()) + ")\n");
  return 0;
}

Result<int> run_check(const Arguments& arguments) {
  const auto files = os_linux::make_files();
  DATUM_ASSIGN(const auto configuration, read_config(*files, config_folder(arguments)));
  for (const auto& line : config::describe(configuration)) {
    if (!arguments.json) {
      print(text::escape(line.key + ": " + line.value) + "  (" + text::escape(line.origin.text()) +
            ")\n");
      continue;
    }
    text::JsonWriter json;
    json.begin_object()
        .member("key", line.key)
        .member("value", line.value)
        .member("origin", line.origin.text())
        .end_object();
    print(json.take() + "\n");
  }
  return 0;
}

}  // namespace

int host_command(const Arguments& arguments) {
  return finish(arguments.verb == Verb::hold   ? run_hold(arguments)
                : arguments.verb == Verb::mode ? run_mode(arguments)
                                               : run_check(arguments));
}

}  // namespace datum::program
