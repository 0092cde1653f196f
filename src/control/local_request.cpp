#include "datum/control/local_request.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "datum/text/json_members.hpp"
#include "datum/text/json_writer.hpp"

namespace datum::control {
namespace {

// Lists of objects go no deeper; a push to 10,000 nodes has four values for each.
constexpr std::size_t kMaxDepth = 8, kMaxValues = 100'000;

constexpr std::array kControlVerbs{
    std::pair{LocalVerb::status, "status"},
    std::pair{LocalVerb::nodes, "nodes"},
    std::pair{LocalVerb::node, "node"},
    std::pair{LocalVerb::accept, "accept"},
    std::pair{LocalVerb::refuse, "refuse"},
    std::pair{LocalVerb::forget, "forget"},
    std::pair{LocalVerb::revoke, "revoke"},
    std::pair{LocalVerb::token_create, "tokenCreate"},
    std::pair{LocalVerb::token_list, "tokenList"},
    std::pair{LocalVerb::token_withdraw, "tokenWithdraw"},
    std::pair{LocalVerb::profiles, "profiles"},
    std::pair{LocalVerb::push, "push"},
    std::pair{LocalVerb::push_resume, "pushResume"},
    std::pair{LocalVerb::push_abort, "pushAbort"},
    std::pair{LocalVerb::hold, "hold"},
    std::pair{LocalVerb::lift, "lift"},
    std::pair{LocalVerb::orders, "orders"},
    std::pair{LocalVerb::drift, "drift"},
};

// One list of members for both directions.
template <class Visitor, class Value>
void visit_members(Visitor& visitor, Value& request) {
  visitor("commandLine", request.command_line);
  visitor("json", request.json);
  visitor("colour", request.colour);
  visitor("width", request.width);
  visitor("target", request.target);
  visitor("reason", request.reason);
  visitor("names", request.names);
  visitor("ttl", request.ttl_ns);
  visitor("multi", request.multi);
  visitor("byHand", request.by_hand);
  visitor("required", request.required);
  visitor("labels", request.labels);
  visitor("silent", request.silent_ns);
  visitor("nodes", request.nodes);
  visitor("all", request.all);
  visitor("for", request.for_ns);
  visitor("source", request.source);
  visitor("revision", request.revision);
  visitor("allowRemovals", request.allow_removals);
  visitor("stages", request.stages);
  visitor("soak", request.soak_ns);
  visitor("revertUnlessLinked", request.revert_unless_linked_ns);
  visitor("manifests", request.manifests);
}

class MemberWriter {
 public:
  explicit MemberWriter(text::JsonWriter& json) : json_(json) {}

  template <class T>
  void operator()(std::string_view name, const T& value) {
    json_.member(name, value);
  }
  void operator()(std::string_view name, const std::vector<core::Fact>& facts) {
    json_.key(name).begin_object();
    for (const auto& fact : facts) json_.member(fact.name, fact.value);
    json_.end_object();
  }
  void operator()(std::string_view name, const std::vector<std::string>& texts) {
    json_.key(name).begin_array();
    for (const auto& text : texts) json_.value(text);
    json_.end_array();
  }
  void operator()(std::string_view name, const std::vector<PushedManifest>& manifests) {
    json_.key(name).begin_array();
    for (const auto& each : manifests)
      json_.begin_object()
          .member("node", each.node)
          .member("manifest", each.manifest.hex())
          .member("bytes", each.bytes)
          .end_object();
    json_.end_array();
  }

 private:
  text::JsonWriter& json_;
};

class MemberReader {
 public:
  explicit MemberReader(const text::JsonValue& value) : members_(value) {}

