#include "datum/history/transfer.hpp"

namespace datum::history {

Result<std::optional<RecordPart>> read_part(journal::Reader& reader, Seq from, std::size_t limit) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  if (from > head.seq) return std::nullopt;
  if (from < head.first)
    return fail(ErrorCode::not_found,
                "record " + std::to_string(from) + " is no longer in the journal");
  RecordPart part;
  part.first = from;
  const auto take = [&part, limit](const journal::Record& record) {
    const auto size = record.stored.size() + record.keys.size();
    if (part.count != 0 && part.values.size() + size > limit) return journal::Visit::stop;
    part.values.insert(part.values.end(), record.stored.begin(), record.stored.end());
    part.values.insert(part.values.end(), record.keys.begin(), record.keys.end());
    ++part.count;
    return journal::Visit::go_on;
  };
  DATUM_TRY(reader.scan(from, take));
  return part;
}

}  // namespace datum::history
