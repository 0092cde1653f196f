// What the self-test found, for people and as JSON.
#pragma once

#include <string>

#include "datum/selftest/crash_recovery.hpp"

namespace datum::program {

[[nodiscard]] std::string selftest_text(const selftest::CrashReport& report);
[[nodiscard]] std::string selftest_json(const selftest::CrashReport& report);

}  // namespace datum::program
