// Rules for callers that do not depend on how a loop is made.
#include <algorithm>
#include <csignal>

#include "datum/loop/loop.hpp"

namespace datum::loop {

static bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

Status check_child_options(const ChildOptions& options) {
  if (options.argv.empty() || options.argv[0].empty() || options.argv[0][0] != '/')
    return fail(ErrorCode::invalid_argument, "a child's program is not an absolute path");
  if (options.working_directory.empty() || options.working_directory[0] != '/')
    return fail(ErrorCode::invalid_argument, "a child's working directory is not an absolute path");
  if (options.input.size() > kMaxChildInput)
    return fail(ErrorCode::invalid_argument, "a child's input is larger than a pipe takes at once");
  const bool bad = std::any_of(options.argv.begin(), options.argv.end(), has_nul) ||
                   std::any_of(options.environment.begin(), options.environment.end(), has_nul) ||
                   has_nul(options.working_directory);
  if (bad) return fail(ErrorCode::invalid_argument, "a child's argument has a NUL byte");
  return {};
}

Status check_job_child_options(const ChildOptions& options) {
  if (options.timeout_ns <= 0)
    return fail(ErrorCode::invalid_argument, "a job's child has no limit");
  return check_child_options(options);
}

bool is_watchable_signal(int number) {
  return number > 0 && number < NSIG && number != SIGCHLD && number != SIGKILL && number != SIGSTOP;
}

}  // namespace datum::loop
