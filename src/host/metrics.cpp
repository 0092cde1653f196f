#include "datum/host/metrics.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace datum::host {
namespace {

class Text {
 public:
  void help(std::string_view name, std::string_view words) {
    out_.append("# HELP ").append(name).append(" ").append(words);
    out_.append("\n# TYPE ").append(name).append(" gauge\n");
  }
  void value(std::string_view name, std::string_view labels, std::string_view number) {
    out_.append(name);
    if (!labels.empty()) out_.append("{").append(labels).append("}");
    out_.append(" ").append(number).append("\n");
  }
  void one(std::string_view name, std::string_view words, std::string_view number) {
    help(name, words);
    value(name, "", number);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string label(std::string_view name, std::string_view value) {
  std::string text(name);
  text += "=\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') text += '\\';
    text += letter == '\n' ? ' ' : letter;
  }
  return text + "\"";
}

std::string seconds(std::int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%lld.%03lld", static_cast<long long>(ns / kNsPerSecond),
                static_cast<long long>(ns % kNsPerSecond / 1'000'000));
  return text.data();
}

void add_resources(Text& text, const core::HostStatus& status) {
  constexpr std::string_view kName = "datum_resources";
  text.help(kName, "Declared resources by what was seen of them last.");
  const std::array<std::pair<std::string_view, std::uint32_t>, 4> counts{{
      {"converged", status.counts.converged},
      {"drifted", status.counts.drifted},
      {"unknown", status.counts.unknown},
      {"skipped", status.counts.skipped},
  }};
  for (const auto& [state, count] : counts)
    text.value(kName, label("state", state), std::to_string(count));
}

void add_condition(Text& text, const core::HostStatus& status) {
  constexpr std::string_view kName = "datum_condition";
  text.help(kName, "The host's condition: 1 for the word that holds.");
  for (const auto condition :
       {core::Condition::converged, core::Condition::drifted, core::Condition::unknown})
    text.value(kName, label("condition", core::to_string(condition)),
               status.condition == condition ? "1" : "0");
}

void add_flags(Text& text, const core::HostStatus& status) {
  constexpr std::string_view kName = "datum_flag";
  text.help(kName, "Facts beside the condition: 1 for those that hold.");
  for (const auto flag : core::flags_in(~std::uint32_t{0}))
    text.value(kName, label("flag", core::to_string(flag)),
               (status.flags & static_cast<std::uint32_t>(flag)) != 0 ? "1" : "0");
}

}  // namespace

std::string metrics_text(const Metrics& metrics) {
  Text text;
  text.help("datum_info", "The version that runs.");
  text.value("datum_info", label("version", metrics.version), "1");
  add_condition(text, metrics.status);
  add_resources(text, metrics.status);
  add_flags(text, metrics.status);
  text.one("datum_resources_acknowledged", "Drifted resources that somebody acknowledged.",
           std::to_string(metrics.status.acknowledged_drifted));
  text.one("datum_notifications_pending", "Units that wait for a restart or a reload.",
           std::to_string(metrics.status.pending_notifications));
  text.one("datum_enforces", "1 where drift is corrected, 0 where it is only observed.",
           metrics.enforces ? "1" : "0");
  text.one("datum_recorded", "0 while nothing can be written to the store.",
           metrics.is_recorded ? "1" : "0");
  text.one("datum_journal_sequence", "The newest record.", std::to_string(metrics.head));
  if (metrics.last_pass.ns != 0) {
    text.one("datum_pass_finished_seconds", "When the last pass finished.",
             seconds(metrics.last_pass.ns));
    text.one("datum_pass_duration_seconds", "How long it took.",
             seconds(metrics.last_pass_duration_ns));
  }
  text.one("datum_written_seconds", "When this file was written.", seconds(metrics.written.ns));
  return text.take();
}

}  // namespace datum::host
