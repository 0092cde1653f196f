#include "undo_parts.hpp"

#include <algorithm>

namespace datum::engine {

namespace {

using model::TargetFamily;

// What the pass found in that field; null if it did not differ.
const core::FieldDrift* find_change(const Done& done, std::string_view field) {
  if (!done.changes) return nullptr;
  const auto found = std::find_if(done.changes->begin(), done.changes->end(),
                                  [field](const auto& change) { return change.field == field; });
  return found == done.changes->end() ? nullptr : &*found;
}

tl::unexpected<Error> not_put_back(std::string words) {
  return fail(ErrorCode::unsupported, std::move(words));
}

// Of a field that no document brings back: it would be said of another one that all is as before.
Status refuse_changes(const Done& done, std::initializer_list<std::string_view> fields,
                      const char* why) {
  for (const auto field : fields)
    if (const auto* change = find_change(done, field))
      return not_put_back(std::string(field).append(" was ") + change->observed + ", " + why);
  return {};
}

// Two places that one field declares: both were alike, or there is no document of it.
Status expect_alike(const Done& done, std::string_view field, std::string_view old) {
  const auto* change = find_change(done, field);
  if (change == nullptr || change->observed == old) return {};
  return not_put_back(std::string(field).append(" was ") + change->observed +
                      ", and no document declares that beside " + std::string(old));
}

std::string_view former_text(const resource::FormerFields& fields, model::Field field) {
  for (const auto& one : fields)
    if (one.field == field) return std::get<std::string>(one.value);
  return {};
}

// The words are those of the Mount's own observation.
Result<resource::FormerFields> former_mount(const Done& done, const model::Target& target,
                                            std::string_view old) {
  DATUM_TRY(refuse_changes(done, {"mountedDevice", "mountedOptions"},
                           "and is not mounted like that again"));
  const auto* state = find_change(done, "state");
  const std::string_view was =
      state == nullptr ? std::string_view() : std::string_view(state->observed);
  if (was == "mounted, not in fstab")
    return not_put_back("it was mounted and not in fstab, which no document declares");
  if (was == "absent") return resource::former_absence(target);
  DATUM_ASSIGN(auto fields, resource::former_fields(target, old));
  // Where its state did not differ, it is the one that was declared, and stays.
  const bool same = was.empty() || was == "present";
  const char* declared = same ? "present" : was == "mounted" ? "mounted" : "unmounted";
  fields.push_back({model::Field::state, std::string(declared)});
  return fields;
}

}  // namespace

bool is_part(TargetFamily family) {
  switch (family) {
    case TargetFamily::hostname:
    case TargetFamily::timezone:
    case TargetFamily::authorized_key:
    case TargetFamily::setting:
    case TargetFamily::mount:
    case TargetFamily::timer:
      return true;
    default:
      return false;
  }
}

Result<resource::FormerFields> former_part(const Done& done, const model::Target& target,
                                           std::string_view old) {
  if (!done.changes && done.announced.kind == core::ActionKind::update)
    return fail(ErrorCode::not_found, "the plan of that pass is not kept any more");
  if (target.family == TargetFamily::mount) return former_mount(done, target, old);
  if (done.announced.before == core::Found::absent) return resource::former_absence(target);
  if (done.announced.old_content.empty())
    DATUM_TRY(refuse_changes(done, {"hostname", "persisted"},
                             "and no document declares that beside what the other place said"));
  if (done.announced.old_content.empty())
    return fail(
        ErrorCode::not_found,
        "what it was is not kept" + (done.not_kept.empty() ? std::string() : ": " + done.not_kept));
  DATUM_ASSIGN(auto fields, resource::former_fields(target, old));
  switch (target.family) {
    case TargetFamily::hostname:
      DATUM_TRY(expect_alike(done, "hostname", former_text(fields, model::Field::hostname)));
      break;
    case TargetFamily::timezone:
      DATUM_TRY(expect_alike(done, "persisted", former_text(fields, model::Field::zone)));
      break;
    case TargetFamily::authorized_key:
      DATUM_TRY(refuse_changes(done, {"owner", "mode", "folder"},
                               "for which sshd passes over the key, and is not made so again"));
      break;
    case TargetFamily::timer:
      DATUM_TRY(refuse_changes(done, {"enabled", "running", "mode"},
                               "and no Timer is declared like that"));
      break;
    default:
      break;
  }
  return fields;
}

}  // namespace datum::engine
