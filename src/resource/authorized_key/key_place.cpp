#include "key_place.hpp"

#include "../show.hpp"
#include "datum/model/spelled_target.hpp"

namespace datum::resource {

namespace {

constexpr std::uint32_t kReadableByOthers = 0004;

std::string whose(const Sight& sight, std::uint32_t uid) {
  return "it belongs to " + shown(sight.machine().accounts->user_name(uid));
}

Status check_keys_file(const Sight& sight, const os::FileStat& stat, const KeysOwner& owner) {
  if (stat.links != 1) return fail(ErrorCode::refused, "it has other names too; not touched");
  const bool open_to_all =
      stat.uid == sight.machine().trusted_uid && (stat.mode & kReadableByOthers) != 0;
  if (stat.uid == owner.uid || open_to_all) return {};
  return fail(ErrorCode::refused,
              whose(sight, stat.uid) + ", not to " + shown(owner.name) + "; not touched");
}

}  // namespace

Result<KeysOwner> find_keys_owner(Sight& sight, std::string_view user) {
  DATUM_ASSIGN(const auto* book, sight.accounts());
  const auto* entry = book->find_user(user);
  if (entry == nullptr)
    return fail(ErrorCode::not_found, "no user " + shown(user) + " in /etc/passwd");
  if (!model::check_path(entry->home) || entry->home == "/")
    return fail(ErrorCode::refused, "the home of " + shown(user) + ", " + shown(entry->home) +
                                        ", is no place for keys");
  KeysOwner owner{entry->name, entry->uid, entry->gid, entry->home, {}, {}};
  owner.folder = owner.home + "/.ssh";
  owner.path = owner.folder + "/authorized_keys";
  return owner;
}

Result<std::string> find_keys_file(Sight& sight, const model::Target& target) {
  const auto key = model::find_key_target(target.name);
  if (!key) return fail(ErrorCode::corrupt, target.text() + " names no key");
  DATUM_ASSIGN(auto owner, find_keys_owner(sight, key->user));
  return std::move(owner.path);
}

Result<WholeText> read_keys(Sight& sight, const os::Location& where, const KeysOwner& owner) {
  DATUM_ASSIGN(auto whole, read_whole_text(sight, where));
  DATUM_TRY(check_keys_file(sight, whole.stat, owner));
  return whole;
}

Result<os::FileStat> check_keys_folder(Sight& sight, const os::Folder& folder,
                                       const KeysOwner& owner) {
  DATUM_ASSIGN(const auto stat, sight.files().stat(folder.handle));
  if (stat.uid == owner.uid) return stat;
  if (stat.uid == sight.machine().trusted_uid) {
    DATUM_ASSIGN(const auto entries, sight.files().list(folder.handle));
    if (entries.empty()) return stat;
  }
  return fail(ErrorCode::refused, shown(owner.folder) + ": " + whose(sight, stat.uid) +
                                      ", not to " + shown(owner.name) + "; not touched");
}

}  // namespace datum::resource
