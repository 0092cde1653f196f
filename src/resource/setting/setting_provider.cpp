#include "setting_provider.hpp"

#include "../file/file_facts.hpp"
#include "../path_facts.hpp"
#include "../show.hpp"
#include "../sysctl/sysctl_provider.hpp"
#include "../validate.hpp"
#include "../whole_text.hpp"
#include "datum/crypto/digest.hpp"
#include "setting_text.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr const char* kRedacted = "(redacted)";

// The file as it is, and what gives the value in it; nothing of either where it is missing.
struct Settings {
  model::SettingTarget target;
  std::optional<os::Location> where;
  std::optional<os::FileStat> stat;
  std::optional<SettingText> text;

  [[nodiscard]] bool is_there() const { return text && text->has_any(); }
};

Status look(Sight& sight, const model::Target& name, Settings& settings) {
  auto target = model::find_setting_target(name.name);
  if (!target) return fail(ErrorCode::corrupt, name.text() + " names no value");
  settings.target = std::move(*target);
  const auto& path = settings.target.path;
  auto where = sight.walker().locate(path);
  if (!where && (where.error().code() == ErrorCode::not_found ||
                 where.error().code() == ErrorCode::not_directory))
    return {};
  if (!where) return fail(std::move(where).error().context("not looked at and not touched"));
  DATUM_TRY(check_strict(sight, *where->folder));
  settings.where = std::move(*where);
  DATUM_ASSIGN(const auto stat, sight.find(*settings.where));
  if (sight.is_own(*settings.where, stat))
    return fail(ErrorCode::refused, "it belongs to Datum itself; not touched");
  if (!stat) return {};
  if (stat->type != os::FileType::regular)
    return fail(ErrorCode::refused, shown(path) + " is a " + std::string(to_string(stat->type)) +
                                        "; not followed and not touched");
  auto whole = read_whole_text(sight, *settings.where);
  if (!whole) return fail(std::move(whole).error().context(path));
  settings.stat = whole->stat;
  // The library was not made for hostile texts: deep nesting ends the process that reads it.
  if (settings.target.format == model::SettingFormat::augeas && !is_private(sight, whole->stat))
    return fail(ErrorCode::refused,
                shown(path) +
                    ": others than root can write it, and no lens is shown what they "
                    "wrote; not touched");
  auto text = SettingText::read(sight.machine().lenses, settings.target, std::move(whole->text));
  if (!text) return fail(std::move(text).error().context(path));
  settings.text = std::move(*text);
  return {};
}

Digest digest_of(const Settings& settings) {
  return crypto::sha256(as_bytes(settings.text->values()));
}

bool is_sensitive(const model::Resource& resource, const Settings& settings) {
  return resource.find(Field::secret_ref) != nullptr ||
         (settings.stat && denies_others(settings.stat->mode));
}

// What stands in a line of its own between blanks.
bool fits_line(std::string_view value) {
  constexpr std::string_view kWhite = " \t\v\f";
  return kWhite.find(value.front()) == std::string_view::npos &&
         kWhite.find(value.back()) == std::string_view::npos && !value.ends_with('\\');
}

// As declared, or the secret without its line end. Errors say which secret, and never what it is.
Result<std::string> wanted_value(Sight& sight, const model::Resource& resource,
                                 const Settings& settings) {
  const auto secret = resource.text(Field::secret_ref);
  if (secret.empty()) return std::string(resource.text(Field::value));
  DATUM_ASSIGN(auto value, sight.secret(secret));
  if (value.ends_with('\n')) value.pop_back();
  const bool line = settings.target.format != model::SettingFormat::augeas;
  if (value.empty() || (line && !fits_line(value)) ||
      value.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "secret " + shown(secret) +
                    " is no value for a line: it is empty, has several lines, or begins or ends "
                    "with white space or a backslash");
  return value;
}

void compare(const model::Resource& resource, const Settings& settings, std::string_view wanted,
             core::Observation& seen) {
  if (settings.text->has(wanted)) return;
  if (resource.find(Field::secret_ref) != nullptr)
    return add_drift(seen, "secretRef", kRedacted, kRedacted);
  auto observed = seen.sensitive ? std::string(kRedacted) : shown(settings.text->values());
  if (settings.text->is_continued()) observed += ", which goes on in the next line";
  add_drift(seen, "value", shown(wanted), std::move(observed));
}

