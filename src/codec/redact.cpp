#include "datum/codec/redact.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "events.hpp"
#include "host_event_fields.hpp"
#include "pass_event_fields.hpp"
#include "plan_fields.hpp"
#include "shapes.hpp"
#include "value_fields.hpp"

namespace datum::codec {
namespace {

// Texts that came from people, files or programs, by their names in the schema. A new text that is
// one of these has one of these names; a test holds every text of every event against two lists.
constexpr std::array<std::string_view, 13> kTelling = {
    "address", "desired",  "detail", "message", "note",   "observed", "output",
    "problem", "pushedBy", "reason", "refusal", "remedy", "source"};

bool is_telling(std::string_view name) {
  return std::find(kTelling.begin(), kTelling.end(), name) != kTelling.end();
}

// Walks the tables of fields like an encoder, and changes what it finds.
class Redactor {
 public:
  explicit Redactor(const std::map<Digest, Digest>& plans) : plans_(plans) {}

  template <class T, class At>
  void field(std::string_view name, T& value, At) {
    change(name, value);
  }
  template <class At>
  void flags(std::string_view, std::uint32_t&, At) {}

 private:
  void change(std::string_view name, std::string& value) {
    if (!value.empty() && is_telling(name)) value = kRedacted;
  }
  void change(std::string_view name, Digest& value) {
    if (name != "plan") return;
    if (const auto other = plans_.find(value); other != plans_.end()) value = other->second;
  }
  // A person, or a name that a person gave to an account.
  void change(std::string_view, core::Actor& actor) {
    if (!actor.name.empty()) actor.name = kRedacted;
  }
  template <class T>
  void change(std::string_view name, std::vector<T>& values) {
    for (auto& each : values) change(name, each);
  }
  template <class T>
  void change(std::string_view name, std::optional<T>& value) {
    if (value) change(name, *value);
  }
  template <IsStruct T>
  void change(std::string_view, T& value) {
    Fields<T>::visit(*this, value);
  }
  template <class T>
  void change(std::string_view, T&) {}

  const std::map<Digest, Digest>& plans_;
};

}  // namespace

void redact_event(core::Event& event, const std::map<Digest, Digest>& plans) {
  Redactor redactor(plans);
  std::visit([&redactor]<class T>(T& value) { Fields<T>::visit(redactor, value); }, event);
}

void redact_plan(core::Plan& plan) {
  const std::map<Digest, Digest> none;
  Redactor redactor(none);
  Fields<core::Plan>::visit(redactor, plan);
}

}  // namespace datum::codec
