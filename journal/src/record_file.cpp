#include "record_file.hpp"

#include <algorithm>

#include "envelope.hpp"

namespace datum::journal {

Status RecordFile::scan(Seq from, const Visitor& visit) {
  for (Seq seq = std::max(from, head_.first); head_.seq != 0 && seq <= head_.seq; ++seq) {
    DATUM_ASSIGN(const auto wish, visit_at(seq, visit));
    if (wish == Visit::stop) break;
  }
  return {};
}

Status RecordFile::scan_back(Seq from, const Visitor& visit) {
  Seq seq = from == 0 ? head_.seq : std::min(from, head_.seq);
  for (; seq != 0 && seq >= head_.first; --seq) {
    DATUM_ASSIGN(const auto wish, visit_at(seq, visit));
    if (wish == Visit::stop) break;
  }
  return {};
}

Status RecordFile::read(Seq seq, const Visitor& visit) {
  if (head_.seq == 0 || seq < head_.first || seq > head_.seq)
    return fail(ErrorCode::not_found, "record " + std::to_string(seq) + " is not in " + name_);
  const auto visited = visit_at(seq, visit);
  if (!visited) return fail(visited.error());
  return {};
}

Result<Visit> RecordFile::visit_at(Seq seq, const Visitor& visit) {
  DATUM_ASSIGN(const ByteView value, source_.view_value(offsets_[seq - head_.first], seq));
  DATUM_ASSIGN(const Record record, read_value(value, seq));
  return visit(record);
}

}  // namespace datum::journal
