// A backup of the store, beside the server that runs, and a store made of one. Keys leave the
// store's folder under a passphrase only.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include "backup_file.hpp"
#include "commands.hpp"
#include "datum/base/rfc3339.hpp"
#include "datum/control/ledger.hpp"
#include "datum/control/node_journals.hpp"
#include "datum/crypto/certificate.hpp"
#include "datum/program/session.hpp"
#include "datum/text/human.hpp"
#include "datum/uv/uv_loop.hpp"
#include "key_files.hpp"

namespace datum::control {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecordsName = "journal.export";
constexpr const char* kNodesPrefix = "nodes/";
// What a person types, or a generator makes.
constexpr std::size_t kMostPassphrase = 1024;
constexpr std::size_t kLeastPassphrase = 8;

// The first line of a file, or of the standard input.
Result<std::string> read_passphrase(const std::string& path) {
  std::string line;
  if (path == "-") {
    std::getline(std::cin, line);
  } else {
    std::ifstream file(path);
    if (!file) return fail(error_from_errno(errno, path));
    std::getline(file, line);
  }
  if (line.size() >= kLeastPassphrase && line.size() <= kMostPassphrase) return line;
  crypto::wipe(line);
  return fail(ErrorCode::invalid_argument, "a passphrase is one line of 8 to 1024 bytes");
}

Result<std::unique_ptr<journal::Log>> open_beside(const std::string& folder) {
  auto log = journal::open_log(folder, ledger_options(journal::OpenMode::read_only));
  if (!log && log.error().code() == ErrorCode::busy)
    log = journal::open_log(folder, ledger_options(journal::OpenMode::live));
  return log;
}

// A new folder of this user's alone, beside `path` and on its file system; gone, with all that is
// in it, when this is.
class Workplace {
 public:
  static Result<Workplace> make(const std::string& path) {
    auto folder = path + ".XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) return fail(error_from_errno(errno, folder));
    return Workplace(std::move(folder));
  }
  Workplace(Workplace&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  Workplace& operator=(Workplace&&) = delete;
  ~Workplace() {
    std::error_code error;
    if (!folder_.empty()) fs::remove_all(folder_, error);
  }
  [[nodiscard]] std::string place(const char* name) const { return folder_ + "/" + name; }

 private:
  explicit Workplace(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

Status add_keys(BackupWriter& backup, const std::string& state) {
  for (const auto* name : {kAuthorityFile, kAuthorityKeyFile, kSignerFile}) {
    std::error_code error;
    const auto path = state + "/" + name;
    const auto size = fs::file_size(path, error);
    if (error) return fail(error_from_errno(error.value(), path));
    DATUM_TRY(backup.add_file(name, path, size));
  }
  return {};
}

// As long as each is now: whole parts, since one is written at a time; a torn end is cut by whoever
// opens it.
Result<std::size_t> add_journals(BackupWriter& backup, const std::string& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& node : fs::directory_iterator(folder, error)) {
    for (const auto& entry : fs::directory_iterator(node.path(), error)) {
      const auto store = entry.path().stem().string();
      if (entry.path().extension() != ".copy" || !Id128::find_hex(store)) continue;
      const auto name = kNodesPrefix + node.path().filename().string() + "/" + store;
      DATUM_TRY(backup.add_file(name, entry.path().string(), fs::file_size(entry.path(), error)));
      ++count;
    }
  }
  if (error) return fail(error_from_errno(error.value(), folder));
  return count;
}

Result<int> run_backup(const Arguments& arguments) {
  const auto state = program::absolute_path(arguments.state);
  const auto output = program::absolute_path(arguments.output);
  DATUM_TRY(check_own_store(state));
  DATUM_ASSIGN(auto passphrase, read_passphrase(arguments.passphrase_file));
  auto work = Workplace::make(output);
  auto begun = work ? BackupWriter::begin(output, work->place("sealed"), passphrase)
                    : Result<BackupWriter>(fail(work.error()));
  crypto::wipe(passphrase);
  if (!begun) return fail(std::move(begun).error());
  DATUM_ASSIGN(const auto log, open_beside(state + "/journal"));
  const auto records = work->place(kRecordsName);
  DATUM_ASSIGN(const auto head, journal::export_records(*log, {1, 0}, records));
  std::error_code error;
  const auto size = fs::file_size(records, error);
  if (error) return fail(error_from_errno(error.value(), records));
  DATUM_TRY(begun->add_file(kRecordsName, records, size));
  DATUM_TRY(add_keys(*begun, state));
  DATUM_ASSIGN(const auto journals, add_journals(*begun, state + "/nodes"));
  DATUM_TRY(begun->finish());
  std::printf("%s: records 1 to %llu, the keys, and the journals of %s of nodes\n",
              arguments.output.c_str(), static_cast<unsigned long long>(head.seq),
              text::format_count(journals, "store").c_str());
  return 0;
}

// Where a content of a backup goes, below the folder; empty: none that is known.
std::string place_of(const std::string& name) {
  for (const auto* key : {kAuthorityFile, kAuthorityKeyFile, kSignerFile, kRecordsName})
    if (name == key) return name;
  const std::string prefix = kNodesPrefix;
  if (!name.starts_with(prefix)) return {};
  const auto slash = name.find('/', prefix.size());
  if (slash == std::string::npos) return {};
  const auto node = name.substr(prefix.size(), slash - prefix.size());
  const auto store = Id128::find_hex(name.substr(slash + 1));
  if (!crypto::is_name(node) || !store) return {};
  return NodeJournals::path_of("nodes", node, *store);
}

Status write_entry(BackupReader& backup, const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return fail(error_from_errno(errno, path));
  Status status;
  for (;;) {
    auto bytes = backup.read();
    if (!bytes) status = fail(std::move(bytes).error());
    if (!status || bytes->empty()) break;
    for (ByteView rest = *bytes; !rest.empty() && status;) {
      const auto wrote = ::write(file, rest.data(), rest.size());
      if (wrote < 0 && errno != EINTR) status = fail(error_from_errno(errno, path));
      if (wrote > 0) rest = rest.subspan(static_cast<std::size_t>(wrote));
    }
    crypto::wipe(*bytes);
  }
  if (status && ::fsync(file) != 0) status = fail(error_from_errno(errno, path));
  ::close(file);
  return status;
}

// Everything into `folder`, which is empty; what is not known is of a later version and stays out.
Status unpack(BackupReader& backup, const std::string& folder) {
  DATUM_TRY(make_private_folder(folder + "/nodes"));
  for (;;) {
    DATUM_ASSIGN(const auto entry, backup.next());
    if (!entry) return {};
    const auto place = place_of(entry->name);
    if (place.empty()) continue;
    const auto slash = place.rfind('/');
    if (slash != std::string::npos)
      DATUM_TRY(make_private_folder(folder + "/" + place.substr(0, slash)));
    DATUM_TRY(write_entry(backup, folder + "/" + place));
  }
}

// The new epoch is the first thing that its journal says after what the backup knew.
Result<State> make_journal(const std::string& folder, const core::Actor& by) {
  const auto records = folder + "/" + kRecordsName;
  const auto options = ledger_options(journal::OpenMode::create_or_open);
  DATUM_ASSIGN(const auto head, journal::import_records(records, folder + "/journal", options));
  if (head.seq == 0) return fail(ErrorCode::corrupt, "the backup has no record");
  if (::unlink(records.c_str()) != 0) return fail(error_from_errno(errno, records));
  DATUM_ASSIGN(const auto log, journal::open_log(folder + "/journal", options));
  DATUM_ASSIGN(const auto before, fold_ledger(*log));
  const auto loop = uv::make_loop(1);
  auto& clock = loop->clock();
  const auto now = clock.wall_now();
  DATUM_TRY(
      append_alone(*log, restore_plane(before, by, now), {now, clock.boot_now(), clock.boot_id()}));
  DATUM_ASSIGN(auto state, fold_ledger(*log));
  DATUM_TRY(log->close());
  return state;
}

Status check_empty(const std::string& folder) {
  DATUM_TRY(check_not_restoring(folder));
  std::error_code error;
  if (fs::is_empty(folder, error) && !error) return {};
  return fail(ErrorCode::refused, folder +
                                      " is not empty: a backup is restored into an empty folder; "
                                      "move this one away");
}

// The journal first and the keys last: a store without keys is none that a server starts with, and
// none that it would make keys for.
Status move_in(const std::string& from, const std::string& folder) {
  for (const auto* name : {"journal", "nodes", kAuthorityFile, kAuthorityKeyFile, kSignerFile})
    if (::rename((from + "/" + name).c_str(), (folder + "/" + name).c_str()) != 0)
      return fail(error_from_errno(errno, folder + "/" + name));
  if (::rmdir(from.c_str()) != 0) return fail(error_from_errno(errno, from));
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = opened >= 0 && ::fsync(opened) == 0;
  if (opened >= 0) ::close(opened);
  return is_synced ? Status{} : fail(error_from_errno(errno, folder));
}

// Whole, in a folder of its own.
Result<State> make_store(BackupReader& backup, const std::string& folder, const core::Actor& by) {
  DATUM_TRY(unpack(backup, folder));
  DATUM_ASSIGN(auto state, make_journal(folder, by));
  DATUM_ASSIGN(const auto keys, read_keys(folder, state));
  return state;
}

Result<int> run_restore(const Arguments& arguments) {
  const auto folder = program::absolute_path(arguments.state);
  DATUM_ASSIGN(auto passphrase, read_passphrase(arguments.passphrase_file));
  auto opened = BackupReader::open(program::absolute_path(arguments.backup), passphrase);
  crypto::wipe(passphrase);
  if (!opened) return fail(std::move(opened).error());
  DATUM_TRY(make_private_folder(folder));
  DATUM_TRY(check_empty(folder));
  const auto part = folder + "/" + kRestoringFolder;
  DATUM_TRY(make_private_folder(part));
  auto made =
      make_store(*opened, part, program::person(::geteuid(), arguments.request.command_line));
  if (!made) {
    std::error_code ignored;
    fs::remove_all(part, ignored);
    return fail(std::move(made).error().context("nothing was restored"));
  }
  const auto& state = *made;
  DATUM_TRY(move_in(part, folder));
  std::printf(
      "%s: mesh %s as it was at generation %llu.%llu; what is pushed now is of epoch %llu\n"
      "Nodes that enrolled since enrol anew; those that have a newer declaration are let in when "
      "`datum-control nodes accept` names them. Revoke again whom you revoked since, and push.\n",
      arguments.state.c_str(), state.mesh.c_str(),
      static_cast<unsigned long long>(state.restored->last.epoch),
      static_cast<unsigned long long>(state.restored->last.number),
      static_cast<unsigned long long>(state.last.epoch));
  return 0;
}

}  // namespace

int backup_command(const Arguments& arguments) {
  const auto done = run_backup(arguments);
  return done ? *done : refuse(done.error());
}

int restore_command(const Arguments& arguments) {
  const auto done = run_restore(arguments);
  return done ? *done : refuse(done.error());
}

}  // namespace datum::control
