// Records to events and back. The keys of both indexes are eight bytes wide: a pass is its number,
// a target a 64-bit hash of its text. Two targets may share a hash, so whoever looks one up
// compares what it decoded; the journal never needs to know what a target is.
#include "datum/history/events.hpp"

#include <algorithm>
#include <string>

#include "datum/codec/checkpoint.hpp"
#include "datum/codec/event.hpp"
#include "datum/history/history.hpp"

namespace datum::history {

namespace {
constexpr std::string_view kPasses = "passes";
constexpr std::string_view kTargets = "targets";
constexpr std::string_view kStateProjection = "state";

std::string key_of_number(std::uint64_t value) {
  std::string key(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(value >> (56 - 8 * i));
  return key;
}

// FNV-1a, 64 bits: stored in journals, so it never changes.
std::string key_of_target(const model::Target& target) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint8_t byte) {
    hash ^= byte;
    hash *= 0x100000001b3;
  };
  mix(static_cast<std::uint8_t>(target.family));
  for (const char c : target.name) mix(static_cast<std::uint8_t>(c));
  return key_of_number(hash);
}

bool is_about(const core::Event& event, const model::Target& target) {
  const auto targets = core::targets_of(event);
  return std::any_of(targets.begin(), targets.end(),
                     [&target](const auto* other) { return *other == target; });
}
}  // namespace

std::vector<std::string> index_names() {
  return {std::string(kPasses), std::string(kTargets)};
}

EncodedEvent encode(const core::Event& event, Seq seq, const journal::Stamp& stamp) {
  EncodedEvent encoded;
  encoded.kind = static_cast<std::uint16_t>(core::kind_of(event));
  encoded.stamp = stamp;
  encoded.payload = codec::encode_event(event);
  const bool starts = std::holds_alternative<core::PassStarted>(event);
  const PassId pass = starts ? seq : core::pass_of(event);
  if (pass != 0) encoded.keys.emplace_back(kPasses, key_of_number(pass));
  // A wave's announcement names many targets; each of them is found by the record that ends its
  // action.
  if (std::holds_alternative<core::ActionsAnnounced>(event)) return encoded;
  std::vector<std::string> seen;
  for (const auto* target : core::targets_of(event)) seen.push_back(key_of_target(*target));
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (auto& key : seen) {
    if (encoded.keys.size() == journal::kMaxEntryKeys) break;
    encoded.keys.emplace_back(kTargets, std::move(key));
  }
  return encoded;
}

Result<StoredEvent> decode(const journal::Record& record) {
  auto event = codec::decode_event(record.kind, record.payload);
  if (!event) return fail(std::move(event).error().context("record " + std::to_string(record.seq)));
  return StoredEvent{{record.seq, record.stamp.wall, record.stamp.mono, record.stamp.boot},
                     std::move(*event)};
}

Status scan_events(journal::Reader& reader, Seq from, const EventVisitor& visit) {
  std::optional<Error> error;
  DATUM_TRY(reader.scan(from, [&](const journal::Record& record) {
    auto stored = decode(record);
    if (stored) return visit(*stored);
    error = std::move(stored).error();
    return journal::Visit::stop;
  }));
  if (error) return fail(std::move(*error));
  return {};
}

Result<StoredEvent> read_event(journal::Reader& reader, Seq seq) {
  Result<StoredEvent> stored = fail(ErrorCode::not_found, "no record " + std::to_string(seq));
  DATUM_TRY(reader.read(seq, [&stored](const journal::Record& record) {
    stored = decode(record);
    return journal::Visit::stop;
  }));
  return stored;
}

Result<std::vector<Seq>> find_pass(journal::Reader& reader, PassId pass, Seq from,
                                   std::size_t limit) {
  return reader.find(kPasses, key_of_number(pass), from, limit);
}

Result<std::vector<StoredEvent>> find_target(journal::Reader& reader, const model::Target& target,
                                             Seq from, std::size_t limit) {
  std::vector<StoredEvent> found;
  const auto key = key_of_target(target);
  while (found.size() < limit) {
    DATUM_ASSIGN(const auto sequences, reader.find(kTargets, key, from, limit));
    for (const Seq seq : sequences) {
      DATUM_ASSIGN(auto stored, read_event(reader, seq));
      if (is_about(stored.event, target) && found.size() < limit)
        found.push_back(std::move(stored));
    }
    if (sequences.size() < limit) break;
    from = sequences.back() + 1;
  }
  return found;
}

Result<core::State> fold(journal::Reader& reader, Seq through, bool use_checkpoint) {
  core::State state;
  DATUM_ASSIGN(const auto head, reader.read_head());
  if (use_checkpoint) {
    DATUM_ASSIGN(const auto bytes, reader.read_projection(kStateProjection));
    if (bytes) {
      DATUM_ASSIGN(auto checkpoint, codec::decode_state(*bytes));
      if (checkpoint.seq > head.seq)
        return fail(ErrorCode::corrupt, "the checkpoint is newer than the newest record");
      if (through == 0 || checkpoint.seq <= through) state = std::move(checkpoint);
    }
  }
  if (state.seq + 1 < head.first)
    return fail(ErrorCode::not_found, "records before " + std::to_string(head.first) +
                                          " are archived; give the archive's file");
  if (through != 0 && state.seq >= through) return state;
  DATUM_TRY(scan_events(reader, state.seq + 1, [&](const StoredEvent& stored) {
    core::evolve(state, stored.event, stored.place);
    return through != 0 && stored.place.seq >= through ? journal::Visit::stop
                                                       : journal::Visit::go_on;
  }));
  return state;
}

// The checkpoint must be what its records add up to, and every payload must decode.
static Status compare_checkpoint(journal::Reader& reader) {
  DATUM_ASSIGN(const auto bytes, reader.read_projection(kStateProjection));
  DATUM_ASSIGN(const auto head, reader.read_head());
  if (!bytes || head.first > 1)
    return scan_events(reader, head.first,
                       [](const StoredEvent&) { return journal::Visit::go_on; });
  DATUM_ASSIGN(const auto checkpoint, codec::decode_state(*bytes));
  core::State state;
  bool equal = checkpoint.seq <= head.seq;
  DATUM_TRY(scan_events(reader, 1, [&](const StoredEvent& stored) {
    core::evolve(state, stored.event, stored.place);
    if (stored.place.seq == checkpoint.seq) equal = state == checkpoint;
    return journal::Visit::go_on;
  }));
  if (!equal)
    return fail(ErrorCode::corrupt, "the checkpoint at record " + std::to_string(checkpoint.seq) +
                                        " is not what the records add up to");
  return {};
}

Result<journal::Verification> verify_events(journal::Reader& reader, journal::Verification so_far) {
  if (!so_far.sound) return so_far;
  const auto compared = compare_checkpoint(reader);
  if (compared) return so_far;
  if (compared.error().code() != ErrorCode::corrupt &&
      compared.error().code() != ErrorCode::unsupported_version)
    return fail(compared.error());
  so_far.sound = false;
  so_far.problem = compared.error().message();
  return so_far;
}

Result<journal::Verification> verify(journal::Log& log) {
  DATUM_ASSIGN(const auto head, log.read_head());
  DATUM_ASSIGN(auto verification, log.verify(head.first));
  return verify_events(log, std::move(verification));
}

}  // namespace datum::history
