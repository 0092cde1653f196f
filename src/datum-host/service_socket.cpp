// What the local socket's callers are answered. They are root already: what is checked here is that
// they mean this store, and that no two passes run at once.
#include <utility>

#include "datum/program/pass_output.hpp"
#include "datum/text/terminal.hpp"
#include "service.hpp"

namespace datum::host {

Answer refusal(const Error& error) {
  const bool busy = error.code() == ErrorCode::busy;
  return {"", "datum: " + text::escape_lines(error.message()) + "\n", busy ? kBusyExit : 1};
}

namespace {

// The target that is called so, among those that the state knows.
std::optional<model::Target> find_target(const core::State& state, const std::string& text) {
  for (const auto& [target, resource] : state.resources)
    if (target.text() == text) return target;
  for (const auto& [target, owned] : state.owned)
    if (target.text() == text) return target;
  for (const auto& [target, kept] : state.kept)
    if (target.text() == text) return target;
  return std::nullopt;
}

}  // namespace

// Without a socket commands only find the store taken: that is no reason not to keep the machine.
void Service::open_socket() {
  const auto path = program::below(session_.root_path, std::string(program::kSocketPath));
  auto server =
      listen_local(*session_.loop, path, session_.state_folder, program::trusted_uid(),
                   [this](Asked asked, const Reply& reply) { answer(std::move(asked), reply); });
  if (server)
    server_ = std::move(*server);
  else
    log_.warning("commands cannot reach the service: " + server.error().message());
}

void Service::answer(Asked asked, const Reply& reply) {
  const auto& request = asked.request;
  if (request.state != session_.state_folder)
    return reply(
        refusal(Error(ErrorCode::busy, "the service has the store " + session_.state_folder +
                                           ", not " + request.state)));
  if (stopping_) return reply(refusal(Error(ErrorCode::busy, "the service ends")));
  switch (request.verb) {
    case LocalVerb::observe:
    case LocalVerb::reconcile:
    case LocalVerb::revert:
    case LocalVerb::archive:
      return answer_manual(std::move(asked), reply);
    case LocalVerb::acknowledge:
    case LocalVerb::keep:
      return answer_record(asked, reply);
    case LocalVerb::adopt:
    case LocalVerb::remove:
      return answer_decision(asked, reply);
    case LocalVerb::hold:
      note_hold(program::person(asked.peer.uid, request.command_line));
      tell_status();
      return reply_durable(reply, {});
    case LocalVerb::reload:
      return answer_reload(asked, reply);
    case LocalVerb::enrol:
      return answer_enrol(std::move(asked), reply);
    case LocalVerb::facts:
      return reply({encode_facts(facts()), "", 0});
  }
}

void Service::answer_manual(Asked asked, const Reply& reply) {
  if (conductor_ != nullptr || !doing_.empty() || manual_)
    return reply(refusal(Error(ErrorCode::busy, "a pass of the service runs")));
  const auto verb = asked.request.verb;
  const bool is_pass = verb == LocalVerb::observe || verb == LocalVerb::reconcile;
  if (is_pass && !asked.desired && !state().accepted)
    return reply(refusal(Error(ErrorCode::invalid_argument, "no manifest was sent")));
  manual_ = Manual{std::move(asked), reply};
  wake();
}

void Service::answer_record(const Asked& asked, const Reply& reply) {
  const auto& request = asked.request;
  if (store_->history->is_unrecorded())
    return reply(refusal(Error(ErrorCode::unavailable, "nothing can be recorded: " + unwritable_)));
  const auto target = find_target(state(), request.target);
  if (!target)
    return reply(refusal(Error(ErrorCode::not_found, request.target + ": nothing is known of it")));
  const auto actor = program::person(asked.peer.uid, request.command_line);
  core::Command command = core::Acknowledge{*target, actor, request.reason, request.until};
  if (request.verb == LocalVerb::acknowledge && request.lift)
    command = core::LiftAcknowledgement{*target, actor, request.reason};
  if (request.verb == LocalVerb::keep) {
    core::KeepTarget keep{*target, 0, {}, actor};
    if (!request.lift) {
      const auto until = core::until_newer(state());
      keep.until_generation = until.until_generation;
      keep.manifest = until.manifest;
    }
    command = std::move(keep);
  }
  const auto done = store_->history->execute(command);
  if (!done) return reply(refusal(done.error()));
  reply_durable(reply, {});
}

void Service::answer_decision(const Asked& asked, const Reply& reply) {
  const auto& request = asked.request;
  if (store_->history->is_unrecorded())
    return reply(refusal(Error(ErrorCode::unavailable, "nothing can be recorded: " + unwritable_)));
  core::DecideOrphans decide;
  decide.actor = program::person(asked.peer.uid, request.command_line);
  if (request.verb == LocalVerb::remove) decide.decision = core::OrphanDecision::remove;
  for (const auto& [target, owned] : state().orphans)
    if (request.target.empty() || target.text() == request.target) decide.targets.push_back(target);
  if (decide.targets.empty())
    return reply(refusal(
        Error(ErrorCode::not_found, request.target + ": no orphan that waits for a decision")));
  const auto done = store_->history->execute(decide);
  if (!done) return reply(refusal(done.error()));
  tell_status();
  reply_durable(reply, {});
}

void Service::answer_reload(const Asked& asked, const Reply& reply) {
  const auto actor = program::person(asked.peer.uid, asked.request.command_line);
  read_configuration_again(actor);
  note_hold(actor);
  if (rejected_.empty()) return reply_durable(reply, {});
  reply(refusal(Error(ErrorCode::invalid_argument, "agent.yaml is not taken over: " + rejected_)));
}

ServiceFacts Service::facts() {
  auto& clock = session_.loop->clock();
  ServiceFacts facts;
  facts.unrecorded = why_unrecorded();
  facts.problem = problem_;
  facts.rejected = rejected_;
  facts.pass_runs = conductor_ != nullptr;
  if (mesh_) facts.link = mesh_->words();
  if (!has_desired()) return facts;
  facts.interval_ns = rhythm_.interval_ns;
  const auto now = clock.boot_now();
  facts.next_beat = WallNs{clock.wall_now().ns + next_beat(rhythm_, now).ns - now.ns};
  return facts;
}

void Service::reply_durable(const Reply& reply, Answer answer) {
  auto& history = *store_->history;
  history.when_durable(history.state().seq, [reply, answer = std::move(answer)](Status durable) {
    reply(durable ? answer : refusal(durable.error()));
  });
}

program::PassView view_of(const LocalRequest& request) {
  program::PassView view;
  view.command_line = request.command_line;
  view.json = request.json;
  view.all = request.all;
  view.style.colour = request.colour;
  view.style.fold = !request.all;
  view.style.width = request.width;
  view.shows_plan = view.may_act = request.verb == LocalVerb::reconcile;
  return view;
}

Answer Service::answer_of(const Asked& asked, const Reported& reported) {
  if (!reported) return refusal(reported.error());
  const auto& report = *reported;
  if (!report) return refusal(Error(ErrorCode::busy, "the service ends"));
  const auto view = view_of(asked.request);
  const auto acknowledged =
      core::standing_acknowledgements(state(), session_.loop->clock().wall_now());
  return {program::pass_output(view, *report, acknowledged, state().host, ""),
          program::pass_warnings(*report), core::exit_code(report->status.condition)};
}

}  // namespace datum::host
