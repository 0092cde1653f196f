// One function per group of verbs. Each returns the exit code.
#pragma once

#include "arguments.hpp"

namespace datum::program {

[[nodiscard]] int pass_command(const Arguments& arguments);         // observe diff plan reconcile
[[nodiscard]] int store_command(const Arguments& arguments);        // status owned history
[[nodiscard]] int journal_command(const Arguments& arguments);      // journal …
[[nodiscard]] int replay_command(const Arguments& arguments);       // replay postmortem
[[nodiscard]] int acknowledge_command(const Arguments& arguments);  // ack
[[nodiscard]] int upkeep_command(const Arguments& arguments);  // journal archive stat set-aside
[[nodiscard]] int fleet_command(
    const Arguments& arguments);  // init validate render explain affected schema

}  // namespace datum::program
