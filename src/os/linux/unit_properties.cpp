#include "unit_properties.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace datum::os_linux {

namespace {

using Reader = void (*)(Message&, os::Unit&);

template <std::string os::Unit::*member>
void read_into(Message& from, os::Unit& unit) {
  unit.*member = from.read_text();
}
template <std::uint64_t os::Unit::*member>
void read_into(Message& from, os::Unit& unit) {
  unit.*member = from.read_number('t');
}
template <std::int32_t os::Unit::*member>
void read_into(Message& from, os::Unit& unit) {
  unit.*member = static_cast<std::int32_t>(from.read_number('i'));
}
template <bool os::Unit::*member>
void read_into(Message& from, os::Unit& unit) {
  unit.*member = from.read_flag();
}
void read_names(Message& from, os::Unit& unit) {
  unit.names = from.read_list();
  std::sort(unit.names.begin(), unit.names.end());
}
template <std::vector<std::string> os::Unit::*member>
void add_names(Message& from, os::Unit& unit) {
  for (auto& name : from.read_list()) (unit.*member).push_back(std::move(name));
}
void read_invocation(Message& from, os::Unit& unit) {
  unit.invocation = from.read_hex();
}
// A job's number, 0 for none, and its object.
void read_job(Message& from, os::Unit& unit) {
  if (!from.enter('r', "uo")) return;
  unit.has_job = from.read_number('u') != 0;
  from.skip("o");
  from.leave();
}

struct Property {
  std::string_view name;
  std::string_view signature;
  Reader read;
};

using os::Unit;
constexpr std::array kProperties{
    Property{"Id", "s", read_into<&Unit::id>},
    Property{"Names", "as", read_names},
    Property{"LoadState", "s", read_into<&Unit::load_state>},
    Property{"ActiveState", "s", read_into<&Unit::active_state>},
    Property{"SubState", "s", read_into<&Unit::sub_state>},
    Property{"FragmentPath", "s", read_into<&Unit::fragment_path>},
    Property{"StateChangeTimestampMonotonic", "t", read_into<&Unit::state_changed_us>},
    Property{"ActiveEnterTimestampMonotonic", "t", read_into<&Unit::active_entered_us>},
    Property{"CanReload", "b", read_into<&Unit::can_reload>},
    Property{"NeedDaemonReload", "b", read_into<&Unit::needs_daemon_reload>},
    Property{"InvocationID", "ay", read_invocation},
    Property{"Job", "(uo)", read_job},
    Property{"Result", "s", read_into<&Unit::result>},
    Property{"ReloadResult", "s", read_into<&Unit::reload_result>},
    Property{"RequiredBy", "as", add_names<&Unit::stopped_with>},
    Property{"BoundBy", "as", add_names<&Unit::stopped_with>},
    Property{"ConsistsOf", "as", add_names<&Unit::stopped_with>},
    Property{"PropagatesStopTo", "as", add_names<&Unit::stopped_with>},
    Property{"Conflicts", "as", add_names<&Unit::stopped_by_start>},
    Property{"ConflictedBy", "as", add_names<&Unit::stopped_by_start>},
    Property{"ExecMainCode", "i", read_into<&Unit::exit_code>},
    Property{"ExecMainStatus", "i", read_into<&Unit::exit_status>},
};

// Null for one that nobody asks about, or that has another type in this version of systemd.
const Property* find_property(std::string_view name, std::string_view signature) {
  for (const auto& known : kProperties)
    if (known.name == name && known.signature == signature) return &known;
  return nullptr;
}

// One reply of GetAll: a{sv}.
Status read_properties(Message& from, os::Unit& unit) {
  from.enter('a', "{sv}");
  while (from.enter('e', "sv")) {
    const auto name = from.read_text();
    const auto contents = from.peek_contents();
    if (const auto* known = find_property(name, contents); known != nullptr) {
      from.enter('v', contents.c_str());
      known->read(from, unit);
      from.leave();
    } else {
      from.skip("v");
    }
    from.leave();
  }
  from.leave();
  return from.status();
}

Result<std::string> object_path(Bus& bus, const std::string& name) {
  char* path = nullptr;
  const int encoded =
      bus.library().path_encode("/org/freedesktop/systemd1/unit", name.c_str(), &path);
  if (encoded < 0) return fail(error_from_errno(-encoded, name));
  std::string text(path);
  std::free(path);
  return text;
}

Result<Message> properties_call(Bus& bus, const std::string& name) {
  DATUM_ASSIGN(const auto path, object_path(bus, name));
  // The empty interface stands for all of them.
  DATUM_ASSIGN(auto call, bus.make_call(path, "org.freedesktop.DBus.Properties", "GetAll"));
  call.add(std::string());
  return call;
}

Result<Message> file_state_call(Bus& bus, const std::string& name) {
  DATUM_ASSIGN(auto call, bus.make_call(kManagerPath, kManagerInterface, "GetUnitFileState"));
  call.add(name);
  return call;
}

// The unit file's state is asked of the manager and not read from the unit, which remembers it from
// when it was loaded.
Status add_file_states(Bus& bus, std::vector<os::Unit>& units, Deadline deadline) {
  std::vector<Message> calls;
  std::vector<os::Unit*> asked;
  for (auto& unit : units) {
    if (!unit.problem.empty()) continue;
    DATUM_ASSIGN(auto call, file_state_call(bus, unit.id));
    calls.push_back(std::move(call));
    asked.push_back(&unit);
  }
  if (calls.empty()) return {};
  DATUM_ASSIGN(auto replies, bus.call_all(std::move(calls), deadline));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    auto& unit = *asked[i];
    if (replies[i])
      unit.file_state = replies[i]->read_text();
    else if (unit.load_state == "template")
      unit.load_state = "not-found";
  }
  return {};
}

