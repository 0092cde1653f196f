// The log over a simulated disk: the same contract as open_log, under the same conformance suite,
// so that everything above the journal runs unchanged in a simulation. What `append` acknowledged
// survives every crash; of what it did not, a crash keeps or loses whole batches.
#pragma once

#include <memory>

#include "datum/journal/log.hpp"
#include "datum/journal/sim_disk.hpp"

namespace datum::journal {

// `seed` decides the id of a store that is made. Errors as open_log's; a disk that fails while the
// store is opened is `io_error` or `no_space`. The log keeps the disk alive.
[[nodiscard]] Result<std::unique_ptr<Log>> open_sim_log(std::shared_ptr<SimDisk> disk,
                                                        const OpenOptions& options,
                                                        std::uint64_t seed = 1);

}  // namespace datum::journal
