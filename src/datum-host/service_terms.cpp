// What the machine's administrator decided: the configuration, read again and kept where a new one
// is no good, and the hold. Nothing here can raise what another term lowers.
#include <algorithm>
#include <charconv>
#include <utility>

#include "datum/config/hold.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

// The place at the beginning of a fault's text, "FILE:LINE:COLUMN: …"; zeros where there is none.
struct Place {
  std::uint32_t line = 0, column = 0;
};
Place place_in(const std::string& text, const std::string& file) {
  Place place;
  if (!text.starts_with(file + ":")) return place;
  const char* const end = text.data() + text.size();
  const auto line = std::from_chars(text.data() + file.size() + 1, end, place.line);
  if (line.ec == std::errc() && line.ptr != end && *line.ptr == ':')
    std::from_chars(line.ptr + 1, end, place.column);
  return place;
}

// What the file says by itself, without hold and window.
core::EffectiveMode configured_mode(const config::Configuration& configuration) {
  core::ModeTerms terms;
  if (!configuration.mode.origin.is_default())
    terms.configured = configuration.mode.value == config::Mode::enforce ? core::Mode::enforce
                                                                         : core::Mode::observe;
  return core::host_mode(terms);
}

}  // namespace

// The last good one stays in force where the file holds none: a slip of the pen must not turn
// enforcing off and on, and never on.
void Service::read_configuration_again(const core::Actor& actor) {
  auto read = program::read_config(*session_.files, session_.config_folder);
  if (read)
    adopt(std::move(*read), actor);
  else
    reject_configuration(read.error());
}

void Service::adopt(config::Configuration configuration, const core::Actor& actor) {
  if (!std::exchange(rejected_, "").empty()) log_.notice("agent.yaml is in force again");
  if (configuration.state.value != configuration_.state.value ||
      configuration.host.value != configuration_.host.value)
    log_.notice("host and state of agent.yaml take effect when the service starts again");
  if (store_)
    record(
        core::ChangeMode{configured_mode(configuration_), configured_mode(configuration), actor});
  const bool other_beat = configuration.interval_ns.value != configuration_.interval_ns.value;
  configuration_ = std::move(configuration);
  if (other_beat && store_) begin_rhythm();
}

void Service::reject_configuration(const Error& problem) {
  if (problem.message() == rejected_) return;
  rejected_ = problem.message();
  log_.write(
      Priority::warning,
      "agent.yaml is not taken over, the last good one stays in force: " + in_one_line(rejected_),
      {{"DATUM_EVENT", "configRejected"}});
  if (!store_) return;
  const auto file = session_.config_folder + "/" + std::string(config::kFileName);
  const auto place = place_in(rejected_, file);
  record(core::RejectConfig{file, place.line, place.column, rejected_});
}

// The file decides; the journal is told when it came and went.
void Service::note_hold(const core::Actor& actor) {
  if (!store_) return;
  auto folder = session_.files->open_root(session_.config_folder);
  const auto trusted = program::trusted_uid();
  const auto hold = folder ? config::read_hold(*session_.files, *folder, trusted) : config::Hold{};
  const auto& known = state().local_hold;
  // Whoever set or lifted it, not whoever saw it first.
  const auto actor_of = [&actor](std::optional<std::uint32_t> by) {
    return by ? program::person(*by, "datum hold") : actor;
  };
  if (!hold.present) {
    const auto lifter =
        folder ? config::take_lifter(*session_.files, *folder, trusted) : std::nullopt;
    if (known) record(core::LiftHold{core::HoldOrigin::local, actor_of(lifter)});
    return;
  }
  const auto until = hold.until.value_or(WallNs{});
  const auto reason = config::reason_of(hold);
  if (known && known->until == until && known->reason == reason) return;
  record(core::SetHold{core::HoldOrigin::local, until, reason, actor_of(hold.by)});
}

// Asked for at the start of a pass and before each wave. The file counts at once where it can be
// read, so that a person who lowers the mode need not tell the service.
core::ModeTerms Service::own_terms(std::optional<core::Mode> argument) {
  read_configuration_again(service_actor());
  auto terms = program::terms_of(*session_.files, session_.config_folder, configuration_,
                                 session_.loop->clock().wall_now(), argument);
  if (store_) program::add_link_hold(terms, state(), session_.loop->clock().wall_now());
  if (const auto why = why_unrecorded(); !why.empty()) {
    terms.held = true;
    terms.hold_reason = "nothing can be recorded: " + why;
  }
  return terms;
}

core::ModeTerms Service::terms(std::optional<core::Mode> argument) {
  auto terms = own_terms(argument);
  const auto why = why_guarded();
  if (terms.held || why.empty()) return terms;
  terms.held = true;
  terms.hold_reason = why;
  return terms;
}

}  // namespace datum::host
