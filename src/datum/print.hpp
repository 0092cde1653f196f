// What the program writes to its terminal: everything goes through here, and an unwritable standard
// output is an error of its own.
#pragma once

#include <string>
#include <string_view>

#include "arguments.hpp"
#include "datum/base/error.hpp"
#include "datum/inspect/report.hpp"

namespace datum::program {

void print(std::string_view text);  // standard output
// "datum: message", with what to do where the code tells; returns the exit code (3 for `busy`, else
// 1).
[[nodiscard]] int report_error(const Error& error);
// Colour, width and folding for standard output.
[[nodiscard]] inspect::Style output_style(const Arguments& arguments);
// Flushes; 1 if something could not be written, else `exit_code`.
[[nodiscard]] int finish_output(int exit_code);

}  // namespace datum::program
