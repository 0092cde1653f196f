#include "control_examples.hpp"

#include "control_events.hpp"
#include "control_fields.hpp"
#include "fill.hpp"
#include "table.hpp"

namespace datum::test {

std::vector<core::control::Event> control_examples() {
  std::vector<core::control::Event> examples;
#define DATUM_MAKE(Type, kind)                         \
  {                                                    \
    core::control::Type value;                         \
    Filler filler(#Type);                              \
    Fields<core::control::Type>::visit(filler, value); \
    examples.emplace_back(std::move(value));           \
  }
  DATUM_CONTROL_EVENTS(DATUM_MAKE)
#undef DATUM_MAKE
  return examples;
}

std::vector<std::string> incomplete_control_tables() {
  std::vector<std::string> incomplete;
#define DATUM_CHECK(Type, kind) check_table<core::control::Type>(#Type, incomplete);
  DATUM_CONTROL_EVENTS(DATUM_CHECK)
#undef DATUM_CHECK
  check_table<core::control::TokenRule>("TokenRule", incomplete);
  check_table<core::control::Applicant>("Applicant", incomplete);
  check_table<core::control::NodeReport>("NodeReport", incomplete);
  return incomplete;
}

std::vector<std::string> unfilled_control_members() {
  std::vector<std::string> unfilled;
  for (const auto& example : control_examples())
    std::visit([&](const auto& value) { add_unfilled(value, unfilled); }, example);
  return unfilled;
}

}  // namespace datum::test
