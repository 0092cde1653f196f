#include "datum/history/open.hpp"

#include <filesystem>

#include "datum/history/archive.hpp"
#include "datum/history/missing.hpp"

namespace datum::history {

static journal::OpenOptions options(journal::OpenMode mode) {
  journal::OpenOptions options;
  options.mode = mode;
  options.indexes = index_names();
  return options;
}

static std::string journal_folder(const std::string& store_folder) {
  return store_folder + "/journal";
}

// Where the checkpoint is of no use and the beginning is archived, the archive has it.
static Result<Folded> fold_with_archive(journal::Log& log, const std::string& store_folder) {
  auto folded = fold_newest(log);
  if (folded || folded.error().code() != ErrorCode::not_found) return folded;
  DATUM_ASSIGN(auto reader, log.make_reader());
  DATUM_ASSIGN(const auto joined,
               journal::join_archive(std::move(reader), archive_folder(store_folder)));
  return fold_newest(*joined);
}

static Result<std::unique_ptr<History>> open_mode(loop::Loop& loop, const std::string& store_folder,
                                                  const journal::OpenOptions& options) {
  auto log = journal::open_log(journal_folder(store_folder), options);
  if (!log) return fail(std::move(log).error());
  DATUM_ASSIGN(auto folded, fold_with_archive(**log, store_folder));
  return History::open(loop, std::move(*log), std::move(folded));
}

Result<std::unique_ptr<History>> open_history(loop::Loop& loop, const std::string& store_folder,
                                              journal::CrashPoint crash_point) {
  auto wanted = options(journal::OpenMode::create_or_open);
  wanted.crash_point = std::move(crash_point);
  return open_mode(loop, store_folder, wanted);
}

Result<std::unique_ptr<History>> open_existing(loop::Loop& loop, const std::string& store_folder) {
  return open_mode(loop, store_folder, options(journal::OpenMode::open));
}

Result<std::unique_ptr<journal::Log>> open_log_again(const std::string& store_folder) {
  return journal::open_log(journal_folder(store_folder), options(journal::OpenMode::open));
}

// Whether the mark of an orderly end is believed.
enum class Trust : bool { nothing, mark };

static Result<std::unique_ptr<journal::Log>> open_as(const std::string& store_folder,
                                                     journal::OpenMode mode, Trust trust) {
  auto wanted = options(mode);
  wanted.walks_closed = trust == Trust::nothing;
  return journal::open_log(journal_folder(store_folder), wanted);
}

// Whether a reader's slot could not be had: the folder is another user's, on a disk that is read
// only or shared by machines.
static bool is_without_slot(const Error& error) {
  const auto code = error.code();
  return code == ErrorCode::refused || code == ErrorCode::permission_denied ||
         code == ErrorCode::read_only;
}

// A writer may come while it is open, and must find its store free: so it is read as beside a
// writer. Only who cannot do that keeps writers out.
static Result<std::unique_ptr<journal::Log>> open_beside(const std::string& store_folder,
                                                         Trust trust) {
  if (!journal::has_had_writer(journal_folder(store_folder)))
    return open_as(store_folder, journal::OpenMode::read_only, trust);
  auto live = open_as(store_folder, journal::OpenMode::live, trust);
  if (live || !is_without_slot(live.error())) return live;
  auto copy = open_as(store_folder, journal::OpenMode::read_only, trust);
  if (copy || copy.error().code() != ErrorCode::busy) return copy;
  return fail(ErrorCode::busy,
              copy.error().message() + "; meanwhile only the store's own user can read it");
}

Result<std::unique_ptr<journal::Log>> open_for_verify(const std::string& store_folder) {
  return open_beside(store_folder, Trust::nothing);
}

Result<std::unique_ptr<journal::Log>> open_for_reading(const std::string& store_folder) {
  return open_beside(store_folder, Trust::mark);
}

Result<std::unique_ptr<journal::Reader>> open_live_reader(const std::string& store_folder) {
  DATUM_ASSIGN(auto log, open_as(store_folder, journal::OpenMode::live, Trust::mark));
  return journal::join_archive(std::move(log), archive_folder(store_folder));
}

Result<std::unique_ptr<journal::Reader>> open_reader(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return journal::open_export(path);
  DATUM_ASSIGN(auto log, open_for_reading(path));
  return journal::join_archive(std::move(log), archive_folder(path));
}

Result<journal::Verification> verify_store(const std::string& store_folder) {
  DATUM_ASSIGN(auto log, open_for_verify(store_folder));
  DATUM_ASSIGN(const auto head, log->read_head());
  DATUM_ASSIGN(auto verification, log->verify(head.first));
  if (!verification.sound) return verification;
  DATUM_ASSIGN(const auto archived, journal::verify_archive(*log, archive_folder(store_folder)));
  verification.records += archived.records;
  verification.sound = archived.sound;
  verification.problem = archived.problem;
  if (!verification.sound) return verification;
  DATUM_ASSIGN(const auto joined,
               journal::join_archive(std::move(log), archive_folder(store_folder)));
  DATUM_ASSIGN(verification, verify_events(*joined, std::move(verification)));
  if (!verification.sound) return verification;
  DATUM_ASSIGN(verification.problem, name_missing(*joined, store_folder));
  if (verification.problem.empty()) {
    DATUM_ASSIGN(verification.problem, describe_strays(*joined, archive_folder(store_folder)));
  }
  verification.sound = verification.problem.empty();
  return verification;
}

Result<std::string> find_damage(const std::string& store_folder) {
  const auto log = open_for_verify(store_folder);
  if (!log && log.error().code() == ErrorCode::corrupt) return log.error().message();
  if (!log) return fail(log.error());
  DATUM_ASSIGN(const auto verification, verify(**log));
  // What a newer version wrote is not damage.
  const auto folded = fold(**log, 0, true);
  if (!folded && folded.error().code() == ErrorCode::unsupported_version)
    return fail(folded.error());
  return verification.problem;
}

Result<journal::Compaction> compact(const std::string& store_folder) {
  return journal::compact_store(journal_folder(store_folder), options(journal::OpenMode::open));
}

}  // namespace datum::history
