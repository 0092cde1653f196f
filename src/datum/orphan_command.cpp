// adopt and remove of what a lost store had owned: a person's decision, recorded with their name.
// What is to be removed goes the way of whatever left the declaration, in a pass, in its mode and
// under its brake.
#include "commands.hpp"
#include "datum/text/terminal.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "store_end.hpp"
#include "story_source.hpp"

namespace datum::program {
namespace {

Result<std::vector<model::Target>> find_targets(const Arguments& arguments,
                                                const core::State& state) {
  std::vector<model::Target> targets;
  if (arguments.orphans)
    for (const auto& [target, owned] : state.orphans) targets.push_back(target);
  for (const auto& name : arguments.files) {
    DATUM_ASSIGN(auto target, find_target(state, name));
    targets.push_back(std::move(target));
  }
  return targets;
}

std::string told(std::size_t count, core::OrphanDecision decision) {
  const auto what = std::to_string(count) + (count == 1 ? " orphan" : " orphans");
  if (decision == core::OrphanDecision::adopt)
    return what + " adopted: owned, and left as they are\n";
  return what + " to be removed, as what left the declaration\n";
}

Result<int> run_decision(const Arguments& arguments) {
  const auto decision =
      arguments.verb == Verb::remove ? core::OrphanDecision::remove : core::OrphanDecision::adopt;
  const auto hint = decision == core::OrphanDecision::adopt
                        ? "; documents for what is there are printed by --print, and what a pass "
                          "finds as declared is adopted by that pass"
                        : "; what is declared is removed by its document, with `state: absent`";
  if (arguments.orphans != arguments.files.empty())
    return fail(ErrorCode::invalid_argument,
                arguments.command_line +
                    ": name orphans of a lost store, or give --orphans for all of them; `datum "
                    "owned --orphans` lists them" +
                    hint);
  core::State known;
  {
    DATUM_ASSIGN(auto story, open_known_story(arguments));
    known = std::move(story.state);
  }
  DATUM_ASSIGN(auto targets, find_targets(arguments, known));
  if (targets.empty() || known.orphans.empty())
    return fail(ErrorCode::not_found,
                std::string("no orphan of a lost store waits for a decision") + hint);
  const auto count = targets.size();
  const core::DecideOrphans command{std::move(targets), decision, current_actor(arguments)};
  DATUM_ASSIGN(const auto state, record_in_store(arguments, known, command));
  if (!arguments.json) print(told(count, decision));
  if (decision == core::OrphanDecision::adopt) return 0;
  auto pass = arguments;
  pass.verb = Verb::reconcile;
  return pass_command(pass);
}

}  // namespace

int orphan_command(const Arguments& arguments) {
  return finish(run_decision(arguments));
}

}  // namespace datum::program
