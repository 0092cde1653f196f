#include "datum/history/open.hpp"

#include <filesystem>

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

Result<std::unique_ptr<History>> open_history(loop::Loop& loop, const std::string& store_folder) {
  auto log =
      journal::open_log(journal_folder(store_folder), options(journal::OpenMode::create_or_open));
  if (!log) return fail(std::move(log).error());
  return History::open(loop, std::move(*log));
}

Result<std::unique_ptr<journal::Log>> open_for_verify(const std::string& store_folder) {
  auto log = journal::open_log(journal_folder(store_folder), options(journal::OpenMode::read_only));
  if (log || log.error().code() != ErrorCode::busy) return log;
  return journal::open_log(journal_folder(store_folder), options(journal::OpenMode::live));
}

Result<std::unique_ptr<journal::Reader>> open_live_reader(const std::string& store_folder) {
  DATUM_ASSIGN(auto log,
               journal::open_log(journal_folder(store_folder), options(journal::OpenMode::live)));
  return std::unique_ptr<journal::Reader>(std::move(log));
}

Result<std::unique_ptr<journal::Reader>> open_reader(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return journal::open_export(path);
  DATUM_ASSIGN(auto log, open_for_verify(path));
  return std::unique_ptr<journal::Reader>(std::move(log));
}

}  // namespace datum::history
