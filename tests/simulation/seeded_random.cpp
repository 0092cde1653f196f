#include "seeded_random.hpp"

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace datum::simulation {
namespace {

struct Stream {
  std::atomic<bool> is_seeded = false;
  std::atomic<std::uint64_t> at = 0;
};
Stream& stream() {
  static constinit Stream one;
  return one;
}

// splitmix64: every value of a counter gives 64 bits that look like no other's.
std::uint64_t next_bits() {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;
  auto bits = stream().at.fetch_add(kStep) + kStep;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
  return bits ^ (bits >> 31U);
}

}  // namespace

void seed_random(std::uint64_t seed) {
  stream().at = seed;
  stream().is_seeded = true;
}

}  // namespace datum::simulation

// Stands before the C library's own, which crypto::fill_random would call.
extern "C" ssize_t getrandom(void* out, size_t size, unsigned flags) {
  using namespace datum::simulation;
  if (!stream().is_seeded) return ::syscall(SYS_getrandom, out, size, flags);
  auto* bytes = static_cast<unsigned char*>(out);
  for (size_t at = 0; at < size; ++at) bytes[at] = static_cast<unsigned char>(next_bits());
  return static_cast<ssize_t>(size);
}
