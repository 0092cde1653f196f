// Pages that rotted on the disk after their store was closed in order. LMDB believes what it reads:
// it ends the process, or reads where nothing is mapped.
#pragma once

#include <string>

namespace datum::journal {

// From here on a process that ends so, in whichever thread, tells `program` and the store in one
// line on standard error and exits with `exit_status`. The store's mark of an orderly end is gone
// then, so that whoever opens it next walks all of it and names the damage. Faults elsewhere go
// where they went before. Once, before there are threads.
void end_in_words(const std::string& program, int exit_status);

}  // namespace datum::journal
