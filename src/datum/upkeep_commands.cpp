// journal archive, stat, set-aside: the size of a store, what keeps it small, and a damaged one out
// of the way.
#include <chrono>

#include "commands.hpp"
#include "datum/engine/set_aside.hpp"
#include "datum/engine/upkeep.hpp"
#include "datum/history/missing.hpp"
#include "datum/history/open.hpp"
#include "datum/inspect/usage_report.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/run_task.hpp"
#include "datum/program/session.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "print.hpp"
#include "service_client.hpp"
#include "store_end.hpp"

namespace datum::program {
namespace {

Result<engine::UpkeepReport> archive(Session& session, const Arguments& arguments,
                                     const config::Configuration& configuration) {
  auto store = engine::open_bound_store(*session.loop, *session.files, session.state_folder,
                                        program_version(), trusted_uid());
  if (!store) return fail(with_remedy(std::move(store).error(), session.state_folder));
  engine::UpkeepRequest request;
  request.limits = archive_limits(configuration);
  if (arguments.through != 0) request.through = arguments.through;
  auto kept = run_task(*session.loop, engine::keep_up(*session.loop, *store, request));
  if (!store->history->healthy()) return kept;
  DATUM_TRY(close_store(session, *store));
  return kept;
}

// The store is taken: its service does it, if it answers.
Result<int> archive_through_service(const Arguments& arguments, const Error& taken) {
  DATUM_ASSIGN(auto request, make_local_request(arguments, host::LocalVerb::archive));
  request.through = arguments.through;
  auto asked = ask_service(arguments, std::move(request), {});
  if (!asked && asked.error().code() == ErrorCode::not_found) return fail(taken);
  return asked;
}

Result<int> run_archive(const Arguments& arguments) {
  DATUM_ASSIGN(auto session, open_session(arguments));
  DATUM_ASSIGN(const auto configuration, read_config(*session.files, session.config_folder));
  auto archived = archive(session, arguments, configuration);
  if (!archived && archived.error().code() == ErrorCode::busy)
    return archive_through_service(arguments, archived.error());
  if (!archived) return fail(std::move(archived).error());
  const auto& report = *archived;
  journal::Compaction compaction;
  if (engine::is_worth_compacting_if_asked(report.usage)) {
    auto compacted = history::compact(session.state_folder);
    if (!compacted) return fail(std::move(compacted).error().context("compact the journal"));
    compaction = *compacted;
  }
  const inspect::ArchiveReport shown{report.files, report.blob_bytes_freed, report.usage.file_bytes,
                                     compaction.bytes_after};
  print(arguments.json ? inspect::archive_json(shown) : inspect::archive_text(shown));
  return 0;
}

Result<inspect::StoreUsage> measure(os::Files& files, const std::string& path) {
  DATUM_ASSIGN(const auto log, history::open_for_reading(path));
  inspect::StoreUsage usage;
  usage.path = path;
  usage.store = log->store_id();
  usage.level = log->level();
  DATUM_ASSIGN(const auto head, log->read_head());
  usage.first = head.first;
  usage.head = head.seq;
  for (auto* const at : {&usage.first_time, &usage.head_time}) {
    const Seq seq = at == &usage.first_time ? head.first : head.seq;
    if (head.seq == 0) break;
    DATUM_TRY(log->read(seq, [at](const journal::Record& record) {
      *at = record.stamp.wall;
      return journal::Visit::stop;
    }));
  }
  DATUM_ASSIGN(usage.journal, log->read_usage());
  const auto folder = history::archive_folder(path);
  DATUM_ASSIGN(usage.files, journal::list_archive(folder));
  DATUM_ASSIGN(const auto strays, history::find_strays(*log, folder));
  for (const auto& stray : strays) {
    usage.strays.push_back(stray.name);
    std::erase_if(usage.files, [&stray](const auto& file) { return file.name == stray.name; });
  }
  const auto blobs = blobs::open_blobs(files, path, true);
  if (!blobs && blobs.error().code() != ErrorCode::not_found) return fail(blobs.error());
  if (blobs) {
    DATUM_ASSIGN(usage.blob_bytes, (*blobs)->used());
  }
  return usage;
}

Result<int> run_stat(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, state_folder(arguments));
  const auto files = os_linux::make_files();
  auto usage = measure(*files, path);
  if (!usage) return fail(with_remedy(std::move(usage).error(), path));
  print(arguments.json ? inspect::usage_json(*usage) : inspect::usage_text(*usage));
  return 0;
}

Result<int> run_set_aside(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, state_folder(arguments));
  const auto files = os_linux::make_files();
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const WallNs now{std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
  DATUM_ASSIGN(const auto aside, engine::set_aside(*files, path, now));
  if (arguments.json) {
    text::JsonWriter json;
    json.begin_object()
        .member("movedTo", aside.moved_to)
        .member("problem", aside.problem)
        .end_object();
    print(json.take() + "\n");
  } else {
    print("Set aside: " + aside.moved_to + "\n  " + aside.problem +
          "\nNothing was deleted. The next pass begins a new store, which says so first; what was "
          "owned is adopted again.\n");
  }
  return 0;
}

}  // namespace

int upkeep_command(const Arguments& arguments) {
  return finish(arguments.verb == Verb::journal_archive ? run_archive(arguments)
                : arguments.verb == Verb::journal_stat  ? run_stat(arguments)
                                                        : run_set_aside(arguments));
}

}  // namespace datum::program
