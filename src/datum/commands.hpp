// One function per group of verbs. Each returns the exit code.
#pragma once

#include "arguments.hpp"
#include "instruments.hpp"

namespace datum::program {

[[nodiscard]] int pass_command(const Arguments& arguments);  // observe diff plan reconcile
[[nodiscard]] int watched_pass(const Arguments& arguments, const Instruments& instruments);
[[nodiscard]] int selftest_command(const Arguments& arguments);
// A process of the self-test: one pass in the folder of a life.
[[nodiscard]] int selftest_pass(const std::string& folder);
[[nodiscard]] int store_command(const Arguments& arguments);        // status owned history
[[nodiscard]] int journal_command(const Arguments& arguments);      // journal …
[[nodiscard]] int replay_command(const Arguments& arguments);       // replay postmortem
[[nodiscard]] int acknowledge_command(const Arguments& arguments);  // ack
[[nodiscard]] int adopt_command(const Arguments& arguments);        // adopt --print
[[nodiscard]] int orphan_command(const Arguments& arguments);       // adopt remove
[[nodiscard]] int revert_command(const Arguments& arguments);       // revert keep
[[nodiscard]] int host_command(const Arguments& arguments);         // hold, mode, config check
[[nodiscard]] int enrol_command(const Arguments& arguments);        // enrol
[[nodiscard]] int image_command(const Arguments& arguments);        // prepare-image
[[nodiscard]] int upkeep_command(const Arguments& arguments);  // journal archive stat set-aside
[[nodiscard]] int fleet_command(
    const Arguments& arguments);  // init validate render explain affected schema

}  // namespace datum::program
