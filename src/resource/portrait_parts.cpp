#include "portrait_parts.hpp"

#include <algorithm>

#include "authorized_key/key_lines.hpp"
#include "authorized_key/key_provider.hpp"
#include "datum/model/spelled_target.hpp"
#include "datum/resource/former.hpp"
#include "mount/mount_facts.hpp"
#include "path_facts.hpp"
#include "provider.hpp"
#include "service/service_observer.hpp"
#include "setting/setting_provider.hpp"
#include "show.hpp"
#include "sysctl/kernel.hpp"

namespace datum::resource {

namespace {

using model::Field;
using model::ResourceType;
using model::TargetFamily;

struct PartType {
  TargetFamily family;
  ResourceType type;
};
constexpr PartType kParts[] = {{TargetFamily::hostname, ResourceType::hostname},
                               {TargetFamily::timezone, ResourceType::timezone},
                               {TargetFamily::authorized_key, ResourceType::authorized_key},
                               {TargetFamily::setting, ResourceType::setting},
                               {TargetFamily::mount, ResourceType::mount},
                               {TargetFamily::timer, ResourceType::timer}};

ResourceType part_type(TargetFamily family) {
  for (const auto& part : kParts)
    if (part.family == family) return part.type;
  return ResourceType::file;
}

Portrait::Value portrait_value(const model::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  return std::get<std::string>(value);
}

// What a plan over it would still do is said above the document.
Result<Portrait> paint_part(Sight& sight, ResourceType type, std::string name,
                            const FormerFields& fields) {
  Portrait made{type, std::move(name), {}, {}, {}};
  for (const auto& descriptor : model::describe(type).fields)
    for (const auto& [field, value] : fields)
      if (field == descriptor.id && field != Field::timer)
        made.fields.emplace_back(std::string(descriptor.name), portrait_value(value));
  model::Resource resource;
  resource.reference = {type, "adopted"};
  resource.fields = fields;
  model::finish_resource(resource);
  core::Observation seen;
  find_provider(type)->observe(sight, resource, seen);
  if (seen.found == core::Found::unseen) return fail(ErrorCode::unsupported, seen.reason.str());
  for (const auto& drift : seen.drifts)
    made.notes.push_back("the plan changes " + drift.field + ": it is " + drift.observed);
  if (!seen.warning.empty()) made.notes.push_back(seen.warning.str());
  return made;
}

// The text of a regular file, or of a link.
Result<std::string> read_place(Sight& sight, std::string_view path, os::FileType type) {
  DATUM_ASSIGN(const auto where, sight.walker().locate(path));
  DATUM_ASSIGN(const auto stat, sight.find(where));
  if (!stat) return fail(ErrorCode::not_found, std::string(path) + " does not exist");
  if (stat->type != type)
    return fail(ErrorCode::unsupported,
                std::string(path) + " is a " + std::string(to_string(stat->type)));
  if (type == os::FileType::symlink)
    return sight.files().read_symlink(where.folder->handle, where.name);
  DATUM_ASSIGN(auto whole, read_whole_text(sight, where));
  return std::move(whole.text);
}

Result<FormerFields> hostname_fields(Sight& sight, const model::Target& part) {
  const auto text = read_place(sight, part.name, os::FileType::regular);
  auto fields = text ? former_fields(part, *text) : Result<FormerFields>(fail(text.error()));
  if (fields || !is_live(sight.machine())) return fields;
  DATUM_ASSIGN(const auto running, read_kernel(sight, "kernel.hostname"));
  if (!running) return fields;
  return former_fields(part, *running);
}

Result<FormerFields> mount_fields(Sight& sight, const model::Target& part) {
  DATUM_ASSIGN(const auto facts, look_at_mount(sight, part.name));
  if (facts.lines.empty())
    return fail(ErrorCode::not_found, facts.mounted ? "it is mounted, and not in fstab"
                                                    : "it is neither in fstab nor mounted");
  DATUM_ASSIGN(auto fields, former_fields(part, facts.fstab->text));
  const char* state = !facts.live ? "present" : facts.mounted ? "mounted" : "unmounted";
  fields.push_back({Field::state, std::string(state)});
  return fields;
}

Result<FormerFields> setting_fields(Sight& sight, const model::Target& part) {
  DATUM_TRY(model::check_spelled_target(part));
  DATUM_ASSIGN(const auto found, find_setting_value(sight, part));
  if (found.hidden)
    return fail(ErrorCode::unsupported,
                "others may not read the file, so its values are not printed: declare it with "
                "secretRef");
  if (!found.value)
    return fail(ErrorCode::not_found, "nothing gives that value, or not all lines agree on it");
  return former_fields(part, *found.value);
}

Result<FormerFields> part_fields(Sight& sight, const model::Target& part) {
  switch (part.family) {
    case TargetFamily::hostname:
      return hostname_fields(sight, part);
    case TargetFamily::mount:
      return mount_fields(sight, part);
    case TargetFamily::setting:
      return setting_fields(sight, part);
    case TargetFamily::timezone: {
      DATUM_ASSIGN(const auto link, read_place(sight, part.name, os::FileType::symlink));
      return former_fields(part, link);
    }
    case TargetFamily::timer: {
      if (auto why = find_unit_absence(sight.machine()))
        return fail(ErrorCode::unsupported, std::move(*why));
      DATUM_TRY(model::check_spelled_target(part));
      DATUM_ASSIGN(const auto text,
                   read_place(sight, model::timer_file(part.name), os::FileType::regular));
      auto fields = former_fields(part, text);
      if (!fields)
        return fail(std::move(fields).error().context(
            "it says more or less than a Timer does; declare its file and a Service for it"));
      return fields;
    }
    default:
      return fail(ErrorCode::unsupported, "no portrait of it");
  }
}

Result<std::vector<Portrait>> portray_keys(Sight& sight, std::string_view name) {
  const auto one = model::find_key_target(name);
  const auto user = one ? one->user : std::string(name);
  DATUM_ASSIGN(const auto text, read_keys_of(sight, user));
  std::vector<std::string> known;
  std::vector<Portrait> all;
  for (const auto& line : find_key_lines(text, one ? one->fingerprint : std::string())) {
    const auto blank = line.key.find_first_of(" \t");
    const auto key =
        model::find_public_key(std::string(line.key.substr(0, blank))
                                   .append(" ")
                                   .append(line.key.substr(line.key.find_last_of(" \t") + 1)));
    if (!key || std::find(known.begin(), known.end(), key->fingerprint) != known.end()) continue;
    known.push_back(key->fingerprint);
    const model::Target target{TargetFamily::authorized_key, user + " " + key->fingerprint};
    DATUM_ASSIGN(auto fields, former_fields(target, text));
    if (line.comment.empty())
      std::erase_if(fields, [](const auto& each) { return each.field == Field::comment; });
    const auto whose = line.comment.empty() ? key->fingerprint : std::string(line.comment);
    DATUM_ASSIGN(auto made,
                 paint_part(sight, ResourceType::authorized_key, user + " " + whose, fields));
    all.push_back(std::move(made));
  }
  if (all.empty()) return fail(ErrorCode::not_found, "there is no such key");
  return all;
}

}  // namespace

std::optional<model::Target> find_part(std::string_view asked) {
  if (const auto reference = model::find_reference(asked)) {
    const std::string name = reference->name;
    switch (reference->type) {
      case ResourceType::hostname:
        return model::Target{TargetFamily::hostname, model::kHostnameTarget};
      case ResourceType::timezone:
        return model::Target{TargetFamily::timezone, model::kTimezoneTarget};
      case ResourceType::timer:
        return model::Target{TargetFamily::timer, model::normalise_timer(name)};
      case ResourceType::authorized_key:
        return model::Target{TargetFamily::authorized_key, name};
      default:
        return std::nullopt;
    }
  }
  for (const auto& part : kParts) {
    const auto prefix = std::string(model::to_string(part.family)).append(":");
    if (!asked.starts_with(prefix)) continue;
    std::string name(asked.substr(prefix.size()));
    auto setting = model::find_setting_target(name);
    if (part.family == TargetFamily::setting && setting) {
      setting->lens = model::normalise_lens(setting->lens);
      name = model::setting_target(*setting);
    }
    return model::Target{part.family, std::move(name)};
  }
  return std::nullopt;
}

Result<std::vector<Portrait>> portray_part(Sight& sight, const model::Target& part) {
  if (part.family == TargetFamily::authorized_key) return portray_keys(sight, part.name);
  DATUM_ASSIGN(const auto fields, part_fields(sight, part));
  auto name = part.name.str();
  if (part.family == TargetFamily::hostname || part.family == TargetFamily::timezone)
    name = std::string(model::to_string(part.family));
  DATUM_ASSIGN(auto made, paint_part(sight, part_type(part.family), std::move(name), fields));
  std::vector<Portrait> all;
  all.push_back(std::move(made));
  return all;
}

}  // namespace datum::resource
