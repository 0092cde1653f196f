// Spelling and order of references and targets. Knows the types by name and family; what their
// fields are is the descriptor table's business.
#include "datum/model/reference.hpp"

#include <algorithm>
#include <array>

#include "datum/base/assert.hpp"

namespace datum::model {
namespace {

struct TypeName {
  ResourceType type;
  std::string_view name;
  TargetFamily family;
};

constexpr std::array<TypeName, 15> kTypeNames{{
    {ResourceType::file, "File", TargetFamily::path},
    {ResourceType::directory, "Directory", TargetFamily::path},
    {ResourceType::symlink, "Symlink", TargetFamily::path},
    {ResourceType::package, "Package", TargetFamily::package},
    {ResourceType::repository, "Repository", TargetFamily::repository},
    {ResourceType::service, "Service", TargetFamily::unit},
    {ResourceType::user, "User", TargetFamily::user},
    {ResourceType::group, "Group", TargetFamily::group},
    {ResourceType::sysctl, "Sysctl", TargetFamily::sysctl},
    {ResourceType::hostname, "Hostname", TargetFamily::hostname},
    {ResourceType::timezone, "Timezone", TargetFamily::timezone},
    {ResourceType::authorized_key, "AuthorizedKey", TargetFamily::authorized_key},
    {ResourceType::setting, "Setting", TargetFamily::setting},
    {ResourceType::mount, "Mount", TargetFamily::mount},
    {ResourceType::timer, "Timer", TargetFamily::timer},
}};

const TypeName& entry(ResourceType type) {
  const auto index = static_cast<std::size_t>(type);
  DATUM_ASSERT(index >= 1 && index <= kTypeNames.size());
  return kTypeNames[index - 1];
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(".-_+@:").find(c) != std::string_view::npos;
}

// The types of unit that systemd.unit(5) lists.
constexpr std::array<std::string_view, 11> kUnitTypes{".service",   ".socket", ".device", ".mount",
                                                      ".automount", ".swap",   ".target", ".path",
                                                      ".timer",     ".slice",  ".scope"};

}  // namespace

std::string_view to_string(ResourceType type) {
  return entry(type).name;
}

std::optional<ResourceType> find_type(std::string_view name) {
  for (const auto& each : kTypeNames)
    if (each.name == name) return each.type;
  return std::nullopt;
}

// As the texts compare: the bracket that closes a shorter name takes part in the comparison.
std::strong_ordering Reference::operator<=>(const Reference& other) const {
  if (type != other.type) return to_string(type) <=> to_string(other.type);
  const auto mine = name.view();
  const auto others = other.name.view();
  const auto common = std::min(mine.size(), others.size());
  if (const int order = mine.substr(0, common).compare(others.substr(0, common)); order != 0)
    return order <=> 0;
  if (mine.size() == others.size()) return std::strong_ordering::equal;
  const auto next = [common](std::string_view text) {
    return static_cast<unsigned char>(common < text.size() ? text[common] : ']');
  };
  if (const auto order = next(mine) <=> next(others); order != 0) return order;
  return mine.size() <=> others.size();
}

std::string Reference::text() const {
  const auto type_name = to_string(type);
  std::string text;
  text.reserve(type_name.size() + name.size() + 2);
  text.append(type_name).append(1, '[').append(name.view()).append(1, ']');
  return text;
}

bool is_document_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), is_name_byte);
}

std::optional<Reference> find_reference(std::string_view text) {
  const auto open = text.find('[');
  if (open == std::string_view::npos || text.back() != ']') return std::nullopt;
  const auto type = find_type(text.substr(0, open));
  const auto name = text.substr(open + 1, text.size() - open - 2);
  if (!type || !is_document_name(name)) return std::nullopt;
  return Reference{*type, name};
}

std::string_view to_string(TargetFamily family) {
  constexpr std::array<std::string_view, 13> names{
      "path",     "package",  "repository",    "unit",    "user",  "group", "sysctl",
      "hostname", "timezone", "authorizedKey", "setting", "mount", "timer"};
  const auto index = static_cast<std::size_t>(family);
  DATUM_ASSERT(index >= 1 && index <= names.size());
  return names[index - 1];
}

TargetFamily family_of(ResourceType type) {
  return entry(type).family;
}

std::string Target::text() const {
  if (family == TargetFamily::path) return name.str();
  return std::string(to_string(family)).append(1, ':').append(name.view());
}

std::string normalise_unit(std::string_view written) {
  for (const auto suffix : kUnitTypes)
    if (written.size() > suffix.size() && written.ends_with(suffix)) return std::string(written);
  return std::string(written).append(".service");
}

std::string normalise_sysctl(std::string_view written) {
  std::string key(written);
  const auto first = key.find_first_of("./");
  if (first == std::string::npos || key[first] == '.') return key;
  for (auto& c : key) {
    if (c == '.')
      c = '/';
    else if (c == '/')
      c = '.';
  }
  return key;
}

std::string normalise_timer(std::string_view written) {
  if (written.ends_with(".timer")) return std::string(written);
  return std::string(written).append(".timer");
}

}  // namespace datum::model
