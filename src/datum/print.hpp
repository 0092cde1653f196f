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
// Colour, width and folding for standard output.
[[nodiscard]] inspect::Style output_style(const Arguments& arguments);
// How every command ends: an error is reported ("datum: message"), 3 for `busy`, else 1; output is
// flushed, 1 if something of it could not be written; else the code that it returned.
[[nodiscard]] int finish(const Result<int>& code);

}  // namespace datum::program
