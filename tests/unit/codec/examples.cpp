#include "examples.hpp"

#include "datum/core/status.hpp"
#include "events.hpp"
#include "fill.hpp"
#include "host_event_fields.hpp"
#include "pass_event_fields.hpp"
#include "plan_fields.hpp"
#include "state_fields.hpp"
#include "table.hpp"
#include "value_fields.hpp"
#include "witness_fields.hpp"

namespace datum::test {
namespace {

template <class T>
EventExample make_event(core::EventKind kind) {
  EventExample example{static_cast<std::uint16_t>(kind), std::string(core::to_string(kind)), {}};
  T event;
  Filler filler(example.name);
  Fields<T>::visit(filler, event);
  example.event = std::move(event);
  return example;
}

}  // namespace

std::vector<EventExample> event_examples() {
  std::vector<EventExample> examples;
#define DATUM_MAKE(Type, kind) examples.push_back(make_event<core::Type>(core::EventKind::kind));
  DATUM_EVENTS(DATUM_MAKE)
#undef DATUM_MAKE
  return examples;
}

core::Plan plan_example() {
  core::Plan plan;
  Filler::fill("plan", plan);
  plan.actions.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto& action = plan.actions[i];
    Filler::fill("action" + std::to_string(i), action);
    action.ordinal = i;
    action.after.clear();
    for (std::uint32_t k = 0; k < i; ++k) action.after.push_back(k);
    action.identity = {1, 2 + i, 3, 4};
  }
  return plan;
}

core::State state_example() {
  core::State state;
  Filler::fill("state", state);
  return state;
}

core::Witness witness_example() {
  core::Witness witness;
  Filler::fill("witness", witness);
  return witness;
}

std::vector<std::string> incomplete_tables() {
  std::vector<std::string> incomplete;
#define DATUM_CHECK(Type, kind) check_table<core::Type>(#Type, incomplete);
  DATUM_EVENTS(DATUM_CHECK)
#undef DATUM_CHECK
  check_table<model::Reference>("Reference", incomplete);
  check_table<model::Target>("Target", incomplete);
  check_table<core::EffectiveMode>("EffectiveMode", incomplete);
  check_table<core::FieldDrift>("FieldDrift", incomplete);
  check_table<core::Actor>("Actor", incomplete);
  check_table<core::DeclarationId>("DeclarationId", incomplete);
  check_table<core::Provenance>("Provenance", incomplete);
  check_table<core::Counts>("Counts", incomplete);
  check_table<core::PlanCounts>("PlanCounts", incomplete);
  check_table<core::Left>("Left", incomplete);
  check_table<core::WitnessedHead>("WitnessedHead", incomplete);
  check_table<core::Witness>("Witness", incomplete);
  check_table<core::AnnouncedAction>("AnnouncedAction", incomplete);
  constexpr std::size_t kIdentity = 1;
  check_table<core::Action>("Action", incomplete, kIdentity);
  check_table<core::PlannedNotification>("PlannedNotification", incomplete);
  check_table<core::Brake>("Brake", incomplete);
  check_table<core::Plan>("Plan", incomplete);
  check_table<core::Acknowledgement>("Acknowledgement", incomplete);
  check_table<core::ResourceState>("ResourceState", incomplete);
  check_table<core::Owned>("Owned", incomplete);
  check_table<core::Failure>("Failure", incomplete);
  check_table<core::PendingNotification>("PendingNotification", incomplete);
  check_table<core::AnnouncedState>("AnnouncedState", incomplete);
  check_table<core::PassState>("PassState", incomplete);
  check_table<core::LastPass>("LastPass", incomplete);
  check_table<core::Kept>("Kept", incomplete);
  check_table<core::Correction>("Correction", incomplete);
  check_table<core::Contest>("Contest", incomplete);
  check_table<core::Traces>("Traces", incomplete);
  check_table<core::UndeclaredEntry>("UndeclaredEntry", incomplete);
  check_table<core::Leftover>("Leftover", incomplete);
  check_table<core::RunningTool>("RunningTool", incomplete);
  check_table<core::Hold>("Hold", incomplete);
  check_table<core::State>("State", incomplete);
  return incomplete;
}

std::vector<std::string> unfilled_members() {
  std::vector<std::string> unfilled;
  const auto compare = [&unfilled](const auto& filled) { add_unfilled(filled, unfilled); };
  for (const auto& example : event_examples()) std::visit(compare, example.event);
  compare(state_example());
  compare(witness_example());
  return unfilled;
}

std::string dump(const core::Event& event) {
  std::string text;
  const auto lines = std::visit([]<class T>(const T& value) { return lines_of("", value); }, event);
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace datum::test
