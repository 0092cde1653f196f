#include "datum/engine/upkeep.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "co_try.hpp"
#include "datum/codec/manifest_file.hpp"
#include "running.hpp"

namespace datum::engine {
namespace {

// A manifest of a million resources is some 300 MB; more is none.
constexpr std::size_t kMaxManifest = std::size_t{1} << 30U;

using Due = Result<std::optional<history::ArchiveRange>>;

Due find_next(journal::Reader& reader, const UpkeepRequest& request, WallNs now) {
  std::optional<history::ArchiveRange> due;
  if (request.through) {
    DATUM_ASSIGN(const Seq first, history::first_unarchived(reader));
    if (*request.through >= first) due = history::ArchiveRange{first, *request.through};
  } else {
    DATUM_ASSIGN(due, history::find_due(reader, request.limits, now));
  }
  if (!due) return due;
  DATUM_ASSIGN(const auto file, history::first_file_of(reader, *due));
  return std::optional<history::ArchiveRange>(file);
}

// The digests of one declaration's manifest and of all content that it names. One whose manifest is
// not here (yet) needs only what its events name.
Status add_declaration(const core::DeclarationId& declaration, const blobs::BlobStore& blobs,
                       std::vector<Digest>& live) {
  live.push_back(declaration.manifest);
  if (!blobs.contains(declaration.manifest)) return {};
  DATUM_ASSIGN(const auto bytes, blobs.read(declaration.manifest, kMaxManifest));
  DATUM_ASSIGN(const auto manifest, codec::decode_manifest(bytes));
  for (const auto& resource : manifest->resources)
    if (const auto* content = resource->content()) live.push_back(content->digest);
  return {};
}

loop::Task<Result<journal::ArchiveFile>> archive(history::History& history,
                                                 history::ArchiveRange range, std::string folder) {
  using File = Result<journal::ArchiveFile>;
  std::function<void(std::function<void(File)>)> begin =
      [&history, range, folder](std::function<void(File)> resume) {
        history.archive(range, folder, std::move(resume));
      };
  auto wait = loop::wait_for<File>(std::move(begin));
  co_return co_await wait;
}

// By the newest record that names each, newest first.
Result<std::vector<Digest>> find_kept(journal::Reader& whole) {
  std::vector<Digest> named;
  DATUM_TRY(history::scan_events(whole, 1, [&named](const history::StoredEvent& stored) {
    if (const auto* announced = std::get_if<core::ActionsAnnounced>(&stored.event))
      for (const auto& action : announced->actions)
        for (const auto* digest : {&action.attributes, &action.old_content})
          if (!digest->empty()) named.push_back(*digest);
    return journal::Visit::go_on;
  }));
  std::vector<Digest> kept;
  std::set<Digest> seen;
  for (auto digest = named.rbegin(); digest != named.rend(); ++digest)
    if (seen.insert(*digest).second) kept.push_back(*digest);
  return kept;
}

Result<std::uint64_t> sweep(const Store& store, journal::Reader& reader, journal::Reader& whole,
                            std::int64_t young_ns) {
  DATUM_ASSIGN(const auto needed,
               find_needed_blobs(store.history->state(), reader, whole, *store.blobs));
  return store.blobs->sweep({needed.live, needed.kept, blobs::kMaxKeptTotal}, young_ns);
}

}  // namespace

Result<NeededBlobs> find_needed_blobs(const core::State& state, journal::Reader& journal,
                                      journal::Reader& whole, const blobs::BlobStore& blobs) {
  NeededBlobs needed;
  auto& live = needed.live;
  DATUM_TRY(history::scan_events(journal, 1, [&live](const history::StoredEvent& stored) {
    const auto named = core::blobs_of(stored.event);
    live.insert(live.end(), named.begin(), named.end());
    return journal::Visit::go_on;
  }));
  // A plan equal to the last one is not put again.
  live.push_back(state.last_plan);
  for (const auto* declaration : {&state.stored, &state.accepted})
    if (*declaration) DATUM_TRY(add_declaration(**declaration, blobs, live));
  if (state.last_pass) DATUM_TRY(add_declaration(state.last_pass->declaration, blobs, live));
  std::sort(live.begin(), live.end());
  live.erase(std::unique(live.begin(), live.end()), live.end());
  DATUM_ASSIGN(needed.kept, find_kept(whole));
  return needed;
}

Result<std::uint64_t> measure_kept(journal::Reader& whole, const blobs::BlobStore& blobs) {
  DATUM_ASSIGN(const auto kept, find_kept(whole));
  return blobs.used_by(kept);
}

bool is_worth_compacting(const journal::Usage& usage) {
  const auto free = usage.file_bytes - std::min(usage.file_bytes, usage.live_bytes);
  return free >= kWorthCompacting && free >= usage.file_bytes / 2;
}

bool is_worth_compacting_if_asked(const journal::Usage& usage) {
  constexpr std::uint64_t kWorthAsking = 1024 * 1024;
  return usage.file_bytes > usage.live_bytes * 5 / 4 + kWorthAsking;
}

loop::Task<Result<journal::Compaction>> compact(Store& store) {
  using Compacted = Result<journal::Compaction>;
  std::function<void(std::function<void(Compacted)>)> begin =
      [&history = *store.history](std::function<void(Compacted)> resume) {
        history.compact(std::move(resume));
      };
  auto wait = loop::wait_for<Compacted>(std::move(begin));
  co_return co_await wait;
}

loop::Task<Result<UpkeepReport>> keep_up(loop::Loop& loop, Store& store, UpkeepRequest request) {
  UpkeepReport report;
  auto& history = *store.history;
  if (history.state().pass)
    co_return fail(ErrorCode::conflict,
                   "the last pass was cut off: the next observe or reconcile ends it first");
  auto durable = wait_durable(history);
  DATUM_CO_TRY(co_await durable);
  DATUM_CO_ASSIGN(const std::shared_ptr<journal::Reader> reader, history.log()->make_reader());
  if (request.through) {
    // Fixed now: archiving itself appends records.
    DATUM_CO_ASSIGN(const auto head, reader->read_head());
    request.through = std::min(*request.through, head.seq - 1);
  }
  const auto began = loop.clock().boot_now();
  for (;;) {
    const auto now = loop.clock().wall_now();
    std::function<Due()> ask = [reader, &request, now] { return find_next(*reader, request, now); };
    auto asking = loop::run_on<Due>(loop.pool(), std::move(ask));
    DATUM_CO_ASSIGN(const auto next, co_await asking);
    if (!next) break;
    const auto spent = loop.clock().boot_now().ns - began.ns;
    report.is_more_due = request.budget_ns != 0 && spent >= request.budget_ns;
    if (report.is_more_due) break;
    auto archiving = archive(history, *next, history::archive_folder(store.folder));
    DATUM_CO_ASSIGN(auto file, co_await archiving);
    report.files.push_back(std::move(file));
  }
  if (!report.files.empty()) {
    DATUM_CO_ASSIGN(auto live, history.log()->make_reader());
    DATUM_CO_ASSIGN(const std::shared_ptr<journal::Reader> whole,
                    journal::join_archive(std::move(live), history::archive_folder(store.folder)));
    std::function<Result<std::uint64_t>()> work = [reader, whole, &store, &request] {
      return sweep(store, *reader, *whole, request.young_ns);
    };
    auto sweeping = loop::run_on<Result<std::uint64_t>>(loop.pool(), std::move(work));
    DATUM_CO_ASSIGN(report.blob_bytes_freed, co_await sweeping);
  }
  DATUM_CO_ASSIGN(report.usage, reader->read_usage());
  co_return report;
}

}  // namespace datum::engine
