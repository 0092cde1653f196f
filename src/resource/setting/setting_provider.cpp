#include "setting_provider.hpp"

#include "../file/file_facts.hpp"
#include "../path_facts.hpp"
#include "../show.hpp"
#include "../validate.hpp"
#include "../whole_text.hpp"
#include "datum/crypto/digest.hpp"
#include "setting_lines.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr const char* kRedacted = "(redacted)";

// The file as it is, and where the value stands in it; no text where the file is missing.
struct Settings {
  model::SettingTarget target;
  std::optional<os::Location> where;
  std::optional<WholeText> whole;
  SettingPlace place;
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
  settings.whole = std::move(*whole);
  settings.place = find_setting(settings.whole->text, settings.target);
  return {};
}

std::string values_of(const Settings& settings) {
  return settings.place.values(settings.whole->text);
}

Digest digest_of(const Settings& settings) {
  return crypto::sha256(as_bytes(values_of(settings)));
}

bool is_sensitive(const model::Resource& resource, const Settings& settings) {
  return resource.find(Field::secret_ref) != nullptr ||
         (settings.whole && denies_others(settings.whole->stat.mode));
}

// As declared, or the secret without its line end. Errors say which secret, and never what it is.
Result<std::string> wanted_value(Sight& sight, const model::Resource& resource) {
  const auto secret = resource.text(Field::secret_ref);
  if (secret.empty()) return std::string(resource.text(Field::value));
  DATUM_ASSIGN(auto value, sight.secret(secret));
  if (value.ends_with('\n')) value.pop_back();
  constexpr std::string_view kWhite = " \t\v\f";
  const bool padded = !value.empty() && (kWhite.find(value.front()) != std::string_view::npos ||
                                         kWhite.find(value.back()) != std::string_view::npos);
  if (value.empty() || padded || value.ends_with('\\') ||
      value.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "secret " + shown(secret) +
                    " is no value for a line: it is empty, has several lines, or begins or ends "
                    "with white space or a backslash");
  return value;
}

void compare(const model::Resource& resource, const Settings& settings, std::string_view wanted,
             core::Observation& seen) {
  const auto& text = settings.whole->text;
  if (has_value(text, settings.place, wanted)) return;
  if (resource.find(Field::secret_ref) != nullptr)
    return add_drift(seen, "secretRef", kRedacted, kRedacted);
  auto observed = seen.sensitive ? std::string(kRedacted) : shown(values_of(settings));
  if (settings.place.is_continued()) observed += ", which goes on in the next line";
  add_drift(seen, "value", shown(wanted), std::move(observed));
}

Status check_editable(const Settings& settings) {
  if (!settings.whole)
    return fail(ErrorCode::not_found, settings.target.path +
                                          " does not exist: a Setting changes a file and never "
                                          "makes one. Nothing was changed");
  if (settings.whole->stat.links > 1)
    return fail(ErrorCode::conflict,
                "other names share " + settings.target.path + " (hard links). Nothing was changed");
  if (settings.place.is_continued())
    return fail(ErrorCode::unsupported,
                "the value goes on in the next line: change it by hand. Nothing was changed");
  return {};
}

// What is staged from is what will be replaced.
Status look_again(Bench& bench, Work& work, Settings& settings) {
  DATUM_TRY(look(bench.sight, work.action->target, settings));
  DATUM_TRY(check_editable(settings));
  if (!work.before || identity_of(settings.whole->stat) != identity_of(*work.before))
    return changed_meanwhile(work);
  return {};
}

}  // namespace

void SettingProvider::observe(Sight& sight, const model::Resource& resource,
                              core::Observation& seen) const {
  Settings settings;
  if (const auto looked = look(sight, resource.target, settings); !looked)
    return set_unknown(seen, looked.error().message());
  const bool there = !settings.place.lines.empty();
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
  const auto wanted = wanted_value(sight, resource);
  if (!wanted) return set_unknown(seen, wanted.error().message());
  if (!settings.whole) seen.warning = shown(settings.target.path) + " does not exist";
  if (there)
    compare(resource, settings, *wanted, seen);
  else
    add_state_drift(seen, false);
}

Status SettingProvider::stage(Bench& bench, Work& work) const {
  Settings settings;
  DATUM_TRY(look_again(bench, work, settings));
  const auto& text = settings.whole->text;
  if (work.removes())
    return stage_whole_text(bench, work, remove_setting(text, settings.place),
                            metadata_before(work));
  DATUM_ASSIGN(const auto wanted, wanted_value(bench.sight, *work.resource));
  const auto edited =
      write_setting(text, settings.place, settings.target, work.resource->text(Field::key), wanted);
  DATUM_TRY(stage_whole_text(bench, work, edited, metadata_before(work)));
  return validate_staged(bench, work, is_sensitive(*work.resource, settings));
}

Status SettingProvider::commit(Bench& bench, Work& work) const {
  return put_in_place(bench, work);
}

Status SettingProvider::remove(Bench& bench, Work& work) const {
  return put_in_place(bench, work);
}

// In the form in which ownership remembers it: keyed if it was, or is, sensitive.
Status look_at_leaving_setting(Sight& sight, const core::Owned& owned,
                               core::LeavingObservation& seen) {
  Settings settings;
  DATUM_TRY(look(sight, seen.target, settings));
  seen.found = settings.place.lines.empty() ? core::Found::absent : core::Found::present;
  if (settings.place.lines.empty()) return {};
  const auto plain = digest_of(settings);
  const auto keyed = sight.keyed(plain);
  const bool hidden = keyed == owned.left.content || denies_others(settings.whole->stat.mode);
  seen.content = hidden ? keyed : plain;
  return {};
}

}  // namespace datum::resource
