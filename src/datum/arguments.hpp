// What was asked on the command line, as plain values. The one table of commands and flags is in
// arguments.cpp; docs/reference/commands.md is compared with it by a test.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/program/desired.hpp"
#include "datum/program/session.hpp"

namespace datum::program {

enum class Verb : std::uint8_t {
  init,
  validate,
  render,
  explain,
  affected,
  schema,
  observe,
  diff,
  plan,
  reconcile,
  status,
  owned,
  history,
  acknowledge,
  revert,
  keep,
  adopt,
  remove,
  journal_list,
  journal_show,
  journal_tail,
  journal_verify,
  journal_export,
  journal_import,
  replay,
  postmortem,
  journal_archive,
  journal_stat,
  journal_set_aside,
  selftest_crash_recovery,
  hold,
  mode,
  config_check,
  enrol,
  prepare_image,
};

enum class Colour : std::uint8_t { automatic, always, never };

// Fields that a verb does not take keep their defaults.
struct Arguments : Place, DesiredSource {
  Verb verb = Verb::observe;
  std::string command_line;  // "datum reconcile", for messages
  bool root_given = false;
  bool json = false;
  bool all = false;  // fold nothing
  Colour colour = Colour::automatic;
  // reconcile, plan
  std::optional<std::string> mode;  // "observe", "enforce"
  std::string plan_in, plan_out;
  std::uint32_t allow_removals = 0;
  bool retry = false;
  // fleet verbs
  std::string output, base, reference, folder;
  std::vector<std::string> files;
  // adopt, remove, with `files`: what is named
  bool print = false;
  // owned, adopt, remove: of a lost store, all of them
  bool orphans = false;
  std::string into;
  // history, journal
  std::string target;
  std::string journal;  // a store's folder or an export, instead of --state
  std::uint64_t seq = 0, from = 0, to = 0, pass = 0, limit = 0, lines = 10, through = 0;
  std::string kind, since, until;
  std::string projection, at;
  std::optional<std::string> as_mode;  // "observe", "enforce"
  std::vector<std::string> diff;       // two places, or nothing
  std::string pass_name, html;
  bool follow = false, redact = false, content = false;
  // selftest
  std::uint32_t rounds = 0;  // 0: the default
  std::optional<std::uint64_t> seed;
  // hold, mode
  std::string hold_for, mode_word;
  bool hold_now = false;
  // ack, with `until`; keep; hold
  std::string reason;
  bool lift = false;
  // enrol
  std::string token, token_file, wanted_name;
  std::vector<std::string> controls;
  bool new_key = false, once = false;
  // prepare-image
  bool discard_journal = false;
};

struct Parsed {
  std::optional<Arguments> arguments;  // nothing: help, version or an error was printed
  int exit_code = 0;
};
[[nodiscard]] Parsed parse_arguments(int argc, char** argv);

}  // namespace datum::program
