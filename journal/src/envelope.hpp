// The bytes of a record, of its keys block and of a checked value (docs/formats/journal.md). Pure:
// no file, no LMDB. Both implementations of the log, the walk and the exports stand on it, so that
// there is one place that decides whether bytes are a record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

inline constexpr std::size_t kHeaderSize = 96;
inline constexpr std::size_t kKeysHeaderSize = 8;
inline constexpr std::size_t kCheckedHeaderSize = 8;
// A value in `events`: record and keys block.
inline constexpr std::size_t kMinValueSize = kHeaderSize + kKeysHeaderSize;

[[nodiscard]] constexpr std::size_t padded(std::size_t size) {
  return (size + 7) & ~std::size_t{7};
}

// Sorted by index and key, each once: the order in which a keys block holds them.
[[nodiscard]] std::vector<IndexKey> sorted_keys(const std::vector<IndexKey>& keys);
[[nodiscard]] std::size_t value_size(std::size_t payload_size, const std::vector<IndexKey>& keys);

// Writes the record and its keys block. `out` has exactly value_size() bytes; `keys` come from
// sorted_keys. Returns the record's hash.
Digest write_value(MutableByteView out, const Entry& entry, const std::vector<IndexKey>& keys,
                   Seq seq, std::uint32_t level, const Digest& previous);

// The length of the value that begins at `bytes`, which holds at least what is asked for: a header
// first (its checksum is verified), then the keys header. For formats in which values follow each
// other.
[[nodiscard]] Result<std::size_t> read_record_size(ByteView header, Seq expected);
[[nodiscard]] Result<std::size_t> read_keys_size(ByteView keys_header, Seq seq);

// Reads a value whole: header, sequence, payload, keys block and every checksum. The views of the
// result point into `value`. `corrupt` names the sequence.
[[nodiscard]] Result<Record> read_value(ByteView value, Seq expected);

// Calls `visit` for each key of a block that read_value has accepted; false when an entry runs
// over.
[[nodiscard]] bool for_each_key(ByteView keys, const std::function<void(const IndexKey&)>& visit);

[[nodiscard]] Bytes make_checked(std::string_view name, ByteView value);
// The value inside, or nullopt when checksum or length differ.
[[nodiscard]] std::optional<ByteView> find_checked(std::string_view name, ByteView stored);

// Index entries as keys of LMDB: length, key, sequence big-endian.
[[nodiscard]] std::string index_entry(std::string_view key, Seq seq);
struct IndexEntry {
  std::string_view key;
  Seq seq = 0;
};
[[nodiscard]] std::optional<IndexEntry> find_index_entry(ByteView bytes);

// Sums over index entries: equal sums from both sides say that indexes and keys blocks agree,
// without sorting either. Not a defence against an adversary, who can rewrite both.
[[nodiscard]] std::uint64_t index_sum(std::string_view index, std::string_view key, Seq seq);

[[nodiscard]] Error corrupt_record(Seq seq, std::string_view what);

// Takes values in order and verifies envelope, order and chain.
class ChainCheck {
 public:
  // `first` is the lowest sequence that will come, `from` the lowest to verify wholly: of those
  // below only the sequence is looked at (the caller need not have their bytes).
  ChainCheck(Seq first, Seq from)
      : next_(first), first_(first), from_(from < first ? first : from) {}

  // Whether the next value must be handed over whole: from_ - 1 must, its hash is carried by from_.
  [[nodiscard]] bool wants_bytes() const { return next_ + 1 >= from_; }
  [[nodiscard]] Status take(ByteView value);
  void skip() { ++next_; }
  // Sequence of the record that is expected next.
  [[nodiscard]] Seq next() const { return next_; }
  [[nodiscard]] Head head() const { return {next_ == first_ ? 0 : next_ - 1, hash_, first_}; }
  // Over the keys of records from `from` on.
  [[nodiscard]] std::uint64_t keys_sum() const { return keys_sum_; }

 private:
  Seq next_;
  Seq first_;
  Seq from_;
  Digest hash_;
  std::uint64_t keys_sum_ = 0;
};

}  // namespace datum::journal
