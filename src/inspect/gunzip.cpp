// Inflate with canonical Huffman codes read bit by bit: the smallest thing that is plainly right.
// Every read of the input and every write of the output is checked; hostile bytes end in an error.
#include "datum/inspect/gunzip.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace datum::inspect {

namespace {

constexpr std::size_t kMaxBits = 15;       // of one code (RFC 1951, 3.2.2)
constexpr std::size_t kMaxLiterals = 288;  // literals, the end and lengths
constexpr std::size_t kMaxDistances = 32;
constexpr std::size_t kHeaderSize = 10;
constexpr std::size_t kTrailerSize = 8;

tl::unexpected<Error> broken(const char* what) {
  return fail(ErrorCode::corrupt, std::string("gzip: ") + what);
}

class BitReader {
 public:
  explicit BitReader(ByteView bytes) : bytes_(bytes) {}

  // `count` bits, the first one lowest. Past the end zeros are read and `overrun` is set.
  std::uint32_t bits(unsigned count) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < count; ++i) value |= bit() << i;
    return value;
  }
  std::uint32_t bit() {
    if (at_ >= bytes_.size()) {
      overrun_ = true;
      return 0;
    }
    const auto value = (std::to_integer<unsigned>(bytes_[at_]) >> used_) & 1U;
    if (++used_ == 8) {
      used_ = 0;
      ++at_;
    }
    return value;
  }
  void align() {
    if (used_ != 0) ++at_;
    used_ = 0;
  }
  [[nodiscard]] bool overrun() const { return overrun_; }
  [[nodiscard]] std::size_t at() const { return std::min(at_, bytes_.size()); }  // when aligned
  [[nodiscard]] ByteView rest() const { return bytes_.subspan(at()); }
  void skip(std::size_t count) { at_ += count; }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;
  unsigned used_ = 0;
  bool overrun_ = false;
};

// A canonical code: how many codes of each length there are, and their symbols in order.
class Code {
 public:
  // False if the lengths give more codes than there can be.
  bool build(std::span<const std::uint8_t> lengths) {
    counts_.fill(0);
    for (const auto length : lengths) ++counts_[length];
    counts_[0] = 0;
    std::array<std::uint16_t, kMaxBits + 2> next{};
    int left = 1;
    for (std::size_t length = 1; length <= kMaxBits; ++length) {
      left = left * 2 - counts_[length];
      if (left < 0) return false;
      next[length + 1] = static_cast<std::uint16_t>(next[length] + counts_[length]);
    }
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] != 0)
        symbols_[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    return true;
  }

  // The next symbol, or -1 if the bits are no code.
  int read(BitReader& in) const {
    int code = 0;
    int first = 0;
    int index = 0;
    for (std::size_t length = 1; length <= kMaxBits; ++length) {
      code |= static_cast<int>(in.bit());
      const int count = counts_[length];
      if (code - first < count) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += count;
      first = (first + count) * 2;
      code *= 2;
    }
    return -1;
  }

 private:
  std::array<std::uint16_t, kMaxBits + 1> counts_{};
  std::array<std::uint16_t, kMaxLiterals> symbols_{};
};

