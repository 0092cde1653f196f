// A journal with what its records name (plans, document lines, old content), wherever it lies: a
// store, a copy of one, an export. Exports leave the machine with it, and come back as a store that
// is only read. Knows no blob store: content comes as a source, and goes into a sink.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "datum/base/content.hpp"
#include "datum/history/events.hpp"
#include "datum/journal/export.hpp"

namespace datum::history {

struct Story {
  std::unique_ptr<journal::Reader> reader;
  std::shared_ptr<const ContentSource> content;  // never null
  // Of a redacted export: the hash of the last record it was made from. Zero: the records are the
  // store's own.
  Digest redacted_from;
};

// From an export file; errors as journal::open_export.
[[nodiscard]] Result<Story> open_exported_story(const std::string& file);

struct StoryExport {
  journal::ExportRange range;
  bool redact = false;   // values, messages, output and names of people are left out
  bool content = false;  // old content of files too, which may be anything; not with `redact`
};
// Records, plans and document lines (without `redact`) into one file. Errors as
// journal::write_export; a plan that cannot be read is `corrupt`.
[[nodiscard]] Result<journal::ExportMade> export_story(const Story& story,
                                                       const StoryExport& wanted,
                                                       const std::string& file);

// Takes a content that an import brings along.
using TakeContent = std::function<Status(const Digest&, ByteSource&)>;
// Makes a journal in `journal_folder` (as journal::import_records), after every content went
// through `take`. The head of what was imported.
[[nodiscard]] Result<journal::Head> import_story(const std::string& file,
                                                 const std::string& journal_folder,
                                                 const TakeContent& take);

}  // namespace datum::history
