// Bounds of what one record may hold. A payload is at most 64 KiB (the journal's limit); core stays
// below 48 KiB by its own estimate, so that the encoding's overhead never decides. Internal to
// core.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "datum/model/reference.hpp"

namespace datum::core {

inline constexpr std::size_t kMaxRecordBytes = 48 * 1024;
// Numbers, digests and pointers of one list element: measured against Cap'n Proto's layout, rounded
// up.
inline constexpr std::size_t kElementOverhead = 176;
// A message that a person reads. Longer ones come from tools, whose output has a place of its own.
inline constexpr std::size_t kMaxMessage = 2048;
// First and last 8 KiB of a tool's output, with what stands between them.
inline constexpr std::size_t kMaxOutput = 17 * 1024;
// Direct causes listed for one blocked action; the text names the first chain.
inline constexpr std::size_t kMaxBlockedBy = 64;
// Entries of a purged directory in one record, which has room for the drifts beside them.
inline constexpr std::size_t kMaxUndeclaredBytes = 16 * 1024;
// Ordinals in one record: 4 bytes each.
inline constexpr std::size_t kMaxOrdinals = 8192;

// At most `limit` bytes of `text`, cut before a character, with "…" where something was cut.
[[nodiscard]] std::string bounded(std::string_view text, std::size_t limit = kMaxMessage);

// Cuts a list into pieces whose estimated size stays below kMaxRecordBytes; `name_of` gives the
// variable part of an element. Calls `take` with the first and one past the last index of each.
template <class List, class NameOf, class Take>
void split_by_size(const List& list, NameOf name_of, Take take) {
  std::size_t begin = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto size = kElementOverhead + name_of(list[i]).size();
    if (i != begin && bytes + size > kMaxRecordBytes) {
      take(begin, i);
      begin = i;
      bytes = 0;
    }
    bytes += size;
  }
  if (begin < list.size()) take(begin, list.size());
}

}  // namespace datum::core