// RFC 1951, 3.2.5.
constexpr std::array<std::uint16_t, 29> kLengthBase{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                    15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                    67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint8_t, 29> kLengthExtra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                    2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint16_t, 30> kDistanceBase{
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
// RFC 1951, 3.2.7.
constexpr std::array<std::uint8_t, 19> kLengthOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                    11, 4,  12, 3, 13, 2, 14, 1, 15};

class Inflater {
 public:
  Inflater(BitReader& in, Bytes& out, std::size_t limit)
      : in_(in), out_(out), limit_(limit), begin_(out.size()) {}

  Status run() {
    for (bool last = false; !last;) {
      last = in_.bit() != 0;
      switch (in_.bits(2)) {
        case 0:
          DATUM_TRY(stored());
          break;
        case 1:
          set_fixed();
          DATUM_TRY(coded());
          break;
        case 2:
          DATUM_TRY(read_codes());
          DATUM_TRY(coded());
          break;
        default:
          return broken("an unknown kind of block");
      }
      if (in_.overrun()) return broken("cut short");
    }
    in_.align();
    return {};
  }

 private:
  Status need(std::size_t count) const {
    if (count <= limit_ - std::min(limit_, out_.size())) return {};
    return fail(ErrorCode::limit_exceeded, "gzip: more than it may unpack to");
  }

  Status stored() {
    in_.align();
    const auto length = in_.bits(16);
    const auto inverse = in_.bits(16);
    if (in_.overrun() || length != (inverse ^ 0xffffU)) return broken("a stored block");
    const auto rest = in_.rest();
    if (length > rest.size()) return broken("cut short");
    DATUM_TRY(need(length));
    out_.insert(out_.end(), rest.begin(), rest.begin() + length);
    in_.skip(length);
    return {};
  }

  void set_fixed() {
    std::array<std::uint8_t, kMaxLiterals> lengths{};
    for (std::size_t i = 0; i < lengths.size(); ++i)
      lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    static_cast<void>(literals_.build(lengths));
    std::array<std::uint8_t, 30> distances{};
    distances.fill(5);
    static_cast<void>(distances_.build(distances));
  }

  Status read_codes() {
    const auto literal_count = in_.bits(5) + 257;
    const auto distance_count = in_.bits(5) + 1;
    const auto length_count = in_.bits(4) + 4;
    if (literal_count > 286 || distance_count > 30) return broken("too many codes");
    std::array<std::uint8_t, kMaxLiterals + kMaxDistances> lengths{};
    for (std::size_t i = 0; i < length_count; ++i)
      lengths[kLengthOrder[i]] = static_cast<std::uint8_t>(in_.bits(3));
    Code of_lengths;
    if (!of_lengths.build(std::span(lengths).first(kLengthOrder.size())))
      return broken("lengths of codes");
    lengths.fill(0);
    DATUM_TRY(read_lengths(of_lengths, std::span(lengths).first(literal_count + distance_count)));
    if (lengths[256] == 0) return broken("no end of a block");
    if (!literals_.build(std::span(lengths).first(literal_count)) ||
        !distances_.build(std::span(lengths).subspan(literal_count, distance_count)))
      return broken("lengths of codes");
    return {};
  }

  Status read_lengths(const Code& code, std::span<std::uint8_t> lengths) {
    for (std::size_t at = 0; at < lengths.size();) {
      const int symbol = code.read(in_);
      if (symbol < 0 || symbol > 18 || in_.overrun()) return broken("lengths of codes");
      if (symbol < 16) {
        lengths[at++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && at == 0) return broken("lengths of codes");
      const std::uint8_t value = symbol == 16 ? lengths[at - 1] : std::uint8_t{0};
      const std::size_t count = symbol == 16   ? 3 + in_.bits(2)
                                : symbol == 17 ? 3 + in_.bits(3)
                                               : 11 + in_.bits(7);
      if (count > lengths.size() - at) return broken("lengths of codes");
      std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), count, value);
      at += count;
    }
    return {};
  }

  Status coded() {
    for (;;) {
      const int symbol = literals_.read(in_);
      if (symbol < 0 || in_.overrun()) return broken("a code that is none");
      if (symbol == 256) return {};
      if (symbol < 256) {
        DATUM_TRY(need(1));
        out_.push_back(static_cast<std::byte>(symbol));
        continue;
      }
      DATUM_TRY(copy(static_cast<std::size_t>(symbol) - 257));
    }
  }

  Status copy(std::size_t length_code) {
    if (length_code >= kLengthBase.size()) return broken("a length that is none");
    const std::size_t length = kLengthBase[length_code] + in_.bits(kLengthExtra[length_code]);
    const int code = distances_.read(in_);
    if (code < 0 || static_cast<std::size_t>(code) >= kDistanceBase.size())
      return broken("a distance that is none");
    const auto place = static_cast<std::size_t>(code);
    const auto extra = place < 4 ? 0U : static_cast<unsigned>(place / 2 - 1);
    const std::size_t distance = kDistanceBase[place] + in_.bits(extra);
    if (in_.overrun() || distance > out_.size() - begin_) return broken("a distance too far");
    DATUM_TRY(need(length));
    for (std::size_t i = 0; i < length; ++i) out_.push_back(out_[out_.size() - distance]);
    return {};
  }

  BitReader& in_;
  Bytes& out_;
  std::size_t limit_;
  std::size_t begin_;  // of this member's output
  Code literals_;
  Code distances_;
};

std::uint32_t crc32(ByteView bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const auto byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

// Bytes of the header, with its optional fields; 0 if it is none.
std::size_t header_size(ByteView packed) {
  constexpr std::byte kDeflate{8};
  if (packed.size() < kHeaderSize || packed[0] != std::byte{0x1f} || packed[1] != std::byte{0x8b} ||
      packed[2] != kDeflate)
    return 0;
  const auto flags = std::to_integer<unsigned>(packed[3]);
  std::size_t at = kHeaderSize;
  if ((flags & 4U) != 0) {  // extra field
    if (packed.size() < at + 2) return 0;
    at += 2U + load_le<std::uint16_t>(packed.data() + at);
  }
  for (const unsigned text : {8U, 16U}) {  // name, comment
    if ((flags & text) == 0) continue;
    while (at < packed.size() && packed[at] != std::byte{0}) ++at;
    ++at;
  }
  if ((flags & 2U) != 0) at += 2;  // checksum of the header
  return at <= packed.size() ? at : 0;
}

}  // namespace

Result<Bytes> gunzip(ByteView packed, std::size_t limit) {
  Bytes out;
  do {
    const auto header = header_size(packed);
    if (header == 0) return broken("not a gzip file");
    const auto begin = out.size();
    BitReader in(packed.subspan(header));
    DATUM_TRY(Inflater(in, out, limit).run());
    const auto trailer = in.rest();
    if (trailer.size() < kTrailerSize) return broken("cut short");
    const auto member = ByteView(out).subspan(begin);
    if (load_le<std::uint32_t>(trailer.data()) != crc32(member) ||
        load_le<std::uint32_t>(trailer.data() + 4) != static_cast<std::uint32_t>(member.size()))
      return broken("its checksum differs");
    packed = trailer.subspan(kTrailerSize);
  } while (!packed.empty());
  return out;
}

}  // namespace datum::inspect
