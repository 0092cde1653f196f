// datum-control: the control plane, and the commands that ask it. Parses, wires, prints; everything
// else is in the modules.
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "arguments.hpp"
#include "client.hpp"
#include "commands.hpp"
#include "datum/journal/damage.hpp"
#include "datum/program/process.hpp"
#include "datum/text/terminal.hpp"

namespace datum::control {

int refuse(const Error& error) {
  std::fprintf(stderr, "datum-control: %s\n", text::escape_lines(error.message()).c_str());
  return 1;
}

// A pipe has no width: lines stay whole there.
static LocalRequest with_look(LocalRequest request) {
  if (::isatty(STDOUT_FILENO) != 1) return request;
  const char* no_colour = std::getenv("NO_COLOR");
  request.colour = no_colour == nullptr || *no_colour == '\0';
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) request.width = size.ws_col;
  return request;
}

int ask_command(const Arguments& arguments) {
  auto client = Client::connect(arguments.socket);
  if (!client) return refuse(client.error());
  const auto code = client->ask(with_look(arguments.request));
  return code ? *code : refuse(code.error());
}

static int dispatch(const Arguments& arguments) {
  switch (arguments.task) {
    case Task::serve:
      return serve_command(arguments);
    case Task::ask:
      return ask_command(arguments);
    case Task::push:
      return push_command(arguments);
    case Task::journal:
      return journal_command(arguments);
    case Task::history:
      return history_command(arguments);
    case Task::backup:
      return backup_command(arguments);
    case Task::restore:
      return restore_command(arguments);
  }
  return 1;
}

}  // namespace datum::control

int main(int argc, char** argv) {
  if (!datum::program::hold_standard_streams()) return 1;
  datum::program::survive_full_files();
  datum::program::drop_dangerous_variables();
  datum::program::forbid_core_dumps();
  datum::journal::end_in_words("datum-control", 74);
  ::umask(0077);  // files of ours are for their owner
  try {
    const auto parsed = datum::control::parse_arguments(argc, argv);
    const int code =
        parsed.arguments ? datum::control::dispatch(*parsed.arguments) : parsed.exit_code;
    // What could not be printed was not said.
    return std::fflush(stdout) == 0 ? code : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "datum-control: %s\n", error.what());
    return 1;
  }
}
