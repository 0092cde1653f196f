// Digests of observations: equal digests are equal observations. Everything is length-prefixed, so
// that no two different observations give the same bytes. The identity of the object is left out:
// it differs between two machines in the same state.
#include "observation_digest.hpp"

#include <algorithm>

#include "datum/crypto/digest.hpp"

namespace datum::resource {

namespace {

class Writer {
 public:
  void number(std::uint64_t value) {
    std::byte bytes[8];
    store_le(bytes, value);
    sha_.update(bytes);
  }
  void text(std::string_view value) {
    number(value.size());
    sha_.update(as_bytes(value));
  }
  void digest(const Digest& value) { sha_.update(value.view()); }
  template <class Enumeration>
  void word(Enumeration value) {
    number(static_cast<std::uint64_t>(value));
  }
  [[nodiscard]] Digest finish() { return sha_.finish(); }

 private:
  crypto::Sha256 sha_;
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
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->reference < b->reference; });
  Writer out;
  for (const auto* seen : order) out.digest(seen->digest);
  return out.finish();
}

}  // namespace datum::resource
