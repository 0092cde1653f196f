#include "kind_rules.hpp"

#include <algorithm>

#include "datum/model/reserved.hpp"
#include "datum/model/spelled_target.hpp"
#include "datum/yaml/scalar.hpp"

namespace datum::fleet {
namespace {

using model::Field;
using model::ResourceType;
using Text = std::string_view;

constexpr std::size_t kMaxHostname = 64;  // HOST_NAME_MAX of Linux
constexpr std::size_t kMaxLabel = 63;     // RFC 1035 §2.3.4

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool consists_of(Text text, Text others) {
  return std::all_of(text.begin(), text.end(), [others](char c) {
    return is_letter_or_digit(c) || others.find(c) != Text::npos;
  });
}

// RFC 1123 §2.1.
bool is_host_label(Text label) {
  return !label.empty() && label.size() <= kMaxLabel && consists_of(label, "-") &&
         label.front() != '-' && label.back() != '-';
}

bool is_hostname(Text name) {
  if (name.size() > kMaxHostname) return false;
  for (;;) {
    const auto dot = name.find('.');
    if (!is_host_label(name.substr(0, dot))) return false;
    if (dot == Text::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

bool is_zone(Text zone) {
  if (zone.empty() || !consists_of(zone, "/_+-")) return false;
  return zone.front() != '/' && zone.back() != '/' && zone.find("//") == Text::npos;
}

bool is_padded(Text text) {
  constexpr Text kBlank = " \t";
  return !text.empty() &&
         (kBlank.find(text.front()) != Text::npos || kBlank.find(text.back()) != Text::npos);
}

// Options end at the first white space outside of quotes (sshd(8)).
bool are_key_options(Text options) {
  bool quoted = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char c = options[i];
    if (quoted && c == '\\' && i + 1 < options.size() && options[i + 1] == '"')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == ' ' || c == '\t'))
      return false;
  }
  return !quoted && (options.empty() || options.front() != '#');
}

// "Json", "Httpd.lns": a module, and a lens of it.
bool is_lens(Text name) {
  const auto dot = name.find('.');
  const auto module = name.substr(0, dot);
  const auto lens = dot == Text::npos ? Text("lns") : name.substr(dot + 1);
  return !module.empty() && module.front() >= 'A' && module.front() <= 'Z' &&
         consists_of(module, "_") && !lens.empty() && lens.front() >= 'a' && lens.front() <= 'z' &&
         consists_of(lens, "_");
}

class Rules {
 public:
  Rules(const model::Resource& resource, const KindFault& fault)
      : resource_(resource), fault_(fault) {}

  void run() {
    switch (resource_.reference.type) {
      case ResourceType::hostname:
        return check_hostname();
      case ResourceType::timezone:
        return check_timezone();
      case ResourceType::authorized_key:
        return check_key();
      case ResourceType::setting:
        return check_setting();
      case ResourceType::mount:
        return check_mount();
      case ResourceType::timer:
        return check_timer();
      default:
        return;
    }
  }

 private:
  [[nodiscard]] std::string name() const { return resource_.reference.text(); }
  [[nodiscard]] Text text(Field field) const { return resource_.text(field); }
  [[nodiscard]] std::string quoted(Field field) const { return yaml::quoted(text(field)); }

  void require(Field field) {
    if (!text(field).empty()) return;
    const Text key = model::describe(resource_.reference.type, field).name;
    fault_(field, name() + " has no " + std::string(key) + ", which names what is absent",
           "add " + std::string(key) + ": below desired");
  }

  void check_hostname() {
    if (!is_hostname(text(Field::hostname)))
      fault_(Field::hostname, quoted(Field::hostname) + " of " + name() + " is no host's name",
             "write letters, digits and hyphens, parts joined by dots, at most 64 bytes: web-1");
  }

  void check_timezone() {
    if (!is_zone(text(Field::zone)))
      fault_(Field::zone, quoted(Field::zone) + " of " + name() + " is no zone's name",
             "write it as it is below /usr/share/zoneinfo: Europe/Berlin, UTC");
  }

  void check_key() {
    if (resource_.absent()) require(Field::user);
    const auto* options = resource_.find(Field::options);
    if (options != nullptr && !are_key_options(text(Field::options)))
      fault_(Field::options, "options of " + name() + " would not end where the key begins",
             "join them by commas; white space only stands between double quotes, which come in "
             "pairs");
    if (is_padded(text(Field::comment)))
      fault_(Field::comment, "comment of " + name() + " begins or ends with white space",
             "take it out");
  }

  void check_setting() {
    if (resource_.absent()) {
      require(Field::path);
      require(Field::format);
    }
    const auto format = model::find_setting_format(text(Field::format));
    if (!format) return;
    check_setting_place(*format);
    check_setting_key(*format);
    check_setting_value(*format);
  }