  template <class T>
  void operator()(std::string_view name, T& into) {
    members_.take(name, into);
  }
  void operator()(std::string_view name, std::vector<core::Fact>& into) {
    const auto* value = members_.take(name, text::JsonKind::object);
    if (value == nullptr) return;
    for (const auto& member : value->members) {
      if (member.value.kind != text::JsonKind::string) return fault(name);
      into.push_back({member.name, member.value.string});
    }
  }
  void operator()(std::string_view name, std::vector<std::string>& into) {
    const auto* value = members_.take(name, text::JsonKind::array);
    if (value == nullptr) return;
    for (const auto& item : value->items) {
      if (item.kind != text::JsonKind::string) return fault(name);
      into.push_back(item.string);
    }
  }
  void operator()(std::string_view name, Digest& into) {
    std::string text;
    members_.take(name, text);
    const auto digest = Digest::find_hex(text);
    if (digest)
      into = *digest;
    else
      fault(name);
  }
  void operator()(std::string_view name, std::vector<PushedManifest>& into) {
    const auto* value = members_.take(name, text::JsonKind::array);
    if (value == nullptr) return;
    for (const auto& item : value->items) {
      MemberReader members(item);
      PushedManifest each;
      members("node", each.node);
      members("manifest", each.manifest);
      members("bytes", each.bytes);
      if (!members.end()) return fault(name);
      into.push_back(std::move(each));
    }
  }
  [[nodiscard]] Status end() const { return members_.end(); }

 private:
  void fault(std::string_view name) { members_.add_fault(name, "is of another kind"); }

  text::JsonMembers members_;
};

}  // namespace

std::string_view to_string(LocalVerb verb) {
  for (const auto& [each, name] : kControlVerbs)
    if (each == verb) return name;
  return "?";
}

bool only_reads(LocalVerb verb) {
  switch (verb) {
    case LocalVerb::status:
    case LocalVerb::nodes:
    case LocalVerb::node:
    case LocalVerb::token_list:
    case LocalVerb::profiles:
    case LocalVerb::orders:
    case LocalVerb::drift:
      return true;
    case LocalVerb::accept:
    case LocalVerb::refuse:
    case LocalVerb::forget:
    case LocalVerb::revoke:
    case LocalVerb::token_create:
    case LocalVerb::token_withdraw:
    case LocalVerb::push:
    case LocalVerb::push_resume:
    case LocalVerb::push_abort:
    case LocalVerb::hold:
    case LocalVerb::lift:
      return false;
  }
  return false;
}

std::string encode_request(const LocalRequest& request) {
  text::JsonWriter json;
  json.begin_object().member("verb", to_string(request.verb));
  MemberWriter writer(json);
  visit_members(writer, request);
  json.end_object();
  return json.take();
}

Result<LocalRequest> parse_request(std::string_view text) {
  DATUM_ASSIGN(const auto value, text::read_json(text, {kMaxLocalRequest, kMaxDepth, kMaxValues}));
  MemberReader reader(value);
  LocalRequest request;
  std::string verb;
  reader("verb", verb);
  visit_members(reader, request);
  const auto known = std::find_if(kControlVerbs.begin(), kControlVerbs.end(),
                                  [&verb](const auto& each) { return each.second == verb; });
  if (known == kControlVerbs.end()) return fail(ErrorCode::invalid_argument, "no such verb");
  request.verb = known->first;
  DATUM_TRY(reader.end());
  return request;
}

std::string encode_profiles(const std::vector<NodeProfile>& profiles) {
  text::JsonWriter json;
  json.begin_array();
  for (const auto& each : profiles) {
    json.begin_object().member("node", each.node);
    MemberWriter writer(json);
    writer("profile", each.profile);
    writer("labels", each.labels);
    json.end_object();
  }
  json.end_array();
  return json.take();
}

Result<std::vector<NodeProfile>> parse_profiles(std::string_view text) {
  DATUM_ASSIGN(const auto value, text::read_json(text));
  std::vector<NodeProfile> profiles;
  for (const auto& item : value.items) {
    MemberReader reader(item);
    NodeProfile each;
    reader("node", each.node);
    reader("profile", each.profile);
    reader("labels", each.labels);
    DATUM_TRY(reader.end());
    profiles.push_back(std::move(each));
  }
  return profiles;
}

}  // namespace datum::control
