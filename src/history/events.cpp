// Records to events and back. The keys of both indexes are eight bytes wide: a pass is its number,
// a target a 64-bit hash of its text. Two targets may share a hash, so whoever looks one up
// compares what it decoded; the journal never needs to know what a target is.
#include "datum/history/events.hpp"

#include <algorithm>
#include <string>

#include "checkpoint.hpp"
#include "datum/codec/event.hpp"
#include "datum/history/history.hpp"
#include "datum/journal/keys.hpp"

namespace datum::history {

namespace {
constexpr std::string_view kPasses = "passes";
constexpr std::string_view kTargets = "targets";

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

using Keys = std::vector<std::pair<std::string_view, std::string>>;

// By index, then by key.
static Keys keys_for(const core::Event& event, Seq seq) {
  Keys keys;
  const bool starts = std::holds_alternative<core::PassStarted>(event);
  const PassId pass = starts ? seq : core::pass_of(event);
  if (pass != 0) keys.emplace_back(kPasses, key_of_number(pass));
  // A wave's announcement names many targets; each of them is found by the record that ends its
  // action.
  if (std::holds_alternative<core::ActionsAnnounced>(event)) return keys;
  std::vector<std::string> seen;
  for (const auto* target : core::targets_of(event)) seen.push_back(key_of_target(*target));
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (auto& key : seen) {
    if (keys.size() == journal::kMaxEntryKeys) break;
    keys.emplace_back(kTargets, std::move(key));
  }
  return keys;
}

EncodedEvent encode(const core::Event& event, Seq seq, const journal::Stamp& stamp) {
  EncodedEvent encoded;
  encoded.kind = static_cast<std::uint16_t>(core::kind_of(event));
  encoded.stamp = stamp;
  encoded.payload = codec::encode_event(event);
  encoded.keys = keys_for(event, seq);
  if (const auto* archived = std::get_if<core::RecordsArchived>(&event))
    encoded.archived_to = archived->to;
  return encoded;
}

Result<StoredEvent> decode(const journal::Record& record) {
  auto event = codec::decode_event(record.kind, record.payload);
  if (!event) return fail(std::move(event).error().context("record " + std::to_string(record.seq)));
  return StoredEvent{{record.seq, record.stamp.wall, record.stamp.mono, record.stamp.boot},
                     std::move(*event)};
}

// Decodes one record after another. Each kind has an event of its own whose memory is used again:
// most of a fold's time would else go into asking for memory and giving it back.
class ReusingDecoder {
 public:
  // Borrowed until the next call.
  Result<const StoredEvent*> decode(const journal::Record& record) {
    // Kinds have numbers below this; a higher one is of a newer version and is not kept.
    constexpr std::size_t kKinds = 256;
    if (kept_.size() < kKinds) kept_.resize(kKinds);
    auto& slot = kept_[record.kind < kKinds ? record.kind : 0];
    if (!slot) slot = std::make_unique<StoredEvent>();
    auto decoded = codec::decode_event_into(record.kind, record.payload, slot->event);
    if (!decoded)
      return fail(std::move(decoded).error().context("record " + std::to_string(record.seq)));
    slot->place = {record.seq, record.stamp.wall, record.stamp.mono, record.stamp.boot};
    return slot.get();
  }

