// Records on their way to another machine: as an export holds them, a part at a time
// (docs/formats/link.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "datum/base/bytes.hpp"
#include "datum/journal/log.hpp"

namespace datum::history {

struct RecordPart {
  Seq first = 0;
  std::uint32_t count = 0;
  Bytes values;  // of an export: each a record and its keys block
};

// From `from` on, dense, as many as `limit` bytes hold, and at least one; nothing where none is
// there yet. `not_found` where the reader holds only later ones. Any thread but the writer's.
[[nodiscard]] Result<std::optional<RecordPart>> read_part(journal::Reader& reader, Seq from,
                                                          std::size_t limit);

}  // namespace datum::history
