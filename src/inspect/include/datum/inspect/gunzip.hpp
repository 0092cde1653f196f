// Unpacks one gzip file that somebody else wrote: a rotated log. In memory, with a limit; written
// for a few hundred kilobytes, not for speed. Knows no file.
#pragma once

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::inspect {

// All members of `packed` (RFC 1952, RFC 1951), one after another. `corrupt` for bytes that are not
// that, or whose checksum differs; `limit_exceeded` for more than `limit` bytes of output.
[[nodiscard]] Result<Bytes> gunzip(ByteView packed, std::size_t limit);

}  // namespace datum::inspect
