#include "datum/program/pass_output.hpp"

#include <span>

#include "datum/text/terminal.hpp"

namespace datum::program {
namespace {

std::string json_of(const PassView& view, const engine::PassReport& report,
                    std::span<const core::Outcome> outcomes,
                    const core::Acknowledgements& acknowledged, const inspect::PassLine& line) {
  std::string text;
  if (view.shows_plan) {
    const auto unknown = inspect::unknown_among(report.observations);
    text = inspect::drift_json(unknown, acknowledged, false);
    text += inspect::plan_json(*report.plan, outcomes, acknowledged);
  } else {
    text = inspect::drift_json(report.observations, acknowledged, view.all);
    text += inspect::leaving_json(*report.plan);
  }
  return text + inspect::pass_json(line);
}

}  // namespace

std::string pass_output(const PassView& view, const engine::PassReport& report,
                        const core::Acknowledgements& acknowledged, const std::string& host,
                        const std::string& differences) {
  const inspect::PassLine line{host,          report.pass,      report.mode,
                               report.status, report.cut_short, report.notifications};
  const bool acted = view.may_act && report.mode.mode == core::Mode::enforce;
  const auto outcomes =
      acted ? std::span<const core::Outcome>(report.outcomes) : std::span<const core::Outcome>();
  if (view.json) return json_of(view, report, outcomes, acknowledged, line);
  const auto list_command = view.command_line + " --all";
  std::string text;
  if (view.shows_plan) {
    text = inspect::plan_text(*report.plan, outcomes, acknowledged, list_command, view.style);
    text +=
        inspect::drift_text(inspect::unknown_among(report.observations), acknowledged, view.style);
  } else {
    text = inspect::drift_text(report.observations, acknowledged, view.style);
    text += inspect::leaving_text(*report.plan, list_command, view.style);
  }
  return text + differences + inspect::pass_text(line, view.style);
}

std::string recovered_words(const engine::RecoveredPass& recovered) {
  const auto add = [](std::string& words, std::uint32_t count, const char* what) {
    if (count == 0) return;
    words += (words.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  std::string words;
  add(words, recovered.took_effect, "took effect");
  add(words, recovered.did_not, "did not");
  add(words, recovered.untellable, "cannot be told");
  if (words.empty()) return words;
  return "pass " + std::to_string(recovered.pass) +
         " had been cut off; of the actions it had begun " + words +
         " (they count there, `datum replay passes`, and not in this pass)";
}

std::string pass_warnings(const engine::PassReport& report) {
  constexpr std::size_t kWarningsListed = 10;
  std::string text;
  if (const auto words = recovered_words(report.recovered); !words.empty())
    text += "note: " + words + "\n";
  std::size_t count = 0;
  for (const auto& seen : report.observations) {
    if (seen.warning.empty() || ++count > kWarningsListed) continue;
    text += "warning: " + text::escape(seen.reference.text()) + " (" +
            text::escape(seen.target.text()) + "): " + text::escape(seen.warning) + "\n";
  }
  if (count > kWarningsListed)
    text += "warning: and " + std::to_string(count - kWarningsListed) +
            " more in such folders; --json names them all\n";
  return text;
}

}  // namespace datum::program
