// The State as projections of the journal, whatever its size. A small one is one value, `state`. A
// larger one is cut into pieces of a size that one batch holds; they are written, commit by commit,
// into the one of two slots that is not in use, and `state`, which then only says where they are,
// is exchanged last: a crash in between leaves the former checkpoint as it was. Layout:
// docs/formats/store.md.
#pragma once

#include <optional>

#include "datum/base/bytes.hpp"
#include "datum/core/state.hpp"
#include "datum/journal/log.hpp"

namespace datum::history {

// What one value holds at most; with its batch it stays well below journal::kMaxBatchBytes.
inline constexpr std::size_t kCheckpointPiece = 4 * 1024 * 1024;

// Makes `encoded`, the State after `seq`, the newest checkpoint, durably. After an error the former
// one stands (and the log, like after every failed append, may take nothing more).
[[nodiscard]] Status write_checkpoint(journal::Log& log, Seq seq, ByteView encoded);

// The newest checkpoint; nothing if there is none, or if another version wrote it (it can be folded
// again). `corrupt`: it is not whole.
[[nodiscard]] Result<std::optional<core::State>> read_checkpoint(journal::Reader& reader);

}  // namespace datum::history