 private:
  std::vector<std::unique_ptr<StoredEvent>> kept_;
};

Status scan_events(journal::Reader& reader, Seq from, const EventVisitor& visit) {
  std::optional<Error> error;
  ReusingDecoder decoder;
  DATUM_TRY(reader.scan(from, [&](const journal::Record& record) {
    const auto stored = decoder.decode(record);
    if (stored) return visit(**stored);
    error = stored.error();
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

static Status fold_on(journal::Reader& reader, Seq first, Seq through, core::State& state) {
  if (state.seq + 1 < first)
    return fail(ErrorCode::not_found, "records before " + std::to_string(first) +
                                          " are archived, and the archive does not have them");
  if (through != 0 && state.seq >= through) return {};
  return scan_events(reader, state.seq + 1, [&](const StoredEvent& stored) {
    core::evolve(state, stored.event, stored.place);
    return through != 0 && stored.place.seq >= through ? journal::Visit::stop
                                                       : journal::Visit::go_on;
  });
}

static Result<std::optional<core::State>> find_checkpoint(journal::Reader& reader, Seq newest) {
  auto checkpoint = read_checkpoint(reader);
  if (checkpoint && *checkpoint && (*checkpoint)->seq > newest)
    return fail(ErrorCode::corrupt, "the checkpoint is newer than the newest record");
  return checkpoint;
}

Result<core::State> fold(journal::Reader& reader, Seq through, bool use_checkpoint) {
  core::State state;
  DATUM_ASSIGN(const auto head, reader.read_head());
  if (use_checkpoint) {
    DATUM_ASSIGN(auto checkpoint, find_checkpoint(reader, head.seq));
    if (checkpoint && (through == 0 || checkpoint->seq <= through)) state = std::move(*checkpoint);
  }
  DATUM_TRY(fold_on(reader, head.first, through, state));
  return state;
}

Result<Folded> fold_newest(journal::Reader& reader) {
  Folded folded;
  DATUM_ASSIGN(const auto head, reader.read_head());
  DATUM_ASSIGN(auto checkpoint, find_checkpoint(reader, head.seq));
  if (checkpoint) folded.state = std::move(*checkpoint);
  folded.checkpoint = folded.state.seq;
  DATUM_TRY(fold_on(reader, head.first, 0, folded.state));
  return folded;
}

// The keys must be those that this event asks for: a record that no index leads to would be missing
// from every list of its pass or target, and nobody would see it.
static bool has_its_keys(const journal::Record& record, const core::Event& event) {
  const auto wanted = keys_for(event, record.seq);
  const auto found = journal::keys_of(record);
  return std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(),
                    [](const auto& want, const journal::IndexKey& is) {
                      return want.first == is.index && want.second == is.key;
                    });
}

// Judges every record by its meaning, and the checkpoint by what they add up to.
class MeaningCheck {
 public:
  explicit MeaningCheck(std::optional<core::State> checkpoint, bool from_the_beginning)
      : checkpoint_(std::move(checkpoint)), folds_(checkpoint_ && from_the_beginning) {}

  journal::Visit take(const journal::Record& record) {
    const auto stored = decode(record);
    if (!stored) return found(record.seq, stored.error());
    if (!has_its_keys(record, stored->event))
      return found(record.seq,
                   Error(ErrorCode::corrupt, "record " + std::to_string(record.seq) +
                                                 ": its index keys are not those of its event"));
    if (!folds_ || record.seq > checkpoint_->seq) return journal::Visit::go_on;
    core::evolve(state_, stored->event, stored->place);
    if (record.seq == checkpoint_->seq && state_ != *checkpoint_)
      return found(
          0, Error(ErrorCode::corrupt, "the checkpoint at record " + std::to_string(record.seq) +
                                           " is not what the records add up to"));
    return journal::Visit::go_on;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] Seq bad_seq() const { return bad_seq_; }

 private:
  journal::Visit found(Seq seq, Error error) {
    bad_seq_ = seq;
    error_ = std::move(error);
    return journal::Visit::stop;
  }

  std::optional<core::State> checkpoint_;
  bool folds_;
  core::State state_;
  std::optional<Error> error_;
  Seq bad_seq_ = 0;
};

static bool says_damage(const Error& error) {
  return error.code() == ErrorCode::corrupt || error.code() == ErrorCode::unsupported_version;
}

Result<journal::Verification> verify_events(journal::Reader& reader, journal::Verification so_far) {
  if (!so_far.sound) return so_far;
  const auto is_bad = [&so_far](Seq seq, const Error& error) {
    so_far.sound = false;
    so_far.bad_seq = seq;
    so_far.problem = error.message();
    return so_far;
  };
  DATUM_ASSIGN(const auto head, reader.read_head());
  auto checkpoint = read_checkpoint(reader);
  if (checkpoint && *checkpoint && (*checkpoint)->seq > head.seq)
    checkpoint = fail(ErrorCode::corrupt, "the checkpoint is newer than the newest record");
  if (!checkpoint && !says_damage(checkpoint.error())) return fail(std::move(checkpoint).error());
  if (!checkpoint) return is_bad(0, checkpoint.error());
  MeaningCheck check(std::move(*checkpoint), head.first == 1);
  // From the lowest that is held, also where records above it are missing.
  DATUM_TRY(reader.scan(1, [&](const journal::Record& record) { return check.take(record); }));
  if (!check.error()) return so_far;
  if (!says_damage(*check.error())) return fail(*check.error());
  return is_bad(check.bad_seq(), *check.error());
}

Result<journal::Verification> verify(journal::Log& log) {
  DATUM_ASSIGN(const auto head, log.read_head());
  DATUM_ASSIGN(auto verification, log.verify(head.first));
  return verify_events(log, std::move(verification));
}

}  // namespace datum::history
