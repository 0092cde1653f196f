// What the command lines of all programs have in common: how a wrong word is answered, and what no
// value may be. The only header that names CLI11, for the one source of each program that has its
// table of commands and flags; its exceptions end here.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "datum/program/session.hpp"
#include "datum/text/terminal.hpp"

namespace datum::program {

// A value that came out empty is nearly always a shell variable that was not set: it must not
// quietly mean the default.
inline const CLI::Validator kNotEmpty(
    [](std::string& value) {
      return value.empty() ? std::string("the value is empty") : std::string();
    },
    "");

inline std::string failure_text(const CLI::App* top, const CLI::Error& error) {
  std::string path = top->get_name();
  for (auto chosen = top->get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands())
    path += " " + chosen.front()->get_name();
  return path + ": " + text::escape_lines(error.what()) + "\n`" + path +
         " --help` says what it takes.\n";
}

// One command is required, and --version is known.
inline void begin_table(CLI::App& app) {
  app.require_subcommand(1);
  app.set_version_flag("--version", app.get_name() + " " + program_version() + ", store level 1");
  app.failure_message(failure_text);
}

// Why there is nothing to do: help, the version or an error is to be printed.
struct WordsEnd {
  std::string output, errors;
  int exit_code = 0;
};
// Nothing: the words were taken.
[[nodiscard]] inline std::optional<WordsEnd> parse_words(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream output, errors;
    // CLI11 has a code of its own for every kind of mistake; a usage error is 1 here.
    const int code = app.exit(error, output, errors) == 0 ? 0 : 1;
    return WordsEnd{output.str(), errors.str(), code};
  }
  return std::nullopt;
}

}  // namespace datum::program