  void check_setting_place(model::SettingFormat format) {
    if (text(Field::path).find_first_of(" \t") != Text::npos)
      fault_(Field::path, quoted(Field::path) + " of " + name() + " holds white space",
             "a Setting is for a file whose path has none: declare a File");
    const bool ini = format == model::SettingFormat::ini;
    const auto section = text(Field::section);
    if (resource_.find(Field::section) != nullptr && !ini)
      fault_(Field::section, name() + " has a section, which only the format ini knows",
             "leave it out, or write format: ini");
    if (section.find_first_of("[]") != Text::npos || is_padded(section))
      fault_(Field::section, quoted(Field::section) + " of " + name() + " is no section's name",
             "write it without its brackets");
    check_lens(format == model::SettingFormat::augeas);
  }

  void check_lens(bool wanted) {
    const bool given = resource_.find(Field::lens) != nullptr;
    if (given && !wanted)
      fault_(Field::lens, name() + " has a lens, which only the format augeas knows",
             "leave it out, or write format: augeas");
    if (!given && wanted)
      fault_(Field::format, name() + " has no lens, which the format augeas needs",
             "add lens: below desired, as Json, Hosts or Sshd");
    if (given && wanted && !is_lens(text(Field::lens)))
      fault_(Field::lens, quoted(Field::lens) + " of " + name() + " is no lens's name",
             "write its module, as Json, or one lens of it, as Httpd.lns");
  }

  void check_setting_key(model::SettingFormat format) {
    const auto key = text(Field::key);
    if (format == model::SettingFormat::augeas) {
      if (key.empty() || is_padded(key) || key.front() == '/' || key.back() == '=')
        fault_(Field::key, quoted(Field::key) + " of " + name() + " is no path in a tree of Augeas",
               "write it as below /files/PATH/: Match[1]/Settings/X11Forwarding");
      return;
    }
    const Text forbidden = format == model::SettingFormat::words ? " \t=\"" : "=";
    if (key.empty() || is_padded(key) || key.find_first_of(forbidden) != Text::npos ||
        Text("#;[").find(key.front()) != Text::npos)
      fault_(Field::key, quoted(Field::key) + " of " + name() + " is no key of such a file",
             format == model::SettingFormat::words
                 ? "a key has no white space and no =, and does not begin with # ; or ["
                 : "a key has no =, and does not begin with # ; or [");
  }

  void check_setting_value(model::SettingFormat format) {
    const bool has_value = resource_.find(Field::value) != nullptr;
    const bool has_secret = resource_.find(Field::secret_ref) != nullptr;
    if (has_value && has_secret)
      fault_(Field::secret_ref, "secretRef stands beside value in " + name(), "keep one of them");
    if (resource_.absent() || has_secret) return;
    const auto value = text(Field::value);
    const bool line = format != model::SettingFormat::augeas;
    if (!has_value)
      fault_(Field::value, name() + " has no value, which a Setting needs",
             "add value: \"…\" below desired, or secretRef: NAME");
    else if (line && (is_padded(value) || value.ends_with('\\') ||
                      (value.empty() && format == model::SettingFormat::words)))
      fault_(Field::value, quoted(Field::value) + " of " + name() + " would not be read as it is",
             "a value neither begins nor ends with white space, does not end with a backslash, and "
             "is empty only where an = stands before it");
  }

  void check_mount() {
    if (model::is_parent_of_own_path(text(Field::path)) && text(Field::state) != "present")
      fault_(Field::state,
             name() + " mounts or unmounts " + std::string(text(Field::path)) +
                 ", where Datum's own files lie",
             "write state: present, and mount it by hand or at the next boot");
    const auto* options = resource_.find(Field::options);
    if (options != nullptr && text(Field::options).empty())
      fault_(Field::options, "options of " + name() + " is empty", "write defaults");
  }

  void check_timer() {
    const auto timer = model::derive_target(resource_).name;
    if (resource_.find(Field::unit) != nullptr &&
        model::normalise_unit(text(Field::unit)) == timer.view())
      fault_(Field::unit, name() + " starts itself", "name the unit that it is to start");
    const auto* times = resource_.find(Field::on_calendar);
    if (times == nullptr) return;
    const auto& list = std::get<std::vector<std::string>>(*times);
    if (list.empty())
      fault_(Field::on_calendar, "onCalendar of " + name() + " lists no time",
             "write at least one: [daily]");
    for (const auto& time : list)
      if (time.empty() || is_padded(time) || !consists_of(time, " *-:,./~_+"))
        fault_(Field::on_calendar, yaml::quoted(time) + " of " + name() + " is no time",
               "write it as systemd.time(7) has it: daily, Mon..Fri 22:30, *-*-01 04:00:00");
  }

  const model::Resource& resource_;
  const KindFault& fault_;
};

}  // namespace

void check_kind(const model::Resource& resource, const KindFault& fault) {
  Rules(resource, fault).run();
}

}  // namespace datum::fleet
