// Presence, type and metadata of things that have a path.
#include "path_facts.hpp"

#include "authorized_key/key_place.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/model/reserved.hpp"
#include "datum/model/spelled_target.hpp"
#include "show.hpp"

namespace datum::resource {

using model::TargetFamily;

namespace {

constexpr const char* kMountTable = "/etc/fstab";
constexpr std::string_view kTimezoneName = "/etc/timezone";

}  // namespace

SharedText place_of(const model::Target& target) {
  if (target.family == model::TargetFamily::path) return target.name;
  if (target.family == model::TargetFamily::sysctl) return model::sysctl_drop_in(target.name);
  if (target.family == model::TargetFamily::repository)
    return model::repository_files(target.name).apt_source;
  if (target.family == TargetFamily::hostname || target.family == TargetFamily::timezone)
    return target.name;
  if (target.family == TargetFamily::mount) return kMountTable;
  if (target.family == TargetFamily::timer) return model::timer_file(target.name);
  if (target.family == TargetFamily::setting) {
    const auto setting = model::find_setting_target(target.name);
    return setting ? SharedText(setting->path) : SharedText();
  }
  return {};
}

Result<SharedText> find_place(Sight& sight, const model::Target& target) {
  if (target.family != TargetFamily::authorized_key) return place_of(target);
  DATUM_ASSIGN(auto path, find_keys_file(sight, target));
  return SharedText(path);
}

bool shares_file(const model::Target& target) {
  return target.family == TargetFamily::authorized_key || target.family == TargetFamily::setting ||
         target.family == TargetFamily::mount;
}

std::vector<std::string> places_beside(const model::Target& target) {
  if (target.family == TargetFamily::timezone) return {std::string(kTimezoneName)};
  if (target.family != TargetFamily::repository) return {};
  auto files = model::repository_files(target.name);
  return {std::move(files.apt_key_asc), std::move(files.apt_key_gpg), std::move(files.apt_pin)};
}

void set_unknown(core::Observation& seen, std::string reason) {
  seen.condition = core::Condition::unknown;
  seen.found = core::Found::unseen;
  seen.drifts.clear();
  seen.purge.clear();
  seen.content = {};
  seen.content_size = 0;
  seen.traces.reset();
  seen.reason = std::move(reason);
}

void set_unknown(core::Observation& seen, std::string_view what, const Error& error) {
  set_unknown(seen, std::string(what) + ": " + error.message());
}

void add_drift(core::Observation& seen, std::string_view field, std::string desired,
               std::string observed) {
  seen.drifts.push_back({std::string(field), std::move(desired), std::move(observed)});
}

void add_state_drift(core::Observation& seen, bool declared_absent) {
  add_drift(seen, "state", declared_absent ? "absent" : "present",
            declared_absent ? "present" : "absent");
}

void add_type_drift(core::Observation& seen, os::FileType declared, os::FileType found) {
  add_drift(seen, "type", std::string(to_string(declared)), std::string(to_string(found)));
}

void add_obstacle(core::Observation& seen, core::Obstacle obstacle, std::string detail) {
  if (seen.obstacle != core::Obstacle::none) return;
  seen.obstacle = obstacle;
  seen.obstacle_detail = std::move(detail);
}

void add_immutable_obstacle(const os::FileStat& stat, core::Observation& seen) {
  if (stat.immutable && !seen.drifts.empty())
    add_obstacle(seen, core::Obstacle::immutable, "chattr +i or +a");
}

std::string describe_untrusted(const os::Folder& folder) {
  if (folder.untrusted.empty()) return {};
  return "others than root can change what lies here: " + folder.untrusted;
}

Status check_strict(const Sight& sight, const os::Folder& folder) {
  const auto& machine = sight.machine();
  if (!machine.strict_paths || machine.trusted_uid != 0 || folder.untrusted.empty()) return {};
  return fail(ErrorCode::refused,
              "trust.strictPaths: not looked at and not touched; " + describe_untrusted(folder));
}

// What is on the way and is no folder: "/srv/data (a link to /mnt/data)" that leads to none, or
// "/srv/data (a socket, no folder)". Empty: nothing is.
static std::string find_in_the_way(Sight& sight, const SharedText& path) {
  for (auto slash = path.view().find('/', 1); slash != std::string_view::npos;
       slash = path.view().find('/', slash + 1)) {
    const std::string above(path.view().substr(0, slash));
    const auto where = sight.walker().locate(above);
    const auto stat = where ? sight.find(*where) : Result<std::optional<os::FileStat>>();
    if (!where || !stat || !*stat) return {};
    const auto type = (*stat)->type;
    if (type != os::FileType::symlink && type != os::FileType::directory)
      return above + " (a " + std::string(to_string(type)) + std::string(core::kNoFolder);
    if (type != os::FileType::symlink || sight.walker().locate(above + "/x")) continue;
    const auto target = sight.files().read_symlink(where->folder->handle, where->name);
    return above + " (a link to " + (target ? shown(*target) : "what cannot be read") + ")";
  }
  return {};
}

std::optional<os::Location> reach(Sight& sight, const model::Resource& resource,
                                  core::Observation& seen) {
  const auto& path = resource.target.name;
  auto where = sight.walker().locate(path);
  if (where) {
    if (auto refused = check_strict(sight, *where->folder); !refused) {
      set_unknown(seen, refused.error().message());
      return std::nullopt;
    }
    if (sight.machine().trusted_uid == 0) seen.warning = describe_untrusted(*where->folder);
    seen.folder_device = where->folder->device;
    seen.folder_inode = where->folder->inode;
    return std::move(*where);
  }
  const auto code = where.error().code();
  if (code != ErrorCode::not_found && code != ErrorCode::not_directory) {
    set_unknown(seen, "not looked at and not touched", where.error());
    return std::nullopt;
  }
  seen.found = core::Found::absent;
  if (resource.absent()) return std::nullopt;
  seen.missing_parent = find_in_the_way(sight, path);
  const auto slash = path.rfind('/');
  if (seen.missing_parent.empty()) seen.missing_parent = path.substr(0, slash == 0 ? 1 : slash);
  add_state_drift(seen, false);
  return std::nullopt;
}

core::Traces traces_of(const os::FileStat& stat) {
  return {{stat.mtime_ns}, {stat.ctime_ns}, stat.uid, stat.gid, stat.mode};
}

bool accept(Sight& sight, const os::Location& where, const std::optional<os::FileStat>& stat,
            core::Observation& seen) {
  if (sight.is_own(where, stat)) {
    set_unknown(seen, "refused: it belongs to Datum itself; not touched");
    return false;
  }
  seen.found = stat ? found_of(stat->type) : core::Found::absent;
  if (!stat) return true;
  seen.identity = identity_of(*stat);
  seen.traces = traces_of(*stat);
  return true;
}

std::optional<OwnPlace> look_at_own_place(Sight& sight, std::string_view path,
                                          core::Observation& seen) {
  OwnPlace place;
  auto where = sight.walker().locate(path);
  if (!where) {
    const auto code = where.error().code();
    const bool missing = code == ErrorCode::not_found || code == ErrorCode::not_directory;
    if (missing) seen.found = core::Found::absent;
    if (missing) return place;
    set_unknown(seen, "not looked at and not touched", where.error());
    return std::nullopt;
  }
  const auto stat = sight.find(*where);
  if (!stat) {
    set_unknown(seen, "cannot be looked at", stat.error());
    return std::nullopt;
  }
  if (!accept(sight, *where, *stat, seen)) return std::nullopt;
  place.where = std::move(*where);
  place.stat = *stat;
  return place;
}

namespace {

using FindId = Result<std::optional<std::uint32_t>> (os::Accounts::*)(std::string_view);
using NameId = std::string (os::Accounts::*)(std::uint32_t);

struct OwnerField {
  model::Field field;
  std::string_view name;
  FindId find;
  NameId name_of;
};
constexpr OwnerField kOwner{model::Field::owner, "owner", &os::Accounts::find_uid,
                            &os::Accounts::user_name};
constexpr OwnerField kGroup{model::Field::group, "group", &os::Accounts::find_gid,
                            &os::Accounts::group_name};

// False: nobody can tell whose it is to be, and nothing is said of it.
bool compare_owner(os::Accounts& accounts, const OwnerField& of, const model::Resource& resource,
                   std::uint32_t now, core::Observation& seen) {
  const auto wanted = resource.text(of.field);
  if (wanted.empty()) return true;
  const auto number = (accounts.*of.find)(wanted);
  if (!number) {
    set_unknown(seen, "its " + std::string(of.name) + " cannot be looked up", number.error());
    return false;
  }
  if (*number != now) add_drift(seen, of.name, shown(wanted), shown((accounts.*of.name_of)(now)));
  return true;
}

}  // namespace

void add_metadata_drifts(Sight& sight, const model::Resource& resource, const os::FileStat& stat,
                         core::Observation& seen) {
  auto& accounts = *sight.machine().accounts;
  if (!compare_owner(accounts, kOwner, resource, stat.uid, seen)) return;
  if (!compare_owner(accounts, kGroup, resource, stat.gid, seen)) return;
  const auto mode = resource.text(model::Field::mode);
  if (!mode.empty() && model::mode_bits(mode) != stat.mode)
    add_drift(seen, "mode", std::string(mode), shown_mode(stat.mode));
}

static std::string names_of(const std::vector<os::Attribute>& attributes) {
  std::string names;
  for (const auto& one : attributes) names += (names.empty() ? "" : " ") + one.name;
  return names.empty() ? "none" : shown(names);
}

static bool are_equal(const std::vector<os::Attribute>& a, const std::vector<os::Attribute>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.value == y.value;
  });
}

