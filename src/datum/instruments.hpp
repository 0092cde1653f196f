// What a process of the self-test puts between a pass and the machine, so that it can end itself,
// or let a step fail, at a named place. Every other command has none of it.
#pragma once

#include <functional>
#include <memory>

#include "datum/history/history.hpp"
#include "datum/os/files.hpp"
#include "datum/os/units.hpp"
#include "datum/resource/wave.hpp"

namespace datum::program {

struct Instruments {
  // In front of the files of the tree, and of key and blobs; empty: nothing is.
  std::function<std::unique_ptr<os::Files>(os::Files&)> watch_tree, watch_store;
  journal::CrashPoint journal;
  resource::CrashPoint wave;
  // Asked in the place of the machine's own service manager, as if it were the tree's; or none.
  std::shared_ptr<os::Units> units;
  std::function<void()> recovered;  // a pass that was cut off is closed, durably
};

}  // namespace datum::program
