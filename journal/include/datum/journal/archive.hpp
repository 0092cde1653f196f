// The archive of a store: records that left the journal, as exports in a folder beside it, and both
// read as one. Which records may go, and when, is the user's decision; nothing here removes a
// record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datum/journal/log.hpp"

namespace datum::journal {

// One file of an archive. Names sort like their ranges.
struct ArchiveFile {
  std::string name;  // "journal-00000000000000000001-00000000000000012345.export"
  Seq from = 0;
  Seq to = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] std::string archive_name(Seq from, Seq to);

// Exports the range into `folder` (made 0700 if it is missing) under its name, synced, and reads
// the file back whole: it holds exactly these records of this store. A file of that name that holds
// them already is taken as it is. `conflict`: it holds something else.
struct WrittenArchive {
  ArchiveFile file;
  Digest head;  // hash of the last record in it
};
[[nodiscard]] Result<WrittenArchive> write_archive(Reader& reader, ExportRange range,
                                                   const std::string& folder);

// Whether something else than a folder lies where the archive belongs: then nothing is in it, and
// nothing can be written to it.
[[nodiscard]] bool is_archive_blocked(const std::string& folder);
// By their ranges, lowest first. A missing folder is an empty archive; files of other names are not
// looked at, and no file is opened.
[[nodiscard]] Result<std::vector<ArchiveFile>> list_archive(const std::string& folder);

// `live` and the files in `folder` as one journal: what both hold is read from `live`. Its head's
// `first` is the lowest sequence from which nothing is missing; scans pass over what is, and see
// what is held before it (archive_gaps.hpp). A file whose last record does not chain into what
// follows is no part of it (archive_strays.hpp). One file is open at a time, verified. One thread.
[[nodiscard]] Result<std::unique_ptr<Reader>> join_archive(std::unique_ptr<Reader> live,
                                                           const std::string& folder);

// Every file of `folder` whole, each continuing the one before, the last one continued by `live`;
// of those whose records are live still nothing is said (archive_strays.hpp does).
// Files may have been taken elsewhere: nothing is said of what is missing (archive_gaps.hpp does).
// The finding counts the archived records only.
[[nodiscard]] Result<Verification> verify_archive(Reader& live, const std::string& folder);

}  // namespace datum::journal
