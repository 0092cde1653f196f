// Which files of an archive's folder are this journal's: those whose last record chains into what
// follows, by what both ends of each file say; behind a file that is missing those that end where
// the journal remembers to have been cut. Nothing is opened whole here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datum/journal/archive_strays.hpp"
#include "export_format.hpp"

namespace datum::journal {

struct ChosenFile {
  ArchiveFile file;
  // None: its ends cannot be read. It is chosen where nothing else is, so that reading names it.
  std::optional<ExportEdges> edges;
};

struct ArchiveChoice {
  Head head;                       // of the live journal, as it was looked at
  std::vector<ChosenFile> chosen;  // ascending; none overlaps another
  std::vector<Stray> strays;       // of those that begin below the live records
  std::vector<ArchiveFile> above;  // whose records are all live, or never were; not opened
};
[[nodiscard]] Result<ArchiveChoice> choose_files(Reader& live, const std::string& folder);

}  // namespace datum::journal
