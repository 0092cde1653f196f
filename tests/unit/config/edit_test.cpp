// One value of agent.yaml changed in the text that a person wrote.
#include "datum/config/edit.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace datum;
using namespace datum::config;

std::string enforced(std::string_view bytes) {
  auto edited = edit_mode(bytes, Mode::enforce);
  return edited ? std::move(*edited) : "error: " + edited.error().message();
}

}  // namespace

TEST_CASE("edit: the value is replaced where it stands, and no other byte changes") {
  CHECK(enforced("# mine\nreconciliation:\n  mode: observe  # for now\n  passLimit: 30m\n") ==
        "# mine\nreconciliation:\n  mode: enforce  # for now\n  passLimit: 30m\n");
  CHECK(enforced("reconciliation: {mode: observe, interval: 1h}\nhost: a\n") ==
        "reconciliation: {mode: enforce, interval: 1h}\nhost: a\n");
  CHECK(enforced("reconciliation: {mode: \"observe\"}\n") ==
        "reconciliation: {mode: \"enforce\"}\n");
  CHECK(enforced("reconciliation: {mode: enforce}\n") == "reconciliation: {mode: enforce}\n");
  CHECK(edit_mode("reconciliation:\n  mode: enforce\n", Mode::observe).value() ==
        "reconciliation:\n  mode: observe\n");
}

TEST_CASE("edit: where the key is missing it is added to its section, or with it") {
  CHECK(enforced("") == "reconciliation:\n  mode: enforce\n");
  CHECK(enforced("host: a") == "host: a\nreconciliation:\n  mode: enforce\n");
  CHECK(enforced("reconciliation:\n    passLimit: 30m\nhost: a\n") ==
        "reconciliation:\n    mode: enforce\n    passLimit: 30m\nhost: a\n");
  CHECK(enforced("host: a\nreconciliation: {passLimit: 30m}\n") ==
        "host: a\nreconciliation: {mode: enforce, passLimit: 30m}\n");
  CHECK(enforced("reconciliation: {}\n") == "reconciliation: {mode: enforce}\n");
}

TEST_CASE("edit: what looks like the key somewhere else is left alone, or the file is refused") {
  const std::string tricky = "host: a  # mode: observe\nreconciliation: {passLimit: 30m}\n";
  CHECK(enforced(tricky) ==
        "host: a  # mode: observe\nreconciliation: {mode: enforce, passLimit: 30m}\n");
  CHECK(edit_mode("\"reconciliation\":\n  passLimit: 30m\n", Mode::enforce).error().code() ==
        ErrorCode::unsupported);
  CHECK(edit_mode("reconciliation:\n  mode:\n    observe\n", Mode::enforce).error().code() ==
        ErrorCode::unsupported);
}

TEST_CASE("edit: a file with faults is not touched") {
  CHECK(edit_mode("reconciliation: {mood: observe}\n", Mode::enforce).error().code() ==
        ErrorCode::invalid_argument);
}

TEST_CASE("edit: whatever comes out says the mode and the same of every other key") {
  for (const auto* bytes : {"", "host: a\n", "reconciliation:\n", "reconciliation:\n  mode:\n",
                            "observe: [\"File[x]\"]\n", "reconciliation: {mode: ~}\n",
                            "reconciliation:\n  # nothing\nhost: a\n",
                            "trust: {strictPaths: true}\nreconciliation: { mode: observe }\n"}) {
    INFO(bytes);
    const auto edited = edit_mode(bytes, Mode::enforce);
    if (!edited) {
      CHECK(edited.error().code() == ErrorCode::unsupported);
      continue;
    }
    const auto parsed = parse_configuration("agent.yaml", "/etc/datum", *edited);
    CHECK(parsed.faults.empty());
    CHECK(parsed.configuration.mode.value == Mode::enforce);
  }
}
