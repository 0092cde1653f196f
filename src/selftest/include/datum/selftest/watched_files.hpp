// The machine's files with the points of the self-test in front of every sync, rename and removal.
// Everything else goes through unchanged. Lies between the product and os/linux in a process of the
// self-test, and nowhere else.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "datum/os/files.hpp"
#include "datum/selftest/crash_points.hpp"

namespace datum::selftest {

// `who` is asked at each step and gives the first word of the point's name ("tree", "recovery",
// "store"). Handles are those of `files`: both may be used with either. Everything is borrowed.
[[nodiscard]] std::unique_ptr<os::Files> watch_files(os::Files& files, CrashPoints& points,
                                                     std::function<std::string_view()> who);

}  // namespace datum::selftest
