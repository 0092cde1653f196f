#include "memory.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace datum::program {

void prepare_heap() {
  // Enough for a pass over ten thousand resources; what goes beyond it is as it would have been.
  constexpr std::size_t kStep = std::size_t{64} << 20;
  // Tables of such a pass come from the heap too, not from a mapping each (the most that glibc
  // takes).
  constexpr std::size_t kLargestOnHeap = std::size_t{8} << 20;
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargestOnHeap));
  ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(kStep));
  // One heap for all threads: they allocate little, and each heap of its own has holes of its own.
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TOP_PAD, static_cast<int>(kStep));
  // More than what a heap has left before main: so it grows now, and by that step.
  void* first = std::malloc(256 * 1024);
  const auto begin = (reinterpret_cast<std::uintptr_t>(first) + kLargePage - 1) & ~(kLargePage - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0)) & ~(kLargePage - 1);
  // An allocation that did not grow the heap leaves no such range.
  if (first != nullptr && begin < end && end - begin <= kStep + kLargePage)
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  std::free(first);
}

}  // namespace datum::program

#if defined(__SANITIZE_ADDRESS__)
// What is never destroyed on purpose is no leak.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:keep_until_exit";
}
#endif
