#include "datum/history/missing.hpp"

#include <algorithm>

#include "datum/history/archive.hpp"

namespace datum::history {
namespace {

// More names than this only fill the screen: who lost so many lost the folder.
constexpr std::size_t kMaxNamed = 8;

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kMaxNamed); ++i)
    text += (i == 0 ? "" : ", ") + words[i];
  if (words.size() > kMaxNamed)
    text += " and " + std::to_string(words.size() - kMaxNamed) + " more";
  return text;
}

std::string range_words(const std::vector<journal::Gap>& gaps) {
  std::vector<std::string> ranges;
  for (const auto& gap : gaps)
    ranges.push_back(gap.from == gap.to
                         ? std::to_string(gap.from)
                         : std::to_string(gap.from) + " to " + std::to_string(gap.to));
  return "records " + joined_words(ranges) + " are missing";
}

// What has the name of an archive's file and is none hides the records that the file held.
Result<std::string> foreign_words(const std::string& folder) {
  if (journal::is_archive_blocked(folder)) return std::string("; it is no folder");
  DATUM_ASSIGN(const auto foreign, journal::list_foreign(folder));
  if (foreign.empty()) return std::string();
  return "; there is something else than a file at " + joined_words(foreign) +
         " (links are not followed)";
}

// A writer that archives meanwhile is seen half done: then it is asked again.
Result<std::vector<journal::Stray>> find_strays_now(journal::Reader& reader,
                                                    const std::string& folder) {
  constexpr int kMaxLooks = 8;
  for (int looks = 1;; ++looks) {
    DATUM_ASSIGN(const Seq archived, read_archived(reader));
    auto* const log = dynamic_cast<journal::Log*>(&reader);
    DATUM_ASSIGN(auto strays, log != nullptr ? journal::find_strays(*log, folder, archived)
                                             : journal::read_strays(reader, archived));
    DATUM_ASSIGN(const Seq later, read_archived(reader));
    if (strays.empty() || later == archived || looks == kMaxLooks) return strays;
  }
}

std::string stray_words(const std::vector<journal::Stray>& strays, const std::string& folder) {
  std::vector<std::string> words;
  words.reserve(strays.size());
  for (const auto& stray : strays) words.push_back(folder + "/" + stray.name + " " + stray.why);
  return joined_words(words);
}

Result<std::string> words_of(journal::Reader& reader, const std::vector<journal::Gap>& gaps,
                             const std::string& folder) {
  DATUM_ASSIGN(const auto foreign, foreign_words(folder));
  DATUM_ASSIGN(const auto strays, find_strays_now(reader, folder));
  return range_words(gaps) + ": they were archived, and no file in " + folder + " holds them" +
         foreign + (strays.empty() ? "" : "; " + stray_words(strays, folder));
}

}  // namespace

Result<std::vector<journal::Gap>> find_missing(journal::Reader& reader) {
  DATUM_ASSIGN(auto gaps, journal::read_gaps(reader));
  if (gaps.empty()) return gaps;
  DATUM_ASSIGN(const Seq archived, read_archived(reader));
  std::erase_if(gaps, [archived](const auto& gap) { return gap.from > archived; });
  if (!gaps.empty()) gaps.back().to = std::min(gaps.back().to, archived);
  return gaps;
}

Result<std::string> describe_missing(journal::Reader& reader, const std::string& store_folder) {
  DATUM_ASSIGN(const auto gaps, find_missing(reader));
  if (gaps.empty()) return std::string();
  return words_of(reader, gaps, archive_folder(store_folder));
}

Result<std::string> name_missing(journal::Reader& reader, const std::string& store_folder) {
  DATUM_ASSIGN(const auto gaps, find_missing(reader));
  if (gaps.empty()) return std::string();
  std::vector<std::string> files;
  const auto folder = archive_folder(store_folder);
  DATUM_TRY(scan_events(reader, 1, [&](const StoredEvent& stored) {
    const auto* const archived = std::get_if<core::RecordsArchived>(&stored.event);
    if (archived == nullptr) return journal::Visit::go_on;
    const bool is_wanted = std::any_of(gaps.begin(), gaps.end(), [archived](const auto& gap) {
      return archived->from <= gap.to && gap.from <= archived->to;
    });
    if (is_wanted) files.push_back(archived->file);
    return journal::Visit::go_on;
  }));
  DATUM_ASSIGN(auto words, words_of(reader, gaps, folder));
  if (!files.empty()) words += "; they were in " + joined_words(files);
  return words;
}

Result<std::vector<journal::Stray>> find_strays(journal::Reader& reader,
                                                const std::string& folder) {
  return find_strays_now(reader, folder);
}

Result<std::string> describe_strays(journal::Reader& reader, const std::string& folder) {
  if (journal::is_archive_blocked(folder))
    return folder +
           " is no folder, and the journal's archive belongs there: move it away; until then "
           "nothing is archived";
  DATUM_ASSIGN(const auto strays, find_strays_now(reader, folder));
  if (strays.empty()) return std::string();
  return stray_words(strays, folder) +
         ". That is no part of this journal's archive, and may be the only copy of its records: "
         "move "
         "it away (--journal FILE reads it); until then nothing is archived";
}

}  // namespace datum::history
