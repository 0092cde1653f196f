// Writing, listing and verifying the files of an archive.
#include "datum/journal/archive.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "archive_choice.hpp"
#include "datum/journal/archive_gaps.hpp"
#include "export_format.hpp"
#include "store_folder.hpp"

namespace datum::journal {
namespace {

constexpr std::string_view kPrefix = "journal-";
constexpr std::string_view kSuffix = ".export";
constexpr std::size_t kDigits = 20;  // of the largest sequence

std::string digits_of(Seq seq) {
  auto text = std::to_string(seq);
  return std::string(kDigits - text.size(), '0') + text;
}

bool take_sequence(std::string_view& text, Seq& seq) {
  if (text.size() < kDigits) return false;
  const auto* const end = text.data() + kDigits;
  const auto parsed = std::from_chars(text.data(), end, seq);
  text.remove_prefix(kDigits);
  return parsed.ec == std::errc{} && parsed.ptr == end && seq != 0;
}

bool read_name(std::string_view name, ArchiveFile& file) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  file.name = name;
  name.remove_prefix(kPrefix.size());
  if (!take_sequence(name, file.from) || !name.starts_with('-')) return false;
  name.remove_prefix(1);
  return take_sequence(name, file.to) && name == kSuffix && file.from <= file.to;
}

// The file says that it holds these records of this store, and every byte of it agrees.
Result<ExportFacts> read_back(const std::string& path) {
  DATUM_ASSIGN(ExportSource source, ExportSource::open(path));
  Seq bad_seq = 0;
  auto facts = check_export(
      source, [](std::uint64_t, const Record&) {}, bad_seq);
  if (!facts) return fail(std::move(facts).error().context(path));
  return facts;
}

// Everything in the folder that has the name of an archive's file, by name.
Result<std::vector<std::pair<ArchiveFile, mode_t>>> list_named(const std::string& folder) {
  std::vector<std::pair<ArchiveFile, mode_t>> named;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) {
    // Of what is no folder is_archive_blocked says it.
    if (errno == ENOENT || errno == ENOTDIR) return named;
    return fail(error_from_errno(errno, "open " + folder));
  }
  while (const auto* const entry = ::readdir(opened)) {
    ArchiveFile file;
    struct stat info {};
    if (!read_name(entry->d_name, file)) continue;
    if (::fstatat(::dirfd(opened), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    file.bytes = static_cast<std::uint64_t>(info.st_size);
    named.emplace_back(std::move(file), info.st_mode);
  }
  ::closedir(opened);
  std::sort(named.begin(), named.end(),
            [](const auto& one, const auto& two) { return one.first.name < two.first.name; });
  return named;
}

// Walks the files in order; `finding` tells the first that does not fit. That they chain their ends
// have said; here each is read whole, and is what its ends say.
Status check_files(Reader& live, const std::string& folder, Verification& finding) {
  DATUM_ASSIGN(const auto choice, choose_files(live, folder));
  for (const auto& [file, edges] : choice.chosen) {
    DATUM_ASSIGN(const auto facts, read_back(folder + "/" + file.name));
    if (!edges || facts.head != edges->facts.head || facts.first != file.from ||
        facts.last != file.to)
      return fail(ErrorCode::corrupt, file.name + ": was changed while it was read");
    finding.records += facts.count();
  }
  if (choice.strays.empty()) return {};
  // As many as a person wants to read.
  constexpr std::size_t kMaxNamed = 8;
  std::string words;
  for (std::size_t at = 0; at < std::min(choice.strays.size(), kMaxNamed); ++at)
    words += (at == 0 ? "" : ", ") + choice.strays[at].name + " " + choice.strays[at].why;
  if (choice.strays.size() > kMaxNamed)
    words += " and " + std::to_string(choice.strays.size() - kMaxNamed) + " more";
  return fail(ErrorCode::corrupt, words);
}

}  // namespace

std::string archive_name(Seq from, Seq to) {
  return std::string(kPrefix) + digits_of(from) + "-" + digits_of(to) + std::string(kSuffix);
}

Result<WrittenArchive> write_archive(Reader& reader, ExportRange range, const std::string& folder) {
  DATUM_TRY(make_folder(folder));
  WrittenArchive written;
  written.file = {archive_name(range.from, range.to), range.from, range.to, 0};
  const auto path = folder + "/" + written.file.name;
  const auto exported = export_records(reader, range, path);
  if (!exported && exported.error().code() != ErrorCode::already_exists)
    return fail(Error(exported.error()).context("archive"));
  DATUM_ASSIGN(const ExportFacts facts, read_back(path));
  bool is_same =
      facts.first == range.from && facts.last == range.to && facts.store == reader.store_id();
  Digest hash;
  DATUM_TRY(reader.read(range.to, [&](const Record& record) {
    hash = hash_of(record);
    return Visit::stop;
  }));
  is_same = is_same && facts.head == hash;
  if (!is_same) return fail(ErrorCode::conflict, path + " holds other records");
  written.head = hash;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0)
    written.file.bytes = static_cast<std::uint64_t>(info.st_size);
  return written;
}

bool is_archive_blocked(const std::string& folder) {
  struct stat info {};
  return ::stat(folder.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

Result<std::vector<ArchiveFile>> list_archive(const std::string& folder) {
  std::vector<ArchiveFile> files;
  DATUM_ASSIGN(auto named, list_named(folder));
  for (auto& [file, mode] : named)
    if (S_ISREG(mode)) files.push_back(std::move(file));
  return files;
}

Result<std::vector<std::string>> list_foreign(const std::string& folder) {
  std::vector<std::string> foreign;
  DATUM_ASSIGN(auto named, list_named(folder));
  for (auto& [file, mode] : named)
    if (!S_ISREG(mode)) foreign.push_back(std::move(file.name));
  return foreign;
}

Result<Verification> verify_archive(Reader& live, const std::string& folder) {
  Verification finding;
  const auto checked = check_files(live, folder, finding);
  finding.sound = checked.has_value();
  if (finding.sound) return finding;
  if (checked.error().code() != ErrorCode::corrupt) return fail(Error(checked.error()));
  finding.problem = checked.error().message();
  return finding;
}

}  // namespace datum::journal
