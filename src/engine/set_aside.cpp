#include "datum/engine/set_aside.hpp"

#include <algorithm>
#include <array>

#include "datum/base/rfc3339.hpp"
#include "datum/history/open.hpp"

namespace datum::engine {
namespace {

constexpr std::string_view kPrefix = "damaged-";
constexpr std::string_view kJournal = "journal";
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

}  // namespace

Result<core::SetAsideStore> set_aside(os::Files& files, const std::string& folder, WallNs now) {
  DATUM_ASSIGN(const auto problem, history::find_damage(folder));
  if (problem.empty())
    return fail(ErrorCode::refused, folder + ": the journal is sound, nothing is set aside");
  DATUM_ASSIGN(const auto store, files.open_root(folder));
  DATUM_ASSIGN(const auto name, make_folder(files, store, now));
  DATUM_ASSIGN(const auto aside, files.open_directory(store, name, os::Follow::no));
  DATUM_TRY(write_problem(files, aside, problem));
  for (const std::string_view part :
       {std::string_view("blobs"), std::string_view("archive"), kJournal}) {
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
