// datum-host: the service of a machine. Reads its arguments and its configuration, refuses in words
// where it must not start, wires, and lives until it is told to end.
#include <malloc.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "datum/journal/damage.hpp"
#include "datum/program/process.hpp"
#include "datum/text/terminal.hpp"
#include "service.hpp"

namespace {

using datum::host::kConfigurationExit;

constexpr const char* kUsage =
    "Usage: datum-host [--root DIR] [--config DIR] [--state DIR] [--check]\n"
    "\n"
    "The service that keeps this machine in its declared state; started by the service manager.\n"
    "\n"
    "  --root DIR     act inside this tree\n"
    "  --config DIR   configuration (default: etc/datum under the root)\n"
    "  --state DIR    store (default: what agent.yaml says, else var/lib/datum under the root)\n"
    "  --check        read the configuration, say whether it is good, and end\n"
    "  --version      print the version\n"
    "  --help         print this\n"
    "\n"
    "Exit: 0 ended in order, 74 the store cannot be used, 78 the configuration cannot be used,\n"
    "1 wrong arguments.\n";

struct Asked {
  datum::program::Place place;
  bool check = false;
  int exit = -1;  // the answer was printed, or the arguments were wrong
};

Asked refuse(const std::string& words) {
  std::fprintf(stderr, "datum-host: %s\n`datum-host --help` says what it takes.\n", words.c_str());
  return {{}, false, 1};
}

Asked read_arguments(const std::vector<std::string>& words) {
  Asked asked;
  for (std::size_t at = 1; at < words.size(); ++at) {
    auto word = words[at];
    if (word == "--help" || word == "--version") {
      if (word == "--help")
        std::fputs(kUsage, stdout);
      else
        std::printf("datum-host %s, store level 1\n", datum::program::program_version().c_str());
      asked.exit = 0;
      return asked;
    }
    if (word == "--check") {
      asked.check = true;
      continue;
    }
    std::string value;
    if (const auto equals = word.find('='); equals != std::string::npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    } else if (at + 1 < words.size()) {
      value = words[++at];
    }
    auto* const into = word == "--root"     ? &asked.place.root
                       : word == "--config" ? &asked.place.config
                       : word == "--state"  ? &asked.place.state
                                            : nullptr;
    if (into == nullptr) return refuse(word + " is no argument of this program");
    if (value.empty()) return refuse(word + ": the value is missing");
    *into = value;
  }
  return asked;
}

// A process that stays gives back what a pass needed: one heap for all threads, so that its free
// end is one, and no hoard at that end.
void keep_heap_small() {
  constexpr int kTrimAbove = 256 * 1024;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, kTrimAbove);
}

int serve(const Asked& asked, datum::host::Log& log, datum::host::Notifier& notifier) {
  namespace program = datum::program;
  const auto refused = [&](const datum::Error& error) {
    // A person reads what --check says, and a fault may have several lines.
    if (asked.check) {
      std::fprintf(stderr, "datum-host: %s\n", datum::text::escape_lines(error.message()).c_str());
      return kConfigurationExit;
    }
    const auto words = datum::host::in_one_line(error.message());
    log.error(words);
    notifier.status(words);
    return kConfigurationExit;
  };
  auto session = program::open_session(asked.place);
  if (!session) return refused(session.error());
  auto configuration = program::read_config(*session->files, session->config_folder);
  if (!configuration) return refused(configuration.error());
  if (asked.check) {
    std::printf("%s: good\n", session->config_folder.c_str());
    return 0;
  }
  datum::host::Service service(*session, std::move(*configuration), log, notifier);
  return service.run();
}

}  // namespace

int main(int argc, char** argv) {
  keep_heap_small();
  if (!datum::program::hold_standard_streams()) return 1;
  datum::program::survive_full_files();
  datum::program::survive_lost_peers();
  datum::program::drop_dangerous_variables();
  datum::program::forbid_core_dumps();
  datum::journal::end_in_words("datum-host", datum::host::kStoreExit);
  ::umask(0077);  // files of ours are for their owner; modes of managed ones are set by descriptor
  try {
    auto asked = read_arguments({argv, argv + argc});
    if (asked.exit >= 0) return asked.exit;
    if (const char* given = std::getenv("CREDENTIALS_DIRECTORY")) asked.place.credentials = given;
    auto log = datum::host::Log::open();
    auto notifier = datum::host::Notifier::from_environment();
    return serve(asked, log, notifier);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "datum-host: %s\n", error.what());
    return 1;
  }
}
