// What the system journal and a standard error are given.
#include "datum/host/log_line.hpp"

#include <catch2/catch.hpp>

namespace {
using namespace datum::host;
}

TEST_CASE("log: a datagram has one field a line, and the service's name") {
  const LogField field{"DATUM_PASS", "12"};
  CHECK(journal_datagram(Priority::warning, "it failed", {&field, 1}) ==
        "MESSAGE=it failed\nPRIORITY=4\nSYSLOG_IDENTIFIER=datum-host\nDATUM_PASS=12\n");
}

TEST_CASE("log: a value with line ends cannot make fields of its own") {
  const auto datagram = journal_datagram(Priority::info, "a\nPRIORITY=0", {});
  const std::string size("\x0c\0\0\0\0\0\0\0", 8);
  CHECK(datagram.starts_with("MESSAGE\n" + size + "a\nPRIORITY=0\nPRIORITY=6\n"));
}

TEST_CASE("log: a text without end is cut, and says so") {
  const std::string text(100'000, 'x');
  CHECK(journal_datagram(Priority::info, text, {}).size() < 2 * kMaxLogText);
  CHECK(error_line(manager_mark(Priority::info), text).find(" [cut]\n") != std::string::npos);
}

TEST_CASE("log: a line of standard error is one line, whatever the text holds") {
  CHECK(error_line(manager_mark(Priority::error), "a\nb\x1b[1m\x7f") ==
        "<3>a\\x0ab\\x1b[1m\\x7f\n");
  CHECK(error_line(manager_mark(Priority::info), "größer") == "<6>größer\n");
  CHECK(error_line("datum-host: ", "a\nb") == "datum-host: a\\x0ab\n");
  CHECK(in_one_line("f:2:1: x\n    known: y\nf:3:1: z\n") == "f:2:1: x; known: y; f:3:1: z");
  CHECK(in_one_line("") == "");
}
