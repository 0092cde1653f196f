// Exports that carry more than records: contents that the records name (opaque bytes under their
// SHA-256), and exports whose payloads were rewritten on the way out. One file, self-checking
// (docs/formats/export.md). What a payload means, and which contents belong to it, is the caller's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

// The name of a content: its SHA-256.
[[nodiscard]] Digest content_digest(ByteView bytes);

struct ExportOptions {
  ExportRange range;
  // Taken from `content`, each once, whatever the order; what the source does not have is left out
  // and told.
  std::vector<Digest> digests;
  const ContentSource* content = nullptr;
  // The payload to write in the place of a record's own. The export then has a chain of its own,
  // says so, and names the hash of the last record that it was made from. Sequences, kinds, times
  // and index keys stay.
  std::function<Result<Bytes>(const Record&)> rewrite;
};

struct ExportMade {
  Head head;                    // of the file's own chain
  Digest original;              // of the last record that it was made from
  std::size_t contents = 0;     // written
  std::vector<Digest> missing;  // wished for, and not in the source
  std::uint64_t bytes = 0;      // of the file
};
// Written beside (0600), synced, renamed, folder synced. An existing `file` is `already_exists`, a
// range that is not held wholly `not_found`; after an error nothing is left.
[[nodiscard]] Result<ExportMade> write_export(Reader& reader, const ExportOptions& options,
                                              const std::string& file);

struct OpenedExport {
  std::unique_ptr<Reader> reader;
  std::shared_ptr<const ContentSource> content;  // may outlive the reader; any thread
  std::vector<Digest> digests;                   // what `content` has, ascending
  Digest rewritten_from;  // not zero: its payloads were rewritten, and this was the head's hash
};
// Verified whole first; errors as open_export.
[[nodiscard]] Result<OpenedExport> open_whole_export(const std::string& file);

}  // namespace datum::journal
