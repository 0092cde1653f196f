// The frame of an export (docs/formats/export.md) and a whole check of one, in one pass. Reads with
// pread, so that a file that shrinks meanwhile is an error and no signal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/journal/log.hpp"
#include "file_io.hpp"

namespace datum::journal {

inline constexpr std::size_t kExportHeader = 96;
inline constexpr std::size_t kExportTrailer = 96;
// What of the trailer the file's hash covers.
inline constexpr std::size_t kTrailerHashed = 64;

struct ExportFacts {
  std::uint32_t level = 0;
  Id128 store;
  Seq first = 1;
  Seq last = 0;  // first - 1: no records
  Digest head;   // hash of the last record
  // Payloads were rewritten: the hash of the last record that the export was made from. Zero: the
  // records are the store's own.
  Digest original;
  std::uint32_t contents = 0;  // how many follow the records
  bool carries_contents = false;

  [[nodiscard]] std::uint64_t count() const { return last + 1 - first; }
};

[[nodiscard]] Bytes make_export_header(const ExportFacts& facts);
// The part of the trailer before the file's hash.
[[nodiscard]] Bytes make_export_trailer(const ExportFacts& facts);

// A file read through one window: cheap in order, correct in any.
class ExportSource {
 public:
  [[nodiscard]] static Result<ExportSource> open(const std::string& file);
  // Borrowed until the next call. `corrupt` when the file is shorter.
  [[nodiscard]] Result<ByteView> view(std::uint64_t offset, std::size_t size);
  // The value at `offset`: its lengths are read first, each after its checksum or within its limit.
  [[nodiscard]] Result<ByteView> view_value(std::uint64_t offset, Seq seq);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::shared_ptr<const Fd> file() const { return fd_; }

 private:
  std::shared_ptr<const Fd> fd_;
  std::uint64_t size_ = 0;
  std::uint64_t begin_ = 0;  // of the window
  Bytes window_;
};

using ExportVisitor = std::function<void(std::uint64_t offset, const Record&)>;
using ContentVisitor = std::function<void(std::uint64_t offset, const Digest&)>;
// Checks everything; `visit` sees each record after it was found good (the file as a whole is good
// only when this has returned). `bad_seq` is set to the record that is wrong, 0 when it is another
// part.
[[nodiscard]] Result<ExportFacts> check_export(ExportSource& source, const ExportVisitor& visit,
                                               Seq& bad_seq,
                                               const ContentVisitor& visit_content = {});

// What both ends of an export say, without what lies between: enough to tell whose it would be, and
// no proof that it is sound. `corrupt` like a whole check.
struct ExportEdges {
  ExportFacts facts;  // without how many contents follow
  Digest previous;    // what the first record carries of the one before it
};
[[nodiscard]] Result<ExportEdges> read_edges(ExportSource& source);

}  // namespace datum::journal
