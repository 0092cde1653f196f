// What the commands of this program do. Each returns the exit code and has said what was wrong.
#pragma once

#include "arguments.hpp"
#include "datum/base/error.hpp"

namespace datum::control {

// Until it is told to end. 0 in order, 1 wrong arguments, 74 the store cannot be used.
[[nodiscard]] int serve_command(const Arguments& arguments);
[[nodiscard]] int ask_command(const Arguments& arguments);
[[nodiscard]] int push_command(const Arguments& arguments);
[[nodiscard]] int journal_command(const Arguments& arguments);
[[nodiscard]] int history_command(const Arguments& arguments);
[[nodiscard]] int backup_command(const Arguments& arguments);
[[nodiscard]] int restore_command(const Arguments& arguments);

// Says it on standard error; 1.
[[nodiscard]] int refuse(const Error& error);

}  // namespace datum::control
