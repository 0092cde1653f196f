// The lock of a store's folder: one writer for its life, readers while they look at a store that
// nobody holds. It opens neither LMDB nor its lock.mdb.
#pragma once

#include <cstdint>

#include "datum/base/error.hpp"
#include "file_io.hpp"

namespace datum::journal {

inline constexpr const char* kWriterLockName = "writer.lock";

enum class LockKind : bool { shared, exclusive };
// The lock is held until the descriptor closes. Exclusive: the file is made if missing and holds
// this process's pid. Shared: nothing is written; a missing file is an unheld lock (no descriptor).
// Exclusive waits up to `reader_wait_ms` for readers that look at the store, lets no other reader
// in meanwhile, and never waits for a writer. `busy` names the process that holds it.
[[nodiscard]] Result<Fd> take_lock(int folder, LockKind kind, std::int64_t reader_wait_ms);
// For as long as LMDB opens the store in `folder` beside others: it waits without limit for whoever
// it finds in the middle of opening, so that one must be known. Waits up to `wait_ms`; then `busy`
// names the process that stands still there, one that does not know of this lock included. Only
// where this process has no environment of the store open, whose locks the closing would drop.
[[nodiscard]] Result<Fd> take_opening_lock(int folder, std::int64_t wait_ms);
// Pid in the lock's file, 0 when it holds none.
[[nodiscard]] std::int64_t lock_holder(int folder);

}  // namespace datum::journal
