#include "datum/history/archive.hpp"

#include <algorithm>

namespace datum::history {
namespace {

// Of the age: what is younger by so little goes with what is due, or every pass would have a few
// records due and write a file for them.
constexpr std::int64_t kAgeShare = 8;

Result<WallNs> time_of(journal::Reader& reader, Seq seq) {
  WallNs time;
  DATUM_TRY(reader.read(seq, [&time](const journal::Record& record) {
    time = record.stamp.wall;
    return journal::Visit::stop;
  }));
  return time;
}

// Times grow with sequences but for a clock that was set back, and then a few records more or fewer
// go: so a search by halves is good enough.
Result<Seq> last_before(journal::Reader& reader, const journal::Head& head, WallNs limit) {
  Seq low = head.first - 1;  // older, or before the first
  Seq high = head.seq;       // younger, or the newest, which stays
  while (high - low > 1) {
    const Seq middle = low + (high - low) / 2;
    DATUM_ASSIGN(const WallNs time, time_of(reader, middle));
    if (time.ns < limit.ns)
      low = middle;
    else
      high = middle;
  }
  return low;
}

Result<std::uint64_t> bytes_per_record(journal::Reader& reader, const journal::Head& head) {
  DATUM_ASSIGN(const auto usage, reader.read_usage());
  const auto count = head.seq - head.first + 1;
  return std::max<std::uint64_t>(1, usage.live_bytes / std::max<Seq>(count, 1));
}

}  // namespace

Result<std::optional<ArchiveRange>> find_due(journal::Reader& reader, const ArchiveLimits& limits,
                                             WallNs now) {
  DATUM_ASSIGN(auto head, reader.read_head());
  DATUM_ASSIGN(head.first, first_unarchived(reader));
  if (head.seq <= head.first) return std::optional<ArchiveRange>{};
  Seq to = 0;
  DATUM_ASSIGN(const WallNs oldest, time_of(reader, head.first));
  if (oldest.ns < now.ns - limits.after_ns) {
    const auto young = limits.after_ns - limits.after_ns / kAgeShare;
    DATUM_ASSIGN(to, last_before(reader, head, {now.ns - young}));
  }
  DATUM_ASSIGN(const auto usage, reader.read_usage());
  if (usage.live_bytes > limits.above_bytes) {
    DATUM_ASSIGN(const auto each, bytes_per_record(reader, head));
    const auto excess = (usage.live_bytes - limits.above_bytes / 2) / each;
    to = std::max(to, std::min(head.first + excess, head.seq - 1));
  }
  if (to < head.first) return std::optional<ArchiveRange>{};
  return std::optional<ArchiveRange>{{head.first, to}};
}

Result<ArchiveRange> first_file_of(journal::Reader& reader, const ArchiveRange& due) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  DATUM_ASSIGN(const auto each, bytes_per_record(reader, head));
  const Seq count = std::clamp<Seq>(kMaxArchiveBytes / each, 1, kMaxArchiveRecords);
  return ArchiveRange{due.from, std::min(due.to, due.from + count - 1)};
}

Result<Seq> read_archived(journal::Reader& reader) {
  DATUM_ASSIGN(const auto bytes, reader.read_meta(kArchivedMeta));
  return bytes && bytes->size() == sizeof(Seq) ? load_le<Seq>(bytes->data()) : Seq{0};
}

Result<Seq> first_unarchived(journal::Reader& reader) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  DATUM_ASSIGN(const Seq archived, read_archived(reader));
  return std::max(head.first, archived + 1);
}

std::string archive_folder(const std::string& store_folder) {
  return store_folder + "/archive";
}

}  // namespace datum::history
