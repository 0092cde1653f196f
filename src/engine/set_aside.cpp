#include "datum/engine/set_aside.hpp"

#include <algorithm>
#include <array>

#include "datum/base/rfc3339.hpp"
#include "datum/engine/store.hpp"
#include "datum/history/open.hpp"

namespace datum::engine {
namespace {

constexpr std::string_view kPrefix = "damaged-";
constexpr std::string_view kJournal = "journal";
constexpr std::string_view kBlobs = "blobs";
constexpr std::string_view kArchive = "archive";
constexpr std::string_view kProblem = "problem";
// A sentence; more of the file is not read.
constexpr std::size_t kMaxProblem = 1024;
// Twice in one second is an accident, this often is not.
constexpr int kMaxNames = 100;

// "20261129T193159Z" of "2026-11-29T19:31:59Z": no colons in names of folders.
std::string compact_time(WallNs now) {
  std::string text;
  for (const char c : format_rfc3339(now)) {
    if (c == '.') break;
    if (c != '-' && c != ':') text += c;
  }
  if (!text.ends_with('Z')) text += 'Z';
  return text;
}

Result<std::string> make_folder(os::Files& files, const os::Handle& parent, WallNs now) {
  const auto base = std::string(kPrefix) + compact_time(now);
  for (int number = 1;; ++number) {
    const auto name = number == 1 ? base : base + "-" + std::to_string(number);
    const auto made = files.make_directory(parent, name, 0700);
    if (made) return name;
    if (made.error().code() != ErrorCode::already_exists || number == kMaxNames)
      return fail(made.error());
  }
}

Status write_problem(os::Files& files, const os::Handle& folder, const std::string& problem) {
  DATUM_ASSIGN(const auto file, files.create_file(folder, kProblem));
  DATUM_TRY(files.write(file, as_bytes(problem + "\n")));
  DATUM_TRY(files.sync(file));
  return files.sync(folder);
}

std::string read_problem(os::Files& files, const os::Handle& folder) {
  const auto file = files.open_file(folder, kProblem, os::Access::read);
  if (!file) return "no words were left with it";
  Bytes bytes(kMaxProblem);
  const auto size = files.read(*file, bytes);
  if (!size) return "what was left with it cannot be read";
  std::string text(as_text(ByteView(bytes).first(*size)));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool holds(os::Files& files, const os::Handle& parent, std::string_view folder,
           std::string_view name) {
  const auto opened = files.open_directory(parent, folder, os::Follow::yes);
  return opened && files.stat_at(*opened, name);
}

// What a store has only once its journal was made.
std::string what_is_left(os::Files& files, const os::Handle& store, const std::string& folder) {
  std::string left;
  const auto note = [&left](std::string_view name) {
    left += (left.empty() ? "" : ", ") + std::string(name);
  };
  const auto aside = find_set_aside(files, folder);
  if ((!aside || aside->empty()) && files.stat_at(store, "key")) note("key");
  for (const std::string_view name : {kArchive, kBlobs})
    if (files.stat_at(store, name)) note(name);
  for (const std::string_view name : {"lock.mdb", "clean"})
    if (holds(files, store, kJournal, name)) note("journal/" + std::string(name));
  return left;
}

}  // namespace

std::string find_lost_journal(os::Files& files, const std::string& folder) {
  constexpr std::string_view kData = "data.mdb";
  const auto store = files.open_root(folder);
  if (!store || files.stat_at(*store, kImportedName)) return {};
  const auto journal = files.open_directory(*store, kJournal, os::Follow::yes);
  if (!journal && journal.error().code() != ErrorCode::not_found) return {};
  if (journal) {
    const auto data = files.stat_at(*journal, kData);
    if (data || data.error().code() != ErrorCode::not_found) return {};
  }
  if (holds(files, *store, "journal.compacting", kData)) return {};
  const auto left = what_is_left(files, *store, folder);
  if (left.empty()) return {};
  return folder +
         ": this store has lost its journal: journal/data.mdb is gone, and with it what is "
         "known of this machine (still there: " +
         left + "). Put the folder back from a copy, if there is one";
}

Result<core::SetAsideStore> set_aside(os::Files& files, const std::string& folder, WallNs now) {
  DATUM_ASSIGN(const auto place, journal::lock_place(folder, journal::PlaceUse::moving));
  auto problem = find_lost_journal(files, folder);
  if (problem.empty()) {
    DATUM_ASSIGN(problem, history::find_damage(folder));
  }
  if (problem.empty())
    return fail(ErrorCode::refused, folder + ": the journal is sound, nothing is set aside");
  DATUM_ASSIGN(const auto store, files.open_root(folder));
  DATUM_ASSIGN(const auto name, make_folder(files, store, now));
  DATUM_ASSIGN(const auto aside, files.open_directory(store, name, os::Follow::no));
  DATUM_TRY(write_problem(files, aside, problem));
  // Nothing to move is said first: what is left stays refused until it has moved.
  if (!files.stat_at(store, kJournal)) DATUM_TRY(files.make_directory(aside, kJournal, 0700));
  for (const std::string_view part : {kBlobs, kArchive, kJournal}) {
    const auto moved = files.rename(store, part, aside, part, true);
    if (!moved && moved.error().code() != ErrorCode::not_found)
      return fail(Error(moved.error()).context(folder + "/" + std::string(part)));
    DATUM_TRY(files.sync(aside));
  }
  DATUM_TRY(files.sync(store));
  return core::SetAsideStore{folder + "/" + name, problem};
}

Result<std::vector<core::SetAsideStore>> find_set_aside(os::Files& files,
                                                        const std::string& folder) {
  std::vector<core::SetAsideStore> found;
  DATUM_ASSIGN(const auto store, files.open_root(folder));
  DATUM_ASSIGN(auto entries, files.list(store));
  std::sort(entries.begin(), entries.end(),
            [](const auto& one, const auto& two) { return one.name < two.name; });
  for (const auto& entry : entries) {
    if (!entry.name.starts_with(kPrefix)) continue;
    const auto aside = files.open_directory(store, entry.name, os::Follow::no);
    // Begun and not finished: the journal is still in its place.
    if (!aside || !files.stat_at(*aside, kJournal)) continue;
    found.push_back({folder + "/" + entry.name, read_problem(files, *aside)});
  }
  return found;
}

}  // namespace datum::engine
