#include "store_end.hpp"

#include <cstdio>

#include "datum/history/open.hpp"
#include "datum/program/run_task.hpp"
#include "datum/text/terminal.hpp"
#include "service_client.hpp"
#include "story_source.hpp"

namespace datum::program {
namespace {

void tell(const Error& error, const char* what) {
  std::fprintf(stderr, "datum: %s: %s\n", what, text::escape_lines(error.message()).c_str());
}

// Somebody who reads keeps the folder from being exchanged: that is ordinary, and there is a next
// time.
void compact(const std::string& folder) {
  const auto compacted = history::compact(folder);
  if (compacted || compacted.error().code() == ErrorCode::busy) return;
  tell(compacted.error(), "the journal was not compacted");
}

}  // namespace

Status end_store(Session& session, engine::Store& store,
                 const config::Configuration& configuration) {
  bool pays = false;
  if (!store.history->state().pass) {
    engine::UpkeepRequest request;
    request.limits = archive_limits(configuration);
    request.budget_ns = engine::kUpkeepAfterPassNs;
    const auto kept = run_task(*session.loop, engine::keep_up(*session.loop, store, request));
    if (!kept) tell(kept.error(), "the journal was not archived");
    pays = kept && engine::is_worth_compacting(kept->usage);
  }
  if (!store.history->healthy()) return {};
  DATUM_TRY(close_store(session, store));
  if (pays) compact(store.folder);
  return {};
}

// What the service is asked to record in our place.
static Result<host::LocalRequest> request_for(const Arguments& arguments,
                                              const core::Command& command) {
  DATUM_ASSIGN(auto request, make_local_request(arguments, host::LocalVerb::keep));
  if (const auto* made = std::get_if<core::Acknowledge>(&command)) {
    request.verb = host::LocalVerb::acknowledge;
    request.target = made->target.text();
    request.reason = made->reason;
    request.until = made->until;
  } else if (const auto* lifted = std::get_if<core::LiftAcknowledgement>(&command)) {
    request.verb = host::LocalVerb::acknowledge;
    request.target = lifted->target.text();
    request.reason = lifted->reason;
    request.lift = true;
  } else if (const auto* kept = std::get_if<core::KeepTarget>(&command)) {
    request.target = kept->target.text();
    request.lift = kept->until_generation == 0;
  } else if (const auto* decided = std::get_if<core::DecideOrphans>(&command)) {
    request.verb = decided->decision == core::OrphanDecision::remove ? host::LocalVerb::remove
                                                                     : host::LocalVerb::adopt;
    if (decided->targets.size() == 1) request.target = decided->targets.front().text();
  } else {
    return fail(ErrorCode::busy, "the service has the store");
  }
  return request;
}

// One request names one target, or all.
static std::vector<core::Command> split(const core::State& known, const core::Command& command) {
  const auto* decided = std::get_if<core::DecideOrphans>(&command);
  if (decided == nullptr || decided->targets.size() == known.orphans.size()) return {command};
  std::vector<core::Command> each;
  for (const auto& target : decided->targets)
    each.emplace_back(core::DecideOrphans{{target}, decided->decision, decided->actor});
  return each;
}

static Result<core::State> record_through_service(const Arguments& arguments,
                                                  const core::State& state,
                                                  const core::Command& command,
                                                  const Error& taken) {
  for (const auto& part : split(state, command)) {
    DATUM_ASSIGN(auto request, request_for(arguments, part));
    auto told = tell_service(arguments, std::move(request));
    if (!told && told.error().code() == ErrorCode::not_found) return fail(taken);
    if (!told) return fail(std::move(told).error());
  }
  DATUM_ASSIGN(auto known, open_known_story(arguments));
  return std::move(known.state);
}

Result<core::State> record_in_store(const Arguments& arguments, const core::State& known,
                                    const core::Command& command) {
  Arguments rooted = arguments;
  rooted.root = known.root;
  DATUM_ASSIGN(auto session, open_session(rooted));
  DATUM_ASSIGN(const auto folder, story_path(arguments));
  const engine::StoreBinding binding{known.root, known.host, known.source, program_version(),
                                     trusted_uid()};
  auto store = engine::open_store(*session.loop, *session.files, folder, binding);
  if (!store && store.error().code() == ErrorCode::busy)
    return record_through_service(rooted, known, command, store.error());
  if (!store) return fail(std::move(store).error());
  auto executed = store->history->execute(command);
  auto state = store->history->state();
  DATUM_TRY(close_store(session, *store));
  if (!executed) return fail(std::move(executed).error());
  return state;
}

}  // namespace datum::program