void add_attributes_drift(const Sight& sight, const os::Handle& object, core::Observation& seen) {
  const auto* former = sight.declared().find_former(seen.target);
  if (former == nullptr) return;
  auto all = sight.files().read_attributes(object);
  if (!all) return set_unknown(seen, "its attributes cannot be read", all.error());
  const auto now = kept_attributes(std::move(*all));
  if (!are_equal(now, former->attributes))
    add_drift(seen, core::kAttributesField, names_of(former->attributes), names_of(now));
}

Result<std::uint32_t> count_entries(const Sight& sight, const os::Location& where) {
  auto& files = sight.files();
  DATUM_ASSIGN(const auto folder,
               files.open_directory(where.folder->handle, where.name, os::Follow::no));
  DATUM_ASSIGN(const auto entries, files.list(folder));
  return static_cast<std::uint32_t>(entries.size());
}

Result<Digest> hash_link(const Sight& sight, const os::Location& where) {
  DATUM_ASSIGN(const auto text, sight.files().read_symlink(where.folder->handle, where.name));
  return crypto::sha256(as_bytes(text));
}

void record_owned_content(Sight& sight, const os::Location& where, const os::FileStat& stat,
                          core::Observation& seen) {
  if (sight.declared().find_owned(seen.target) == nullptr) return;
  if (stat.type == os::FileType::symlink) {
    if (const auto digest = hash_link(sight, where)) seen.content = *digest;
    return;
  }
  if (stat.type == os::FileType::directory) {
    if (const auto names = count_entries(sight, where)) seen.entries = *names;
    if (seen.entries > 0)
      add_obstacle(seen, core::Obstacle::not_empty, "the folder in its place is not empty");
    return;
  }
  if (stat.type != os::FileType::regular) return;
  auto opened =
      sight.files().open_file_with_stat(where.folder->handle, where.name, os::Access::read);
  if (!opened || is_mostly_holes(opened->stat)) return;
  const auto hashed = sight.hash(opened->handle, opened->stat.size);
  if (!hashed) return;
  seen.sensitive = seen.sensitive || (opened->stat.mode & 0004U) == 0;
  seen.content = seen.sensitive ? sight.keyed(hashed->plain) : hashed->plain;
  if (!seen.sensitive) seen.content_size = hashed->size;
}

bool is_missing(const Error& error) {
  return error.code() == ErrorCode::not_found || error.code() == ErrorCode::not_directory;
}

bool removes(core::ActionKind kind) {
  return kind == core::ActionKind::remove || kind == core::ActionKind::purge ||
         kind == core::ActionKind::leave;
}

}  // namespace datum::resource
