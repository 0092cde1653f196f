#include "datum/text/json_members.hpp"

namespace datum::text {

void JsonMembers::take(std::string_view name, std::string& into) {
  if (const auto* value = take(name, JsonKind::string)) into = value->string;
}

void JsonMembers::take(std::string_view name, bool& into) {
  if (const auto* value = take(name, JsonKind::boolean)) into = value->boolean;
}

const JsonValue* JsonMembers::take(std::string_view name, JsonKind kind) {
  const auto* value = object_.find(name);
  if (value == nullptr) return nullptr;
  ++taken_;
  if (value->kind == kind) return value;
  add_fault(name, "is of another kind");
  return nullptr;
}

void JsonMembers::add_fault(std::string_view name, std::string_view words) {
  if (fault_.empty()) fault_.append(name).append(" ").append(words);
}

Status JsonMembers::end() const {
  if (object_.kind != JsonKind::object)
    return fail(ErrorCode::invalid_argument, "a message is one object");
  if (!fault_.empty()) return fail(ErrorCode::invalid_argument, fault_);
  if (taken_ == object_.members.size()) return {};
  return fail(ErrorCode::invalid_argument, "a member that is not known");
}

}  // namespace datum::text
