// Names of resources and identities of what they manage. A Reference is a document's name and may
// change; a Target is the thing on the machine, and ownership hangs on it alone.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "datum/base/shared_text.hpp"

namespace datum::model {

// Numbers are stored; new types are appended.
enum class ResourceType : std::uint8_t {
  file = 1,
  directory = 2,
  symlink = 3,
  package = 4,
  repository = 5,
  service = 6,
  user = 7,
  group = 8,
  sysctl = 9,
  hostname = 10,
  timezone = 11,
  authorized_key = 12,
  setting = 13,
  mount = 14,
  timer = 15,
};
inline constexpr ResourceType kLastResourceType = ResourceType::timer;
[[nodiscard]] std::string_view to_string(ResourceType type);  // "File", "Directory", …
[[nodiscard]] std::optional<ResourceType> find_type(std::string_view name);

// `Type[name]`. Ordered by that text, byte by byte.
struct Reference {
  ResourceType type = ResourceType::file;
  SharedText name;

  bool operator==(const Reference&) const = default;
  std::strong_ordering operator<=>(const Reference& other) const;
  [[nodiscard]] std::string text() const;
};
// Letters, digits and `. - _ + @ :`, 1 to 256 bytes: what a document may be called.
[[nodiscard]] bool is_document_name(std::string_view name);
inline constexpr std::size_t kMaxName = 256;

// `Type[name]`, exact in case and space; nothing around it.
[[nodiscard]] std::optional<Reference> find_reference(std::string_view text);

// What a resource manages. File, Directory and Symlink share the family `path`.
enum class TargetFamily : std::uint8_t {
  path = 1,
  package = 2,
  repository = 3,
  unit = 4,
  user = 5,
  group = 6,
  sysctl = 7,
  hostname = 8,
  timezone = 9,
  authorized_key = 10,
  setting = 11,
  mount = 12,
  timer = 13,
};
inline constexpr TargetFamily kLastTargetFamily = TargetFamily::timer;
[[nodiscard]] std::string_view to_string(TargetFamily family);
[[nodiscard]] TargetFamily family_of(ResourceType type);

struct Target {
  TargetFamily family = TargetFamily::path;
  SharedText name;  // normalised: "/etc/hosts", "nginx", "ssh.service", "net.ipv4.ip_forward"

  bool operator==(const Target&) const = default;
  auto operator<=>(const Target&) const = default;
  // A path as it is, everything else "family:name".
  [[nodiscard]] std::string text() const;
};

struct ReferenceHash {
  std::size_t operator()(const Reference& reference) const {
    return std::hash<std::string_view>{}(reference.name) * 31 +
           static_cast<std::size_t>(reference.type);
  }
};
struct TargetHash {
  std::size_t operator()(const Target& target) const {
    return std::hash<std::string_view>{}(target.name) * 31 +
           static_cast<std::size_t>(target.family);
  }
};

// "ssh" → "ssh.service"; a name that already ends in a unit type stays.
[[nodiscard]] std::string normalise_unit(std::string_view written);
// "net/ipv4/ip_forward" → "net.ipv4.ip_forward": where the first separator is a slash, dots and
// slashes are exchanged (sysctl.d(5)).
[[nodiscard]] std::string normalise_sysctl(std::string_view written);
// "backup" → "backup.timer".
[[nodiscard]] std::string normalise_timer(std::string_view written);

}  // namespace datum::model
