#include "datum/os/units.hpp"

namespace datum::os {

std::string_view to_string(UnitJob job) {
  switch (job) {
    case UnitJob::start:
      return "start";
    case UnitJob::stop:
      return "stop";
    case UnitJob::restart:
      return "restart";
    case UnitJob::reload:
      return "reload";
  }
  return "?";
}

std::string_view to_string(UnitFileChange change) {
  switch (change) {
    case UnitFileChange::enable:
      return "enable";
    case UnitFileChange::disable:
      return "disable";
    case UnitFileChange::mask:
      return "mask";
    case UnitFileChange::unmask:
      return "unmask";
  }
  return "?";
}

bool is_unit_template(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos && dot > 0 && name[dot - 1] == '@';
}

bool is_running_tool(const Unit& unit) {
  if (unit.active_state == "activating" || unit.active_state == "deactivating" ||
      unit.active_state == "reloading")
    return true;
  return unit.active_state == "active" && unit.sub_state != "exited";
}

std::string describe_end(const Unit& unit) {
  constexpr std::int32_t kExited = 1;  // CLD_EXITED of waitid(2)
  const auto number = std::to_string(unit.exit_status);
  std::string text;
  if (unit.exit_code == kExited)
    text = "its main process ended with status " + number;
  else if (unit.exit_code != 0)
    text = "its main process ended by signal " + number;
  if (unit.result.empty() || unit.result == "success") return text;
  if (!text.empty()) text += ", ";
  return text + "result " + unit.result;
}

}  // namespace datum::os
