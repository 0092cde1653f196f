// datum: the command line for people. Parses, wires, prints; everything else is in the modules.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "memory.hpp"

extern char** environ;

namespace {

// Variables by which an environment could change what this program or its children load or run.
void drop_dangerous_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    for (const char* prefix : {"LD_", "OPENSSL_", "GIT_", "UV_"})
      if (text.rfind(prefix, 0) == 0) names.push_back(text.substr(0, text.find('=')));
  }
  for (const auto& name : names) ::unsetenv(name.c_str());
}

// A standard stream that the caller closed would else be the next file that is opened, and what is
// printed would go into it.
bool hold_standard_streams() {
  for (int wanted = 0; wanted <= 2; ++wanted)
    if (::fcntl(wanted, F_GETFD) < 0 && ::open("/dev/null", O_RDWR | O_NOCTTY) != wanted)
      return false;
  return true;
}

// Content that others may not read is held in memory: no image of it is left behind, for this
// program's children neither, and nobody but root attaches to it.
void forbid_core_dumps() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

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
  if (!hold_standard_streams()) return 1;
  drop_dangerous_variables();
  // Lists are long: a call for each 4 KiB of them is too many. A terminal keeps its lines.
  // glibc takes a size only with a buffer. It is flushed after main and never freed.
  constexpr std::size_t kOutputBuffer = 64 * 1024;
  if (::isatty(STDOUT_FILENO) != 1)
    std::setvbuf(stdout, static_cast<char*>(std::malloc(kOutputBuffer)), _IOFBF, kOutputBuffer);
  forbid_core_dumps();
  ::umask(0077);  // files of ours are for their owner; modes of managed ones are set by descriptor
  try {
    // How the self-test starts its processes; docs/operating/selftest.md.
    const std::vector<std::string> words(argv, argv + argc);
    if (argc == 4 && words[1] == "selftest" && words[2] == "pass-in")
      return datum::program::selftest_pass(words[3]);
    const auto parsed = datum::program::parse_arguments(argc, argv);
    return parsed.arguments ? dispatch(*parsed.arguments) : parsed.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "datum: %s\n", error.what());
    return 1;
  }
}
