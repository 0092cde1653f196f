// Who has acknowledged what they were ordered, and who has not.
#include "datum/base/rfc3339.hpp"
#include "datum/control/orders.hpp"
#include "datum/control/report.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/table.hpp"

namespace datum::control {
namespace {

std::string_view answer_word(const StandingOrder& order) {
  if (!order.answer) return "waiting";
  return order.answer->carried_out ? "acknowledged" : "refused";
}

std::string until_text(const StandingOrder& order) {
  if (order.kind != core::OrderKind::hold) return "-";
  return order.until.ns == 0 ? "lifted" : format_rfc3339(order.until);
}

}  // namespace

void write_order(text::JsonWriter& json, const StandingOrder& order) {
  json.member("order", core::to_string(order.kind))
      .member("number", order.number)
      .member("state", answer_word(order))
      .member("issued", format_rfc3339(order.at))
      .member("until", order.until.ns == 0 ? std::string() : format_rfc3339(order.until))
      .member("by", order.by.name)
      .member("reason", order.reason)
      .member("refusal", order.answer ? order.answer->reason : std::string());
}

OrdersReport orders_report(const View& view, bool all) {
  OrdersReport report;
  text::Table table({{"NODE"}, {"ORDER"}, {"STATE"}, {"SINCE"}, {"UNTIL"}, {"BY"}, {"REASON"}});
  for (const auto& [name, node] : view.state.nodes) {
    if (!node.order || node.standing != Standing::enrolled) continue;
    const auto& order = *node.order;
    const bool is_done = order.answer && order.answer->carried_out;
    report.is_open = report.is_open || !is_done;
    if (is_done && !all) continue;
    const auto presence = view.presence(name);
    if (view.json) {
      text::JsonWriter json;
      json.begin_object().member("node", name);
      write_order(json, order);
      json.member("linked", presence.is_linked).end_object();
      report.text += json.take() + "\n";
      continue;
    }
    auto state = std::string(answer_word(order));
    if (!order.answer && !presence.is_linked) state += " (no link)";
    table.add_row({name, core::to_string(order.kind), state, format_rfc3339(order.at),
                   until_text(order), order.by.name,
                   order.answer && !is_done ? order.answer->reason : order.reason});
  }
  if (view.json) return report;
  report.text = table.row_count() != 0 ? table.render(text::Painter(view.colour), view.width)
                : all                  ? "no node was ever ordered anything\n"
                                       : "every order is acknowledged\n";
  return report;
}

}  // namespace datum::control
