// The part of Reader that reads `windows`.
#include "reader.hpp"

namespace datum::config {

// Rows of a plan that a person keeps in mind; each is tried at every wave.
static constexpr std::size_t kMaxWindows = 100;

void Reader::take_windows(const yaml::Node& value) {
  if (!value.is_sequence())
    return add_fault(value, "windows must be a list of {days, from, to}",
                     "write - {days: [mon-fri], from: \"22:00\", to: \"04:00\"}");
  if (value.items().size() > kMaxWindows)
    return add_fault(value, "more than " + std::to_string(kMaxWindows) + " windows");
  out_.windows = {{}, origin(value)};
  for (const auto& item : value.items()) {
    Window window;
    take_window(item, window);
    out_.windows.value.push_back(window);
  }
  // A list that was emptied by hand: nobody can tell whether "always" or "never" was meant.
  if (value.items().empty())
    add_fault(value, "an empty list of windows", "leave the key out for: always open");
}

void Reader::take_window(const yaml::Node& value, Window& window) {
  if (!value.is_mapping()) return add_fault(value, "a window must be {days, from, to}");
  const auto faults_before = faults_.size();
  for (const auto& entry : value.entries()) {
    const auto key = entry.key.text();
    if (key == "days") {
      take_days(entry.value, window);
    } else if (key == "from") {
      window.from = take_time_of_day(entry.value).value_or(0);
    } else if (key == "to") {
      window.to = take_time_of_day(entry.value).value_or(0);
    } else {
      add_fault(entry.key, "unknown key in a window", "known here: days, from, to");
    }
  }
  for (const auto* key : {"days", "from", "to"})
    if (value.find(key) == nullptr) return add_fault(value, std::string("a window needs ") + key);
  if (faults_.size() > faults_before) return;
  if (window.from == kMinutesPerDay) add_fault(value, "from must be before 24:00");
  if (window.from == window.to)
    add_fault(value, "from and to are the same time",
              "write from: \"00:00\", to: \"24:00\" for the whole day");
  if (window.to == 0) window.to = kMinutesPerDay;
}

void Reader::take_days(const yaml::Node& value, Window& window) {
  if (!value.is_sequence() || value.items().empty())
    return add_fault(value, "days must be a list of days", "write [mon, tue] or [mon-fri]");
  for (const auto& item : value.items()) take_day(item, window);
}

void Reader::take_day(const yaml::Node& value, Window& window) {
  const auto text = value.is_scalar() ? value.text() : std::string_view();
  const auto dash = text.find('-');
  const auto first = find_weekday(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : find_weekday(text.substr(dash + 1));
  if (!first || !last)
    return add_fault(value, "a day is one of mon tue wed thu fri sat sun, or a range mon-fri");
  for (std::size_t day = *first;; day = (day + 1) % window.days.size()) {
    window.days[day] = true;
    if (day == *last) return;
  }
}

std::optional<std::uint16_t> Reader::take_time_of_day(const yaml::Node& value) {
  const auto time = value.is_scalar() ? find_time_of_day(value.text()) : std::nullopt;
  if (!time) add_fault(value, "must be a time of day such as \"22:00\"");
  return time;
}

}  // namespace datum::config
