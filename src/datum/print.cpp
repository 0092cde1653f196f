#include "print.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "datum/text/terminal.hpp"

namespace datum::program {

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

static int report_error(const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "datum: %s\n", text::escape_lines(error.message()).c_str());
  constexpr int kAnotherPassRuns = 3;
  return error.code() == ErrorCode::busy ? kAnotherPassRuns : 1;
}

inspect::Style output_style(const Arguments& arguments) {
  inspect::Style style;
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const bool wanted = terminal && (no_colour == nullptr || *no_colour == '\0');
  style.colour =
      arguments.colour == Colour::always || (arguments.colour == Colour::automatic && wanted);
  style.fold = !arguments.all;
  // A pipe has no width: lines stay whole there.
  constexpr std::size_t kUnlimited = 1 << 20;
  style.width = kUnlimited;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  return style;
}

int finish(const Result<int>& code) {
  if (!code) return report_error(code.error());
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return *code;
  std::fprintf(stderr, "datum: standard output: not everything could be written\n");
  return 1;
}

}  // namespace datum::program
