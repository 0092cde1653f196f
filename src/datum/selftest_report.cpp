#include "selftest_report.hpp"

#include <algorithm>

#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"

namespace datum::program {
namespace {

using selftest::CrashReport;

constexpr std::string_view kNoPowerCut =
    "A process that is ended is no power cut: what it wrote and did not sync survived it here. "
    "What\n"
    "is lost with the power is shown by Datum's own tests on simulated disks and in machines "
    "whose\n"
    "power is cut.\n";

struct Times {
  std::int64_t median = 0, p99 = 0, max = 0;
};
Times times_of(const std::vector<std::int64_t>& sorted) {
  if (sorted.empty()) return {};
  return {sorted[sorted.size() / 2], sorted[(sorted.size() - 1) * 99 / 100], sorted.back()};
}

std::string faults_text(const CrashReport& report) {
  std::string text;
  for (const auto& fault : report.faults)
    text += "  " + fault.name + ": " +
            (fault.not_made.empty() ? text::format_count(fault.rounds, "round")
                                    : "could not be made here: " + text::escape(fault.not_made)) +
            "\n";
  return text;
}

std::string points_text(const CrashReport& report) {
  std::size_t width = 0;
  std::size_t hit = 0;
  for (const auto& one : report.points) {
    width = std::max(width, one.point.size());
    hit += one.hits > 0 ? 1 : 0;
  }
  std::string text = std::to_string(hit) + " of " + std::to_string(report.points.size()) +
                     " points, and how often a process was ended there:\n";
  for (const auto& one : report.points)
    text += "  " + one.point + std::string(width - one.point.size() + 2, ' ') +
            std::to_string(one.hits) + (one.hits == 0 ? "  never\n" : "\n");
  return text;
}

std::string violations_text(const CrashReport& report) {
  std::string text;
  for (const auto& one : report.violations)
    text += "round " + std::to_string(one.round) + " (" + text::escape(one.how) +
            "): " + text::escape(one.words) + "\n  left as it is: " + text::escape(one.evidence) +
            "\n";
  return text;
}

}  // namespace

std::string selftest_text(const CrashReport& report) {
  auto out = points_text(report) + faults_text(report) + violations_text(report);
  const auto times = times_of(report.recovery_ns);
  out += text::format_count(report.rounds, "round") + " in " +
         text::format_duration(report.duration_ns) + ", each of at least " +
         text::format_count(report.fewest_actions, "action") + "; seed " +
         std::to_string(report.seed) + "\n";
  out += text::format_count(report.ended_at_points, "process", "processes") + " ended at points, " +
         std::to_string(report.ended_by_time) + " at random times, " +
         std::to_string(report.recoveries_ended) + " of them while recovering\n";
  out += "recovery: median " + text::format_duration(times.median) + ", 99th percentile " +
         text::format_duration(times.p99) + ", longest " + text::format_duration(times.max) + "\n";
  out += kNoPowerCut;
  if (report.was_stopped) return out + "Stopped before its end.\n";
  if (report.held()) return out + "All held: 0 violations.\n";
  return out + "It did not hold: " + text::format_count(report.violations.size(), "violation") +
         (report.violations.empty() ? ", and a point that was never hit.\n" : ".\n");
}

std::string selftest_json(const CrashReport& report) {
  const auto times = times_of(report.recovery_ns);
  text::JsonWriter json;
  json.begin_object()
      .member("held", report.held())
      .member("stopped", report.was_stopped)
      .member("seed", report.seed)
      .member("rounds", report.rounds)
      .member("actions", report.fewest_actions)
      .member("endedAtPoints", report.ended_at_points)
      .member("endedByTime", report.ended_by_time)
      .member("endedInRecovery", report.recoveries_ended);
  json.key("points").begin_array();
  for (const auto& one : report.points)
    json.begin_object().member("point", one.point).member("hits", one.hits).end_object();
  json.end_array().key("faults").begin_array();
  for (const auto& one : report.faults)
    json.begin_object()
        .member("fault", one.name)
        .member("rounds", one.rounds)
        .member("notMade", one.not_made)
        .end_object();
  json.end_array().key("violations").begin_array();
  for (const auto& one : report.violations)
    json.begin_object()
        .member("round", one.round)
        .member("how", one.how)
        .member("words", one.words)
        .member("evidence", one.evidence)
        .end_object();
  json.end_array()
      .member("recoveryMedianNs", times.median)
      .member("recoveryP99Ns", times.p99)
      .member("recoveryMaxNs", times.max)
      .member("durationNs", report.duration_ns)
      .end_object();
  return json.take() + "\n";
}

}  // namespace datum::program
