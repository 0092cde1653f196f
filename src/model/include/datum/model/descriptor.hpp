// One table says what each resource type has: fields, their kinds, limits and meanings. Reading,
// merging, the canonical form, the JSON Schema, explain and the codec all follow it, so that a
// field exists everywhere or nowhere. Pure data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "datum/model/reference.hpp"

namespace datum::model {

// Numbers are stored; new fields are appended. One number may serve several types.
enum class Field : std::uint8_t {
  path = 1,
  content = 2,
  owner = 3,
  group = 4,
  mode = 5,
  state = 6,
  target = 7,
  allow_privileged = 8,
  sensitive = 9,
  replace = 10,
  hard_links = 11,
  on_conflict = 12,
  validate = 13,
  purge = 14,
  purge_directories = 15,
  version = 16,
  pinned = 17,
  conffiles = 18,
  package = 19,
  id = 20,
  url = 21,
  suite = 22,
  components = 23,
  signing_key = 24,
  is_unsigned = 25,
  enabled = 26,
  priority = 27,
  unit = 28,
  masked = 29,
  user = 30,
  uid = 31,
  primary_group = 32,
  groups = 33,
  home = 34,
  shell = 35,
  comment = 36,
  system = 37,
  password_ref = 38,
  locked = 39,
  groups_mode = 40,
  gid = 41,
  key = 42,
  value = 43,
  settle = 44,
  group_name = 45,
  hostname = 46,
  zone = 47,
  options = 48,
  format = 49,
  section = 50,
  secret_ref = 51,
  device = 52,
  fs_type = 53,
  timer = 54,
  on_calendar = 55,
  persistent = 56,
  randomized_delay = 57,
  lens = 58,
};

enum class FieldKind : std::uint8_t {
  text,        // single line
  path,        // absolute, normalised
  mode,        // quoted octal, normalised to four digits
  integer,     // plain
  boolean,     // true or false
  choice,      // one of `choices`
  text_list,   // ordered as written; `groups` compares as a set
  content,     // the four content keys of File, merged as one field; a Content
  secret,      // the name of a secret
  fleet_file,  // a file of the fleet, named by its path in the document; its value is a Content
  duration,    // digits and `ms`, `s`, `m` or `h`; kept as written
};

// A line that a person is expected to read at a glance; names of accounts, packages and units are
// shorter.
inline constexpr std::uint32_t kMaxText = 256;
// PATH_MAX of Linux: the kernel takes no longer path.
inline constexpr std::uint32_t kMaxPath = 4096;
// Free text and URLs: more than anybody types, small enough for an event.
inline constexpr std::uint32_t kMaxLongText = 4096;
// A public key: RSA of 16,384 bits, the longest that OpenSSH takes, has 2.8 KiB in base64.
inline constexpr std::uint32_t kMaxKey = 4096;
// Content that stands in a document: a whole document is at most 16 MiB.
inline constexpr std::uint32_t kMaxInlineDocument = 16U << 20;

struct FieldDescriptor {
  Field id;
  std::string_view name;  // the key in documents and in every report
  FieldKind kind;
  bool required = false;  // in the merged resource, unless `state: absent`
  bool observed = true;   // compared with the machine; false: it only directs what Datum does
  std::span<const std::string_view> choices = {};
  std::uint32_t max_length = kMaxText;  // bytes
  std::string_view summary;             // one line for people and for the JSON Schema
};

struct TypeDescriptor {
  ResourceType type;
  std::string_view name;
  std::string_view summary;
  std::span<const FieldDescriptor> fields;  // in the order in which documents.md lists them
  Field target_field;     // that names the target; the document's name where it is absent
  bool target_from_name;  // whether the document's name may stand in
  bool repeatable;        // File, Directory, Symlink, Sysctl: actions may share a wave
};

[[nodiscard]] std::span<const TypeDescriptor> all_types();
[[nodiscard]] const TypeDescriptor& describe(ResourceType type);
[[nodiscard]] const FieldDescriptor* find_field(const TypeDescriptor& type, std::string_view name);
[[nodiscard]] const FieldDescriptor* find_field(const TypeDescriptor& type, Field field);
// A field that the type does not have is a programmer's error (asserted).
[[nodiscard]] const FieldDescriptor& describe(ResourceType type, Field field);

// The four keys under which a document gives a File its content.
[[nodiscard]] std::span<const std::string_view> content_keys();

}  // namespace datum::model
