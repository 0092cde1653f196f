// What became of the notifications of a pass.
#include "datum/inspect/report.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"

namespace datum::inspect {

namespace {

std::string_view action_of(const core::NotificationOutcome& one) {
  return one.restart ? "restart" : "reload";
}

}  // namespace

std::string notifications_text(std::span<const core::NotificationOutcome> notifications) {
  std::string text;
  for (const auto& one : notifications) {
    text += "Notification of " + text::escape(one.service.text()) + " (" +
            text::escape(one.unit.name.str()) + "), " + std::string(action_of(one)) + ": " +
            std::string(core::to_string(one.end));
    if (one.repeated && one.end == core::NotificationEnd::delivered)
      text += ", perhaps for the second time";
    if (!one.message.empty()) text += ": " + text::escape(one.message);
    text += "\n";
  }
  return text;
}

std::string notifications_json(std::span<const core::NotificationOutcome> notifications) {
  std::string lines;
  for (const auto& one : notifications) {
    text::JsonWriter json;
    json.begin_object()
        .member("notification", action_of(one))
        .member("service", one.service.text())
        .member("unit", one.unit.text())
        .key("by")
        .begin_array();
    for (const auto& reference : one.by) json.value(reference.text());
    json.end_array()
        .member("end", core::to_string(one.end))
        .member("repeated", one.repeated)
        .member("message", one.message)
        .end_object();
    lines += json.take() + "\n";
  }
  return lines;
}

}  // namespace datum::inspect
