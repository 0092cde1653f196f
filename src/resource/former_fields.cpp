// What was there before of the types that are no path, as documents have it: from the content that
// a wave kept. Pure.
#include "authorized_key/key_lines.hpp"
#include "datum/model/spelled_target.hpp"
#include "datum/resource/former.hpp"
#include "hostname/hostname_provider.hpp"
#include "mount/fstab.hpp"
#include "timer/timer_provider.hpp"
#include "timezone/timezone_provider.hpp"

namespace datum::resource {

namespace {

using model::Field;
using model::TargetFamily;

void add_text(FormerFields& fields, Field field, std::string_view text) {
  fields.push_back({field, std::string(text)});
}

tl::unexpected<Error> no_document(const char* words) {
  return fail(ErrorCode::unsupported, words);
}

// Those that name the target.
Result<FormerFields> fields_of(const model::Target& target) {
  FormerFields fields;
  const std::string_view name = target.name;
  if (target.family == TargetFamily::authorized_key) {
    const auto key = model::find_key_target(name);
    if (!key) return fail(ErrorCode::corrupt, target.text() + " names no key");
    add_text(fields, Field::user, key->user);
  } else if (target.family == TargetFamily::setting) {
    const auto setting = model::find_setting_target(name);
    if (!setting) return fail(ErrorCode::corrupt, target.text() + " names no value");
    add_text(fields, Field::path, setting->path);
    add_text(fields, Field::format, to_string(setting->format));
    if (!setting->lens.empty()) add_text(fields, Field::lens, setting->lens);
    if (!setting->section.empty()) add_text(fields, Field::section, setting->section);
    add_text(fields, Field::key, setting->key);
  } else if (target.family == TargetFamily::mount) {
    add_text(fields, Field::path, name);
  } else if (target.family == TargetFamily::timer) {
    add_text(fields, Field::timer, name);
  }
  return fields;
}

// All lines of the key say the same, since one document says it of all.
Status add_key(const model::Target& target, std::string_view old, FormerFields& fields) {
  const auto key = model::find_key_target(target.name);
  const auto lines = find_key_lines(old, key->fingerprint);
  if (lines.empty()) return no_document("the file that was kept does not hold it");
  const auto& first = lines.front();
  for (const auto& line : lines)
    if (line.options != first.options || line.comment != first.comment)
      return no_document("its lines did not agree");
  const auto blank = first.key.find_first_of(" \t");
  const auto base64 = first.key.substr(first.key.find_last_of(" \t") + 1);
  add_text(fields, Field::key, std::string(first.key.substr(0, blank)).append(" ").append(base64));
  add_text(fields, Field::options, first.options);
  add_text(fields, Field::comment, first.comment);
  return {};
}

Status add_fstab_line(const model::Target& target, std::string_view old, FormerFields& fields) {
  const auto lines = find_fstab_lines(old, target.name);
  if (lines.size() != 1)
    return no_document(lines.empty() ? "fstab had no line of it" : "fstab had several lines of it");
  add_text(fields, Field::device, lines.front().device);
  add_text(fields, Field::fs_type, lines.front().fs_type);
  add_text(fields, Field::options, lines.front().options);
  return {};
}

}  // namespace

Result<FormerFields> former_absence(const model::Target& target) {
  if (target.family == TargetFamily::hostname) return no_document("there was no /etc/hostname");
  if (target.family == TargetFamily::timezone) return no_document("there was no /etc/localtime");
  DATUM_ASSIGN(auto fields, fields_of(target));
  // An absent key is found by its fingerprint alone.
  if (const auto key = model::find_key_target(target.name);
      key && target.family == TargetFamily::authorized_key)
    add_text(fields, Field::key, key->fingerprint);
  add_text(fields, Field::state, "absent");
  return fields;
}

Result<FormerFields> former_fields(const model::Target& target, std::string_view old) {
  DATUM_ASSIGN(auto fields, fields_of(target));
  switch (target.family) {
    case TargetFamily::hostname: {
      auto name = parse_hostname(old);
      if (name.empty()) return no_document("/etc/hostname held no name");
      add_text(fields, Field::hostname, name);
      return fields;
    }
    case TargetFamily::timezone: {
      const auto zone = zone_of_link(old);
      if (zone.empty()) return no_document("/etc/localtime did not lead to a zone's file");
      add_text(fields, Field::zone, zone);
      return fields;
    }
    case TargetFamily::authorized_key:
      DATUM_TRY(add_key(target, old, fields));
      return fields;
    case TargetFamily::setting:
      add_text(fields, Field::value, old);
      return fields;
    case TargetFamily::mount:
      DATUM_TRY(add_fstab_line(target, old, fields));
      return fields;
    case TargetFamily::timer: {
      auto timer = read_timer(target.name, old);
      if (!timer) return no_document("its file was not one of a Timer");
      return std::move(*timer);
    }
    default:
      return no_document("no document says what was there");
  }
}

}  // namespace datum::resource
