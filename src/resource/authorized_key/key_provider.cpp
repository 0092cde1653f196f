#include "key_provider.hpp"

#include "../path_facts.hpp"
#include "../show.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/model/spelled_target.hpp"
#include "key_lines.hpp"
#include "key_place.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr std::uint32_t kKeysWritableByOthers = 0022;
constexpr std::uint32_t kFolderMode = 0700;
constexpr std::uint32_t kFileMode = 0600;
constexpr std::uint32_t kPermissions = 0777;

// The user's file as it is; nothing of it where it is missing.
struct Keys {
  std::optional<KeysOwner> owner;  // nothing: no such user
  std::optional<os::Location> where;
  std::optional<os::FileStat> folder;
  std::optional<WholeText> whole;
  std::vector<KeyLine> lines;
};

// Errors are what makes it impossible to look, in words; nothing is followed and nothing touched.
Status look_at_keys(Sight& sight, std::string_view user, Keys& keys) {
  auto owner = find_keys_owner(sight, user);
  if (!owner && owner.error().code() == ErrorCode::not_found) return {};
  if (!owner) return fail(std::move(owner).error());
  keys.owner = std::move(*owner);
  auto where = sight.walker().locate(keys.owner->path);
  if (!where && is_missing(where.error())) return {};
  if (!where) return fail(std::move(where).error().context("not looked at and not touched"));
  DATUM_TRY(check_strict(sight, *where->folder));
  keys.where = std::move(*where);
  DATUM_ASSIGN(keys.folder, check_keys_folder(sight, *keys.where->folder, *keys.owner));
  DATUM_ASSIGN(const auto stat, sight.find(*keys.where));
  if (sight.is_own(*keys.where, stat))
    return fail(ErrorCode::refused, "it belongs to Datum itself; not touched");
  if (sight.is_declared(*keys.where, false))
    return fail(ErrorCode::refused, keys.owner->path + " is declared as a whole; not touched");
  if (!stat) return {};
  if (stat->type != os::FileType::regular)
    return fail(ErrorCode::refused, keys.owner->path + " is a " +
                                        std::string(to_string(stat->type)) +
                                        "; not followed and not touched");
  auto whole = read_keys(sight, *keys.where, *keys.owner);
  if (!whole) return fail(std::move(whole).error().context(keys.owner->path));
  keys.whole = std::move(*whole);
  return {};
}

Status look(Sight& sight, const model::Target& target, Keys& keys) {
  const auto key = model::find_key_target(target.name);
  if (!key) return fail(ErrorCode::corrupt, target.text() + " names no key");
  DATUM_TRY(look_at_keys(sight, key->user, keys));
  if (keys.whole) keys.lines = find_key_lines(keys.whole->text, key->fingerprint);
  return {};
}

Digest digest_of(const Keys& keys) {
  std::string all;
  for (const auto& line : keys.lines)
    all.append(keys.whole->text, line.begin, line.size).append("\n");
  return crypto::sha256(as_bytes(all));
}

std::optional<std::string_view> find_text(const model::Resource& resource, Field field) {
  if (resource.find(field) == nullptr) return std::nullopt;
  return resource.text(field);
}

std::string options_or_none(std::string_view text) {
  return text.empty() ? "none" : shown(text);
}

// Of several lines of one key sshd takes the first that lets in, so each of them has to be right.
void compare(core::Observation& seen, std::string_view field,
             const std::optional<std::string_view>& wanted, const Keys& keys,
             std::string_view KeyLine::*piece) {
  if (!wanted) return;
  for (const auto& line : keys.lines) {
    if (line.*piece == *wanted) continue;
    add_drift(seen, field, options_or_none(*wanted), options_or_none(line.*piece));
    return;
  }
}

void compare_place(Sight& sight, const Keys& keys, core::Observation& seen) {
  if (const auto& stat = keys.whole->stat; stat.uid != keys.owner->uid)
    add_drift(seen, "owner", shown(keys.owner->name),
              shown(sight.machine().accounts->user_name(stat.uid)));
  if (const auto mode = keys.whole->stat.mode; (mode & kKeysWritableByOthers) != 0)
    add_drift(seen, "mode", shown_mode(mode & ~kKeysWritableByOthers), shown_mode(mode));
  if (const auto mode = keys.folder->mode; (mode & kKeysWritableByOthers) != 0)
    add_drift(seen, "folder", shown_mode(mode & ~kKeysWritableByOthers), shown_mode(mode));
}

// sshd(8), StrictModes: it passes over the keys of a home that others can write.
void warn_of_home(Sight& sight, const Keys& keys, core::Observation& seen) {
  const auto where = sight.walker().locate(keys.owner->home);
  const auto stat = where ? sight.find(*where) : Result<std::optional<os::FileStat>>(std::nullopt);
  if (stat && *stat && ((*stat)->mode & kKeysWritableByOthers) != 0)
    seen.warning = "sshd takes no key while others can write " + shown(keys.owner->home) +
                   " (mode " + shown_mode((*stat)->mode) + ")";
}

