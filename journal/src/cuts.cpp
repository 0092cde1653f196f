#include "cuts.hpp"

#include <algorithm>
#include <cstring>

namespace datum::journal {

static constexpr std::size_t kCutSize = sizeof(Seq) + Digest::kSize;
// A file holds weeks: these are decades.
static constexpr std::size_t kMaxCuts = 1024;

Bytes add_cut(ByteView cuts, Seq last, const Digest& hash) {
  const auto whole = cuts.size() / kCutSize * kCutSize;
  const auto kept = std::min(whole, (kMaxCuts - 1) * kCutSize);
  Bytes made(kept + kCutSize);
  std::copy_n(cuts.begin() + static_cast<std::ptrdiff_t>(whole - kept), kept, made.begin());
  store_le(made.data() + kept, last);
  std::memcpy(made.data() + kept + sizeof(Seq), hash.bytes.data(), Digest::kSize);
  return made;
}

std::optional<Digest> find_cut(ByteView cuts, Seq last) {
  for (; cuts.size() >= kCutSize; cuts = cuts.subspan(kCutSize)) {
    if (load_le<Seq>(cuts.data()) != last) continue;
    Digest hash;
    std::memcpy(hash.bytes.data(), cuts.data() + sizeof(Seq), Digest::kSize);
    return hash;
  }
  return std::nullopt;
}

}  // namespace datum::journal
