#include "datum/inspect/revert_report.hpp"

#include <algorithm>

#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"

namespace datum::inspect {

Undone tally_undone(PassId pass, const core::Plan& plan, std::span<const core::Outcome> outcomes,
                    std::size_t targets) {
  Undone tally;
  tally.pass = pass;
  tally.acted = !outcomes.empty();
  for (const auto& action : plan.actions) {
    const bool done = outcomes.empty() ? action.refusal.empty() && !action.observe_only
                                       : outcomes[action.ordinal].phase == core::Phase::succeeded;
    ++(done ? tally.undone : tally.not_undone);
  }
  tally.already = targets - std::min(plan.actions.size(), targets);
  return tally;
}

std::string revert_text(const Undone& tally) {
  const auto count = [](std::size_t number, const char* words) {
    return std::to_string(number) + " " + words;
  };
  std::string text = "Pass " + std::to_string(tally.pass) + ": " +
                     count(tally.undone, tally.acted ? "undone" : "to be undone");
  if (tally.already != 0) text += ", " + count(tally.already, "as before already");
  if (tally.not_undone != 0)
    text += ", " + count(tally.not_undone, tally.acted ? "not undone" : "that cannot be");
  text += ".\n";
  if (tally.acted && tally.undone + tally.already != 0)
    text +=
        "What was undone is only observed until something else is declared; `datum keep` lists "
        "it, `datum keep --lift TARGET` ends it.\n";
  return text;
}

std::string revert_json(const Undone& tally) {
  text::JsonWriter json;
  json.begin_object()
      .member("reverts", tally.pass)
      .member("undone", tally.acted ? tally.undone : 0)
      .member("pending", tally.acted ? 0 : tally.undone)
      .member("already", tally.already)
      .member("notUndone", tally.not_undone)
      .end_object();
  return json.take() + "\n";
}

namespace {

std::string cause_of(const core::Kept& kept) {
  return kept.pass == 0 ? "a person" : "pass " + std::to_string(kept.pass);
}

std::string end_of(const core::Kept& kept) {
  if (kept.manifest.empty()) return "generation " + std::to_string(kept.until_generation);
  return "another manifest than " + kept.manifest.hex().substr(0, 12);
}

std::string line_json(const model::Target& target, const core::Kept* kept) {
  text::JsonWriter json;
  json.begin_object()
      .member("target", target.text())
      .member("kept", kept != nullptr)
      .member("pass", kept == nullptr ? 0 : kept->pass)
      .member("untilGeneration", kept == nullptr ? 0 : kept->until_generation)
      .member("manifest", kept == nullptr || kept->manifest.empty() ? "" : kept->manifest.hex())
      .end_object();
  return json.take() + "\n";
}

const core::Kept* find_kept(const core::State& state, const model::Target& target) {
  const auto found = state.kept.find(target);
  return found == state.kept.end() ? nullptr : &found->second;
}

}  // namespace

std::string kept_text(const core::State& state, const Style& style) {
  if (state.kept.empty()) return "Nothing is kept.\n";
  text::Table table({{"TARGET"}, {"BY"}, {"UNTIL"}});
  for (const auto& [target, kept] : state.kept)
    table.add_row({target.text(), cause_of(kept), end_of(kept)});
  return table.render(text::Painter(style.colour), style.width);
}

std::string kept_json(const core::State& state) {
  std::string lines;
  for (const auto& [target, kept] : state.kept) lines += line_json(target, &kept);
  return lines;
}

std::string kept_text(const core::State& state, const model::Target& target) {
  const auto* kept = find_kept(state, target);
  const auto name = text::escape(target.text());
  if (kept == nullptr) return name + ": no longer kept\n";
  return name + ": only observed until " + end_of(*kept) + "\n";
}

std::string kept_json(const core::State& state, const model::Target& target) {
  return line_json(target, find_kept(state, target));
}

}  // namespace datum::inspect