// A folder of nobody else that is new, or that a crash left with root.
Status make_folder(Sight& sight, const KeysOwner& owner) {
  auto& files = sight.files();
  DATUM_ASSIGN(const auto where, sight.walker().locate(owner.folder));
  DATUM_TRY(check_strict(sight, *where.folder));
  auto made = files.make_directory(where.folder->handle, where.name, kFolderMode);
  if (!made && made.error().code() != ErrorCode::already_exists)
    return fail(std::move(made).error().context(owner.folder));
  return files.sync(where.folder->handle);
}

Status give_folder(Sight& sight, const os::Location& where, const KeysOwner& owner) {
  DATUM_ASSIGN(const auto stat, check_keys_folder(sight, *where.folder, owner));
  if (stat.uid == owner.uid) return {};
  DATUM_TRY(sight.files().set_owner(where.folder->handle, owner.uid, owner.gid));
  DATUM_TRY(sight.files().set_mode(where.folder->handle, kFolderMode));
  return sight.files().sync(where.folder->handle);
}

Metadata wanted_of(const Keys& keys) {
  Metadata wanted;
  wanted.uid = keys.owner->uid;
  wanted.gid = keys.owner->gid;
  wanted.mode = kFileMode;
  if (keys.whole) wanted.mode = keys.whole->stat.mode & ~kKeysWritableByOthers & kPermissions;
  wanted.owner_given = true;
  wanted.mode_given = true;
  return wanted;
}

// The file that is staged from is the one that is replaced.
Status look_again(Bench& bench, Work& work, Keys& keys) {
  DATUM_TRY(look(bench.sight, work.action->target, keys));
  if (!keys.owner) return fail(ErrorCode::not_found, "there is no such user any more");
  const bool same = keys.whole && work.before
                        ? identity_of(keys.whole->stat) == identity_of(*work.before)
                        : keys.whole.has_value() == work.before.has_value();
  if (!same) return changed_meanwhile(work);
  return {};
}

}  // namespace

void KeyProvider::observe(Sight& sight, const model::Resource& resource,
                          core::Observation& seen) const {
  Keys keys;
  if (const auto looked = look(sight, resource.target, keys); !looked)
    return set_unknown(seen, looked.error().message());
  seen.found = keys.lines.empty() ? core::Found::absent : core::Found::present;
  if (!keys.lines.empty()) seen.content = digest_of(keys);
  if (resource.absent() != keys.lines.empty()) add_state_drift(seen, resource.absent());
  if (keys.lines.empty() || resource.absent()) return;
  compare(seen, "options", find_text(resource, Field::options), keys, &KeyLine::options);
  compare(seen, "comment", find_text(resource, Field::comment), keys, &KeyLine::comment);
  compare_place(sight, keys, seen);
  warn_of_home(sight, keys, seen);
}

Result<os::Location> KeyProvider::locate(Sight& sight, std::string_view place,
                                         const Work& work) const {
  auto where = sight.walker().locate(place);
  if (work.removes()) return where;
  const auto key = model::find_key_target(work.action->target.name);
  if (!key) return fail(ErrorCode::corrupt, "it names no key");
  DATUM_ASSIGN(const auto owner, find_keys_owner(sight, key->user));
  if (!where) {
    if (where.error().code() != ErrorCode::not_found) return where;
    DATUM_TRY(make_folder(sight, owner));
    where = sight.walker().locate(place);
  }
  if (where) DATUM_TRY(give_folder(sight, *where, owner));
  return where;
}

Status KeyProvider::stage(Bench& bench, Work& work) const {
  Keys keys;
  DATUM_TRY(look_again(bench, work, keys));
  const std::string old = keys.whole ? keys.whole->text : std::string();
  if (work.removes())
    return stage_whole_text(bench, work, remove_key(old, keys.lines), wanted_of(keys));
  const auto& resource = *work.resource;
  const auto text = write_key(old, keys.lines,
                              {resource.text(Field::key), find_text(resource, Field::options),
                               find_text(resource, Field::comment)});
  const auto wanted = wanted_of(keys);
  const bool as_is = keys.whole && text == old && keys.whole->stat.uid == wanted.uid &&
                     keys.whole->stat.mode == wanted.mode;
  return as_is ? Status{} : stage_whole_text(bench, work, text, wanted);
}

Status KeyProvider::commit(Bench& bench, Work& work) const {
  if (work.has_change("folder")) {
    const auto& folder = work.where.folder->handle;
    DATUM_ASSIGN(const auto stat, bench.files().stat(folder));
    DATUM_TRY(bench.files().set_mode(folder, stat.mode & ~kKeysWritableByOthers));
    work.folder_changed = true;
    work.live = true;
  }
  return work.temp.empty() ? Status{} : put_in_place(bench, work);
}

Status KeyProvider::remove(Bench& bench, Work& work) const {
  return put_in_place(bench, work);
}

Result<std::string> read_keys_of(Sight& sight, std::string_view user) {
  Keys keys;
  DATUM_TRY(look_at_keys(sight, user, keys));
  if (!keys.owner) return fail(ErrorCode::not_found, "there is no such local user");
  return keys.whole ? std::move(keys.whole->text) : std::string();
}

Status look_at_leaving_key(Sight& sight, core::LeavingObservation& seen) {
  Keys keys;
  DATUM_TRY(look(sight, seen.target, keys));
  seen.found = keys.lines.empty() ? core::Found::absent : core::Found::present;
  if (!keys.lines.empty()) seen.content = digest_of(keys);
  return {};
}

}  // namespace datum::resource
