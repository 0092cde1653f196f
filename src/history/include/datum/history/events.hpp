// Events as they lie in a journal: decoded records, found by pass or by target, and the fold of all
// of them. For whoever reads a journal without writing it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/core/event.hpp"
#include "datum/core/state.hpp"
#include "datum/journal/log.hpp"

namespace datum::history {

// An event ready to be appended.
struct EncodedEvent {
  std::uint16_t kind = 0;
  journal::Stamp stamp;
  Bytes payload;
  std::vector<std::pair<std::string_view, std::string>> keys;  // index name, key
  Seq archived_to = 0;  // of an event that says what was archived
};
[[nodiscard]] EncodedEvent encode(const core::Event& event, Seq seq, const journal::Stamp& stamp);

// An event as read.
struct StoredEvent {
  core::EventPlace place;
  core::Event event;
};
using EventVisitor = std::function<journal::Visit(const StoredEvent&)>;

// Decodes the record. The message of an error names the sequence.
[[nodiscard]] Result<StoredEvent> decode(const journal::Record& record);

// All events from `from` on, in order, decoded. Stops with the first that cannot be.
[[nodiscard]] Status scan_events(journal::Reader& reader, Seq from, const EventVisitor& visit);
[[nodiscard]] Result<StoredEvent> read_event(journal::Reader& reader, Seq seq);

// Sequences of everything that belongs to a pass, ascending, from `from` on.
[[nodiscard]] Result<std::vector<Seq>> find_pass(journal::Reader& reader, PassId pass, Seq from,
                                                 std::size_t limit);
// Events about one target, oldest first, from `from` on.
[[nodiscard]] Result<std::vector<StoredEvent>> find_target(journal::Reader& reader,
                                                           const model::Target& target, Seq from,
                                                           std::size_t limit);

// The State after `through` (0: the head). `use_checkpoint` false folds every record from the
// first, which is what a verification compares with. An archived beginning needs the checkpoint.
[[nodiscard]] Result<core::State> fold(journal::Reader& reader, Seq through, bool use_checkpoint);

struct Folded {
  core::State state;
  Seq checkpoint = 0;  // of the one that it was folded from; 0 where none could be used
};
// The State after the newest record. A checkpoint that another version wrote in a format of its own
// counts as none; `not_found` if it would be needed since the beginning is archived.
[[nodiscard]] Result<Folded> fold_newest(journal::Reader& reader);

// Envelope, chain, indexes, every payload decodes, and the checkpoint equals a fold of what it
// covers.
[[nodiscard]] Result<journal::Verification> verify(journal::Log& log);
[[nodiscard]] Result<journal::Verification> verify_events(journal::Reader& reader,
                                                          journal::Verification so_far);

}  // namespace datum::history