os::Unit read_unit(const std::string& name, Result<Message>& reply) {
  os::Unit unit;
  unit.name = name;
  auto read = reply ? read_properties(*reply, unit) : Status(fail(std::move(reply).error()));
  if (!read) unit.problem = read.error().message();
  if (unit.id.empty()) unit.id = name;
  return unit;
}

// --- a transient service

void add_property(Message& call, const char* name, const char* signature,
                  const std::function<void()>& value) {
  call.open('r', "sv").add(std::string(name)).open('v', signature);
  value();
  call.close().close();
}

void add_text(Message& call, const char* name, const std::string& text) {
  add_property(call, name, "s", [&] { call.add(text); });
}

}  // namespace

Result<std::vector<os::Unit>> query_units(Bus& bus, std::span<const std::string> names,
                                          Deadline deadline) {
  std::vector<os::Unit> units(names.size());
  std::vector<Message> calls;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < names.size(); ++i) {
    units[i].name = units[i].id = names[i];
    units[i].load_state = "template";
    if (os::is_unit_template(names[i])) continue;
    DATUM_ASSIGN(auto call, properties_call(bus, names[i]));
    calls.push_back(std::move(call));
    asked.push_back(i);
  }
  if (!calls.empty()) {
    DATUM_ASSIGN(auto replies, bus.call_all(std::move(calls), deadline));
    for (std::size_t i = 0; i < replies.size(); ++i)
      units[asked[i]] = read_unit(names[asked[i]], replies[i]);
  }
  DATUM_TRY(add_file_states(bus, units, deadline));
  return units;
}

// The manager puts variables of the environment in; a dollar that is doubled stays one.
static std::vector<std::string> without_variables(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const auto& argument : argv) {
    std::string word;
    for (const char c : argument) word.append(c == '$' ? 2 : 1, c);
    words.push_back(std::move(word));
  }
  return words;
}

void write_transient(Message& call, const os::TransientService& service) {
  call.add(service.name).add(std::string("fail")).open('a', "(sv)");
  add_text(call, "Description", service.description);
  // Started when its program runs, and still known by name after its end.
  add_text(call, "Type", "exec");
  add_property(call, "RemainAfterExit", "b", [&] { call.add(true); });
  add_text(call, "StandardOutputFile", service.output_path);
  add_property(call, "Environment", "as", [&] { call.add_list(service.environment); });
  add_property(call, "ExecStart", "a(sasb)", [&] {
    call.open('a', "(sasb)").open('r', "sasb").add(service.argv.front());
    call.add_list(without_variables(service.argv)).add(false).close().close();
  });
  call.close().open('a', "(sa(sv))").close();
}

}  // namespace datum::os_linux