Status check_editable(const Settings& settings) {
  if (!settings.stat)
    return fail(ErrorCode::not_found, settings.target.path +
                                          " does not exist: a Setting changes a file and never "
                                          "makes one. Nothing was changed");
  if (settings.stat->links > 1)
    return fail(ErrorCode::conflict,
                "other names share " + settings.target.path + " (hard links). Nothing was changed");
  if (settings.text->is_continued())
    return fail(ErrorCode::unsupported,
                "the value goes on in the next line: change it by hand. Nothing was changed");
  return {};
}

// What is staged from is what will be replaced.
Status look_again(Bench& bench, Work& work, Settings& settings) {
  DATUM_TRY(look(bench.sight, work.action->target, settings));
  DATUM_TRY(check_editable(settings));
  if (!work.before || identity_of(*settings.stat) != identity_of(*work.before))
    return changed_meanwhile(work);
  return {};
}

}  // namespace

void SettingProvider::observe(Sight& sight, const model::Resource& resource,
                              core::Observation& seen) const {
  Settings settings;
  if (const auto looked = look(sight, resource.target, settings); !looked)
    return set_unknown(seen, looked.error().message());
  const bool there = settings.is_there();
  seen.sensitive = is_sensitive(resource, settings);
  seen.found = there ? core::Found::present : core::Found::absent;
  if (there) {
    const auto digest = digest_of(settings);
    seen.content = seen.sensitive ? sight.keyed(digest) : digest;
  }
  if (resource.absent()) {
    if (there) add_state_drift(seen, true);
    return;
  }
  const auto wanted = wanted_value(sight, resource, settings);
  if (!wanted) return set_unknown(seen, wanted.error().message());
  if (!settings.stat) seen.warning = shown(settings.target.path) + " does not exist";
  if (there)
    compare(resource, settings, *wanted, seen);
  else
    add_state_drift(seen, false);
}

Status SettingProvider::stage(Bench& bench, Work& work) const {
  Settings settings;
  DATUM_TRY(look_again(bench, work, settings));
  if (work.removes()) {
    DATUM_ASSIGN(const auto rest, settings.text->remove());
    return stage_whole_text(bench, work, rest, metadata_before(work));
  }
  DATUM_ASSIGN(const auto wanted, wanted_value(bench.sight, *work.resource, settings));
  DATUM_ASSIGN(const auto edited, settings.text->write(work.resource->text(Field::key), wanted));
  DATUM_TRY(stage_whole_text(bench, work, edited, metadata_before(work)));
  return validate_staged(bench, work, is_sensitive(*work.resource, settings));
}

Status SettingProvider::commit(Bench& bench, Work& work) const {
  return put_in_place(bench, work);
}

Status SettingProvider::remove(Bench& bench, Work& work) const {
  return put_in_place(bench, work);
}

Result<FoundSetting> find_setting_value(Sight& sight, const model::Target& target) {
  Settings settings;
  DATUM_TRY(look(sight, target, settings));
  if (!settings.text) return fail(ErrorCode::not_found, settings.target.path + " does not exist");
  FoundSetting found;
  found.hidden = denies_others(settings.stat->mode);
  auto values = settings.text->values();
  if (settings.text->has(values)) found.value = std::move(values);
  return found;
}

// In the form in which ownership remembers it: keyed if it was, or is, sensitive.
Status look_at_leaving_setting(Sight& sight, const core::Owned& owned,
                               core::LeavingObservation& seen) {
  Settings settings;
  DATUM_TRY(look(sight, seen.target, settings));
  seen.found = settings.is_there() ? core::Found::present : core::Found::absent;
  if (!settings.is_there()) return {};
  const auto plain = digest_of(settings);
  const auto keyed = sight.keyed(plain);
  const bool hidden = keyed == owned.left.content || denies_others(settings.stat->mode);
  seen.content = hidden ? keyed : plain;
  return {};
}

}  // namespace datum::resource
