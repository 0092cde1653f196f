// Digests of observations: equal digests are equal observations. Everything is length-prefixed, so
// that no two different observations give the same bytes. The identity of the object is left out:
// it differs between two machines in the same state.
#include "observation_digest.hpp"

#include <algorithm>
#include <array>

#include "datum/crypto/digest.hpp"

namespace datum::resource {

namespace {

// Gathers small pieces: a call of the hash for each would cost more than the hashing.
class Writer {
 public:
  void number(std::uint64_t value) {
    std::byte bytes[8];
    store_le(bytes, value);
    raw(bytes);
  }
  void text(std::string_view value) {
    number(value.size());
    raw(as_bytes(value));
  }
  void digest(const Digest& value) { raw(value.view()); }
  template <class Enumeration>
  void word(Enumeration value) {
    number(static_cast<std::uint64_t>(value));
  }
  [[nodiscard]] Digest finish() {
    flush();
    return sha_.finish();
  }

 private:
  void raw(ByteView bytes) {
    if (bytes.size() > gathered_.size() - size_) flush();
    if (bytes.size() > gathered_.size()) return sha_.update(bytes);
    std::copy(bytes.begin(), bytes.end(), gathered_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += bytes.size();
  }
  void flush() {
    if (size_ != 0) sha_.update(ByteView(gathered_).first(size_));
    size_ = 0;
  }

  crypto::Sha256 sha_;
  std::array<std::byte, 1024> gathered_;
  std::size_t size_ = 0;
};

}  // namespace

Digest digest_observation(const core::Observation& seen) {
  Writer out;
  out.word(seen.reference.type);
  out.text(seen.reference.name);
  out.word(seen.target.family);
  out.text(seen.target.name);
  out.word(seen.condition);
  out.word(seen.found);
  out.number(seen.drifts.size());
  for (const auto& drift : seen.drifts) {
    out.text(drift.field);
    out.text(drift.desired);
    out.text(drift.observed);
  }
  out.text(seen.reason);
  out.word(seen.obstacle);
  out.text(seen.obstacle_detail);
  out.text(seen.missing_parent);
  out.number(seen.purge.size());
  for (const auto& entry : seen.purge) {
    out.text(entry.name);
    out.word(entry.found);
    out.number(entry.removable);
    out.number(entry.is_drift);
    out.text(entry.reason);
  }
  out.number(seen.entries);
  out.digest(seen.content);
  out.number(seen.content_size);
  out.number(seen.sensitive);
  out.number(seen.conflicting_content);
  return out.finish();
}

Digest digest_observations(std::span<const core::Observation> observations) {
  std::vector<const core::Observation*> order;
  order.reserve(observations.size());
  for (const auto& seen : observations) order.push_back(&seen);
  const auto before = [](const auto* a, const auto* b) { return a->reference < b->reference; };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  Writer out;
  for (const auto* seen : order) out.digest(seen->digest);
  return out.finish();
}

}  // namespace datum::resource
