// ack: the one verb that writes a person's judgement into a store. No pass runs and nothing of the
// machine is looked at.
#include "commands.hpp"
#include "datum/config/quantity.hpp"
#include "datum/engine/store.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/program/session.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "datum/yaml/scalar.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "store_end.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

// A line for status, reports and alerts.
constexpr std::size_t kMaxReason = 512;

Result<WallNs> parse_until(const std::string& written, WallNs now) {
  std::optional<WallNs> at = find_rfc3339(written);
  if (const auto after = config::find_duration_ns(written); after && !at)
    at = WallNs{now.ns + *after};
  if (!at)
    return fail(ErrorCode::invalid_argument,
                "--until " + written +
                    ": a time such as 2026-12-24T18:00:00Z was expected, or a "
                    "duration such as 2h or 7d");
  if (*at > now) return *at;
  return fail(ErrorCode::invalid_argument,
              "--until " + written + ": this time is past; --lift ends an acknowledgement");
}

Status check_reason(const Arguments& arguments) {
  if (arguments.reason.empty() && !arguments.lift)
    return fail(ErrorCode::invalid_argument,
                arguments.command_line + ": give --reason WORDS: others will ask why");
  if (arguments.reason.size() > kMaxReason)
    return fail(ErrorCode::invalid_argument, "--reason: at most " + std::to_string(kMaxReason) +
                                                 " bytes are shown beside a drift");
  if (const auto fault = yaml::find_single_line_fault(arguments.reason))
    return fail(ErrorCode::invalid_argument, "--reason " + *fault);
  return {};
}

Result<core::Command> make_command(const Arguments& arguments, const model::Target& target,
                                   WallNs now) {
  DATUM_TRY(check_reason(arguments));
  if (arguments.lift)
    return core::Command(
        core::LiftAcknowledgement{target, current_actor(arguments), arguments.reason});
  if (arguments.until.empty())
    return fail(ErrorCode::invalid_argument,
                arguments.command_line + ": give --until TIME: what is known has to end");
  DATUM_ASSIGN(const auto until, parse_until(arguments.until, now));
  return core::Command(
      core::Acknowledge{target, current_actor(arguments), arguments.reason, until});
}

std::string told(const core::State& state, const model::Target& target, bool lift) {
  const auto name = text::escape(target.text());
  if (lift) return name + ": no longer acknowledged\n";
  const auto& made = state.acknowledged.at(target);
  auto words = name + ": acknowledged until " + format_rfc3339(made.until);
  const auto resource = state.resources.find(target);
  if (resource != state.resources.end() && resource->second.condition != core::Condition::drifted)
    words += " (it is " + std::string(core::to_string(resource->second.condition)) + " now)";
  return words + "\n";
}

Result<int> run_acknowledgement(const Arguments& arguments) {
  core::State known;
  {
    DATUM_ASSIGN(auto story, open_known_story(arguments));
    known = std::move(story.state);
  }
  DATUM_ASSIGN(const auto target, find_target(known, arguments.target));
  const auto now = wall_now();
  DATUM_ASSIGN(const auto command, make_command(arguments, target, now));
  DATUM_ASSIGN(const auto state, record_in_store(arguments, known, command));
  print(arguments.json ? inspect::acknowledgement_json(state, target)
                       : told(state, target, arguments.lift));
  return 0;
}

}  // namespace

int acknowledge_command(const Arguments& arguments) {
  return finish(run_acknowledgement(arguments));
}

}  // namespace datum::program
