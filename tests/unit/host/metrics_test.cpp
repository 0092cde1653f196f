// The text for node_exporter.
#include "datum/host/metrics.hpp"

#include <catch2/catch.hpp>
#include <sstream>

namespace {

using namespace datum;
using namespace datum::host;

Metrics some() {
  Metrics metrics;
  metrics.version = "1.0 \"x\"";
  metrics.status.condition = core::Condition::drifted;
  metrics.status.counts = {7, 2, 1, 0};
  metrics.status.flags = static_cast<std::uint32_t>(core::StatusFlag::held);
  metrics.head = 99;
  metrics.last_pass = WallNs{1'700'000'000'250'000'000};
  metrics.last_pass_duration_ns = 1'500'000'000;
  metrics.written = WallNs{1'700'000'001'000'000'000};
  return metrics;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("metrics: counts stand by state, and one condition holds") {
  const auto text = metrics_text(some());
  CHECK(has_line(text, "datum_resources{state=\"converged\"} 7"));
  CHECK(has_line(text, "datum_resources{state=\"drifted\"} 2"));
  CHECK(has_line(text, "datum_resources{state=\"unknown\"} 1"));
  CHECK(has_line(text, "datum_condition{condition=\"drifted\"} 1"));
  CHECK(has_line(text, "datum_condition{condition=\"converged\"} 0"));
  CHECK(has_line(text, "datum_flag{flag=\"held\"} 1"));
  CHECK(has_line(text, "datum_flag{flag=\"failed\"} 0"));
  CHECK(has_line(text, "datum_info{version=\"1.0 \\\"x\\\"\"} 1"));
}

TEST_CASE("metrics: times are absolute, and there is none of a pass that never was") {
  const auto text = metrics_text(some());
  CHECK(has_line(text, "datum_pass_finished_seconds 1700000000.250"));
  CHECK(has_line(text, "datum_pass_duration_seconds 1.500"));
  CHECK(has_line(text, "datum_written_seconds 1700000001.000"));
  auto fresh = some();
  fresh.last_pass = {};
  CHECK(metrics_text(fresh).find("datum_pass_finished_seconds") == std::string::npos);
}

TEST_CASE("metrics: every line is a comment or a name with a number") {
  std::istringstream lines(metrics_text(some()));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) continue;
    INFO(line);
    CHECK(line.starts_with("datum_"));
    const auto space = line.rfind(' ');
    REQUIRE(space != std::string::npos);
    CHECK(line.find_first_not_of("0123456789.", space + 1) == std::string::npos);
  }
}
