// datum: the command line for people. Parses, wires, prints; everything else is in the modules.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "datum/journal/damage.hpp"
#include "datum/program/process.hpp"
#include "memory.hpp"

namespace {

int dispatch(const datum::program::Arguments& arguments) {
  using datum::program::Verb;
  switch (arguments.verb) {
    case Verb::observe:
    case Verb::diff:
    case Verb::plan:
    case Verb::reconcile:
      return datum::program::pass_command(arguments);
    case Verb::status:
    case Verb::owned:
    case Verb::history:
      return datum::program::store_command(arguments);
    case Verb::acknowledge:
      return datum::program::acknowledge_command(arguments);
    case Verb::adopt:
      return arguments.print || !arguments.into.empty() ? datum::program::adopt_command(arguments)
                                                        : datum::program::orphan_command(arguments);
    case Verb::remove:
      return datum::program::orphan_command(arguments);
    case Verb::revert:
    case Verb::keep:
      return datum::program::revert_command(arguments);
    case Verb::journal_list:
    case Verb::journal_show:
    case Verb::journal_tail:
    case Verb::journal_verify:
    case Verb::journal_export:
    case Verb::journal_import:
      return datum::program::journal_command(arguments);
    case Verb::journal_archive:
    case Verb::journal_stat:
    case Verb::journal_set_aside:
      return datum::program::upkeep_command(arguments);
    case Verb::selftest_crash_recovery:
      return datum::program::selftest_command(arguments);
    case Verb::hold:
    case Verb::mode:
    case Verb::config_check:
      return datum::program::host_command(arguments);
    case Verb::enrol:
      return datum::program::enrol_command(arguments);
    case Verb::prepare_image:
      return datum::program::image_command(arguments);
    case Verb::replay:
    case Verb::postmortem:
      return datum::program::replay_command(arguments);
    default:
      return datum::program::fleet_command(arguments);
  }
}

}  // namespace

int main(int argc, char** argv) {
  datum::program::prepare_heap();
  if (!datum::program::hold_standard_streams()) return 1;
  if (const auto problem = datum::program::take_descriptors(); !problem.empty()) {
    std::fprintf(stderr, "datum: %s\n", problem.c_str());
    return 1;
  }
  datum::program::survive_full_files();
  datum::program::drop_dangerous_variables();
  // Lists are long: a call for each 4 KiB of them is too many. A terminal keeps its lines.
  // glibc takes a size only with a buffer. It is flushed after main and never freed.
  constexpr std::size_t kOutputBuffer = 64 * 1024;
  if (::isatty(STDOUT_FILENO) != 1)
    std::setvbuf(stdout, static_cast<char*>(std::malloc(kOutputBuffer)), _IOFBF, kOutputBuffer);
  datum::program::forbid_core_dumps();
  datum::journal::end_in_words("datum", 1);
  ::umask(0077);  // files of ours are for their owner; modes of managed ones are set by descriptor
  try {
    // How the self-test starts its processes; docs/operating/selftest.md.
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 4 && words[1] == "selftest" && words[2] == "pass-in")
      return datum::program::selftest_pass(words[3]);
    auto parsed = datum::program::parse_arguments(argc, argv);
    const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");
    if (parsed.arguments && credentials != nullptr) parsed.arguments->credentials = credentials;
    return parsed.arguments ? dispatch(*parsed.arguments) : parsed.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "datum: %s\n", error.what());
    return 1;
  }
}
