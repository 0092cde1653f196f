#include "sources.hpp"

#include <algorithm>

namespace datum::resource {

namespace {

using model::Field;

// One line of any text: what a document says never begins another field.
std::string on_one_line(std::string_view text) {
  std::string line;
  bool space = false;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      space = !line.empty();
      continue;
    }
    if (space) line.push_back(' ');
    space = false;
    line.push_back(c);
  }
  return line;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return result;
}

// "https://user@host:8080/path" → "host"; of a folder on this machine apt knows none.
std::string_view host_of(std::string_view url) {
  const auto begin = url.find("://");
  if (begin == std::string_view::npos) return {};
  url.remove_prefix(begin + 3);
  url = url.substr(0, url.find('/'));
  if (const auto at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  return url.substr(0, url.find(':'));
}

std::string heading(const model::Resource& repository) {
  return "# Written by Datum for " + repository.reference.text() + ".\n";
}

}  // namespace

std::string_view Sources::find(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

bool Sources::enabled() const {
  const auto word = lower(find("enabled"));
  return word != "no" && word != "false" && word != "off" && word != "0" && word != "without" &&
         word != "disable";
}

bool Sources::trusted() const {
  const auto word = lower(find("trusted"));
  return word == "yes" || word == "true" || word == "on" || word == "1" || word == "with" ||
         word == "enable";
}

Sources parse_sources(std::string_view text) {
  Sources sources;
  std::string* last = nullptr;
  bool ended = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('#')) continue;
    if (on_one_line(line).empty()) {
      ended = ended || !sources.fields.empty();
      continue;
    }
    if (ended) {
      sources.more = true;
      return sources;
    }
    const auto colon = line.find(':');
    if (line.front() == ' ' || line.front() == '\t') {
      if (last != nullptr) *last = on_one_line(*last + " " + std::string(line));
    } else if (colon != std::string_view::npos) {
      last = &sources.fields[lower(on_one_line(line.substr(0, colon)))];
      *last = on_one_line(line.substr(colon + 1));
    }
  }
  return sources;
}

std::string_view suite_of(const model::Resource& repository) {
  return repository.text(Field::suite, "./");
}

std::string components_of(const model::Resource& repository) {
  std::string text;
  const auto* const value = repository.find(Field::components);
  if (value == nullptr) return text;
  for (const auto& each : std::get<std::vector<std::string>>(*value))
    text += (text.empty() ? "" : " ") + each;
  return on_one_line(text);
}

std::string write_sources(const model::Resource& repository, std::string_view key, bool enabled) {
  auto text = heading(repository) + "Types: deb\n";
  const auto add = [&text](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(on_one_line(value)).append("\n");
  };
  if (!enabled) add("Enabled", "no");
  add("URIs", repository.text(Field::url));
  add("Suites", suite_of(repository));
  if (const auto components = components_of(repository); !components.empty())
    add("Components", components);
  if (!key.empty()) add("Signed-By", key);
  if (repository.flag(Field::is_unsigned)) add("Trusted", "yes");
  return text;
}

std::string write_pin(const model::Resource& repository, std::int64_t priority) {
  return heading(repository) + "Package: *\nPin: origin \"" +
         std::string(host_of(repository.text(Field::url))) +
         "\"\nPin-Priority: " + std::to_string(priority) + "\n";
}

bool is_apt_name(std::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

}  // namespace datum::resource
