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

// Hash that the first record of a file or a journal carries of the one before it.
Result<Digest> previous_of(Reader& reader, Seq first) {
  Digest previous;
  DATUM_TRY(reader.read(first, [&](const Record& record) {
    previous = record.previous;
    return Visit::stop;
  }));
  return previous;
}

// Everything in the folder that has the name of an archive's file, by name.
Result<std::vector<std::pair<ArchiveFile, mode_t>>> list_named(const std::string& folder) {
  std::vector<std::pair<ArchiveFile, mode_t>> named;
  DIR* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) {
    if (errno == ENOENT) return named;
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

// Walks the files in order; `finding` tells the first that does not fit.
Status check_files(Reader& live, const std::string& folder, Verification& finding) {
  DATUM_ASSIGN(const auto files, list_archive(folder));
  DATUM_ASSIGN(const Head head, live.read_head());
  Seq next = 0;  // none yet; what is missing between files is find_gaps' matter
  Digest hash;
  const auto misfit = [&finding](const std::string& name, const std::string& what) -> Status {
    finding.problem = (name.empty() ? "the archive: " : name + ": ") + what;
    return fail(ErrorCode::corrupt, finding.problem);
  };
  for (const auto& file : files) {
    if (file.from >= head.first) break;  // its records are all live still
    DATUM_ASSIGN(const auto reader, open_export(folder + "/" + file.name));
    DATUM_ASSIGN(const Head held, reader->read_head());
    if (reader->store_id() != live.store_id()) return misfit(file.name, "is of another store");
    if (held.first != file.from || held.seq != file.to)
      return misfit(file.name, "holds other records than its name says");
    if (file.from < next) return misfit(file.name, "begins before the one before it ends");
    DATUM_ASSIGN(const Digest previous, previous_of(*reader, held.first));
    const bool is_after_gap = file.from > std::max<Seq>(next, 1);
    if (!is_after_gap && previous != hash)
      return misfit(file.name, "does not continue the one before");
    finding.records += held.seq - held.first + 1;
    next = held.seq + 1;
    hash = held.hash;
  }
  // After the last file a gap, or a deletion that is not finished: then both hold the same.
  if (next != head.first) return {};
  DATUM_ASSIGN(const Digest previous, previous_of(live, head.first));
  if (previous != hash) return misfit("", "the journal does not continue it");
  return {};
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

Result<std::size_t> drop_unfinished(const std::string& folder, Seq archived) {
  DATUM_ASSIGN(const auto files, list_archive(folder));
  std::size_t dropped = 0;
  for (const auto& file : files) {
    if (file.from <= archived) continue;
    const auto path = folder + "/" + file.name;
    if (::unlink(path.c_str()) != 0) return fail(error_from_errno(errno, "remove " + path));
    ++dropped;
  }
  if (dropped == 0) return dropped;
  DATUM_ASSIGN(const Fd opened, open_folder(folder));
  DATUM_TRY(sync_fd(opened.get(), folder));
  return dropped;
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
