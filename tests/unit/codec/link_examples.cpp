#include "link_examples.hpp"

#include "fill.hpp"
#include "link_fields.hpp"
#include "link_messages.hpp"
#include "table.hpp"

namespace datum::test {
namespace {

template <class T>
T make(const char* name) {
  T value;
  Filler filler(name);
  Fields<T>::visit(filler, value);
  return value;
}

}  // namespace

std::vector<core::LinkMessage> link_examples() {
  std::vector<core::LinkMessage> examples;
#define DATUM_MAKE(Type, kind) examples.emplace_back(make<core::Type>(#Type));
  DATUM_LINK_MESSAGES(DATUM_MAKE)
#undef DATUM_MAKE
  return examples;
}

core::DeclarationBody declaration_body_example() {
  return make<core::DeclarationBody>("DeclarationBody");
}
core::OrderBody order_body_example() {
  return make<core::OrderBody>("OrderBody");
}

std::vector<std::string> incomplete_link_tables() {
  std::vector<std::string> incomplete;
#define DATUM_CHECK(Type, kind) check_table<core::Type>(#Type, incomplete);
  DATUM_LINK_MESSAGES(DATUM_CHECK)
#undef DATUM_CHECK
  check_table<core::Generation>("Generation", incomplete);
  check_table<core::Fact>("Fact", incomplete);
  check_table<core::Signed>("Signed", incomplete);
  check_table<core::DeclarationBody>("DeclarationBody", incomplete);
  check_table<core::OrderBody>("OrderBody", incomplete);
  return incomplete;
}

std::vector<std::string> unfilled_link_members() {
  std::vector<std::string> unfilled;
  for (const auto& example : link_examples())
    std::visit([&](const auto& value) { add_unfilled(value, unfilled); }, example);
  add_unfilled(declaration_body_example(), unfilled);
  add_unfilled(order_body_example(), unfilled);
  return unfilled;
}

}  // namespace datum::test
