// What a simulated log holds in memory, and the frames in which it lies on the disk: one frame is
// one batch, whole or not there. Format of this library's simulation only; nothing outside reads
// it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/journal/log.hpp"

namespace datum::journal {

struct SimState {
  std::shared_mutex mutex;
  Id128 store;
  std::uint32_t level = 0;
  Head head;
  std::map<Seq, Bytes> values;
  std::map<std::string, std::map<std::string, std::vector<Seq>, std::less<>>, std::less<>> indexes;
  std::map<std::string, Bytes, std::less<>> meta;
  std::map<std::string, Bytes, std::less<>> projections;

  // Takes a value that was verified against `head`.
  void take_value(ByteView value, const Record& record);
  void drop_before(Seq first);
};

// Fields of one batch on the disk, in order.
class FrameWriter {
 public:
  void number(std::uint64_t value);
  void bytes(ByteView value);
  // Adds magic, length, place in the chain of frames and checksum.
  [[nodiscard]] Bytes finish(std::uint64_t index) const;

 private:
  Bytes body_;
};

class FrameReader {
 public:
  explicit FrameReader(ByteView body) : left_(body) {}
  [[nodiscard]] bool number(std::uint64_t& value);
  [[nodiscard]] bool bytes(ByteView& value);
  [[nodiscard]] bool is_done() const { return left_.empty(); }

 private:
  ByteView left_;
};

inline constexpr std::size_t kFrameHeader = 24;
// The body of the frame at the front of `image`, if it is whole and the `index`-th.
[[nodiscard]] std::optional<ByteView> find_frame(ByteView image, std::uint64_t index);

// A batch (or the store's birth) as a frame's body, and back into the state.
struct SimChange {
  Bytes store;  // the id, at birth only
  std::uint32_t level = 0;
  Seq remove_before = 0;
  std::vector<std::string> indexes;
  std::vector<Bytes> values;
  std::vector<Put> meta;
  std::vector<Put> projections;
};
[[nodiscard]] Bytes encode_change(const SimChange& change, std::uint64_t index);
// `corrupt`: the frame is whole but its records are not what the log wrote.
[[nodiscard]] Status apply_frame(ByteView body, SimState& state);

}  // namespace datum::journal
