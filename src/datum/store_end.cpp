#include "store_end.hpp"

#include <cstdio>

#include "datum/history/open.hpp"
#include "datum/program/run_task.hpp"
#include "datum/text/terminal.hpp"
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

Result<core::State> record_in_store(const Arguments& arguments, const core::State& known,
                                    const core::Command& command) {
  Arguments rooted = arguments;
  rooted.root = known.root;
  DATUM_ASSIGN(auto session, open_session(rooted));
  DATUM_ASSIGN(const auto folder, story_path(arguments));
  const engine::StoreBinding binding{known.root, known.host, known.source, program_version(),
                                     trusted_uid()};
  DATUM_ASSIGN(auto store, engine::open_store(*session.loop, *session.files, folder, binding));
  auto executed = store.history->execute(command);
  auto state = store.history->state();
  DATUM_TRY(close_store(session, store));
  if (!executed) return fail(std::move(executed).error());
  return state;
}

}  // namespace datum::program
