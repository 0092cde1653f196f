// The table of resource types. Everything that the product knows about a field's spelling, kind and
// meaning stands here once.
#include "datum/model/descriptor.hpp"

#include <array>

#include "datum/base/assert.hpp"

namespace datum::model {
namespace {

using Kind = FieldKind;
using Names = std::string_view;

constexpr std::array<Names, 2> kPresence{"present", "absent"};
constexpr std::array<Names, 2> kRunning{"running", "stopped"};
constexpr std::array<Names, 2> kReplace{"rename", "inPlace"};
constexpr std::array<Names, 3> kHardLinks{"fail", "break", "inPlace"};
constexpr std::array<Names, 3> kOnConflict{"adopt", "fail", "backup"};
constexpr std::array<Names, 7> kValidators{"sshd", "sudoers", "nginx", "systemd-unit",
                                           "json", "yaml",    "none"};
constexpr std::array<Names, 2> kConffiles{"keep", "replace"};
constexpr std::array<Names, 2> kGroupsMode{"exact", "include"};
constexpr std::array<Names, 4> kFormats{"ini", "key = value", "key value", "augeas"};
constexpr std::array<Names, 4> kMountStates{"mounted", "present", "unmounted", "absent"};
constexpr std::array<Names, 4> kContentKeys{"content", "source", "template", "secretRef"};

// Shorthands for the rows below: what is compared with the machine, and what only directs Datum.
constexpr FieldDescriptor observed(Field id, Names name, Kind kind, Names summary,
                                   std::uint32_t max_length = kMaxText) {
  return {id, name, kind, false, true, {}, max_length, summary};
}
constexpr FieldDescriptor required(FieldDescriptor field) {
  field.required = true;
  return field;
}
constexpr FieldDescriptor directs(FieldDescriptor field) {
  field.observed = false;
  return field;
}
constexpr FieldDescriptor choice(Field id, Names name, std::span<const Names> choices,
                                 Names summary) {
  return {id, name, Kind::choice, false, true, choices, kMaxText, summary};
}

constexpr auto kPath = required(observed(Field::path, "path", Kind::path,
                                         "Absolute, normalised path of the target.", kMaxPath));
constexpr auto kOwner =
    observed(Field::owner, "owner", Kind::text, "Owning user: a name, or a numeric id in quotes.");
constexpr auto kGroup =
    observed(Field::group, "group", Kind::text, "Owning group: a name, or a numeric id in quotes.");
constexpr auto kMode =
    observed(Field::mode, "mode", Kind::mode, "Permission bits: 3 or 4 octal digits in quotes.");
constexpr auto kPrivileged = directs(
    observed(Field::allow_privileged, "allowPrivileged", Kind::boolean,
             "Allows setuid and setgid, and modes writable by everybody in system folders."));
constexpr auto kState = choice(Field::state, "state", kPresence,
                               "Whether the target exists; present where it is not given.");
constexpr auto kSystem = directs(observed(Field::system, "system", Kind::boolean,
                                          "Takes the number from the system range at creation."));

constexpr std::array kFile{
    kPath,
    observed(Field::content, "content", Kind::content,
             "The whole content; one of content, source, template and secretRef.",
             kMaxInlineDocument),
    kOwner,
    kGroup,
    kMode,
    kState,
    kPrivileged,
    directs(observed(Field::sensitive, "sensitive", Kind::boolean,
                     "Content is never shown, journalled or sent upstream.")),
    directs(choice(Field::replace, "replace", kReplace,
                   "How new content goes live: rename, or written into the same file.")),
    directs(choice(Field::hard_links, "hardLinks", kHardLinks,
                   "What happens to a file that has other names.")),
    directs(choice(Field::on_conflict, "onConflict", kOnConflict,
                   "An unmanaged file with other content at first contact.")),
    directs(choice(Field::validate, "validate", kValidators,
                   "The validator that must accept the file before it goes live.")),
};

constexpr std::array kDirectory{
    kPath,
    kOwner,
    kGroup,
    kMode,
    kState,
    kPrivileged,
    directs(observed(Field::purge, "purge", Kind::boolean,
                     "Removes entries, one level deep, that no resource declares.")),
    directs(observed(Field::purge_directories, "purgeDirectories", Kind::boolean,
                     "Lets purge remove empty folders too.")),
};

constexpr std::array kSymlink{
    kPath,
    required(observed(Field::target, "target", Kind::text,
                      "What the link points to, taken literally.", kMaxPath)),
    kState,
};

constexpr std::array kPackage{
    required(kState),
    observed(Field::version, "version", Kind::text,
             "The exact version in the provider's own syntax, epoch included."),
    directs(observed(Field::package, "package", Kind::text,
                     "The package's name where it is not the document's.")),
    observed(Field::pinned, "pinned", Kind::boolean, "The package manager's hold."),
    directs(choice(Field::conffiles, "conffiles", kConffiles,
                   "Whose configuration files win in an upgrade.")),
};

constexpr std::array kRepository{
    required(directs(observed(Field::id, "id", Kind::text, "The repository's id on the machine."))),
    required(observed(Field::url, "url", Kind::text, "Where the repository is.", kMaxLongText)),
    observed(Field::suite, "suite", Kind::text, "The suite (apt)."),
    observed(Field::components, "components", Kind::text_list, "The components (apt)."),
    observed(Field::signing_key, "signingKey", Kind::fleet_file,
             "The public key that signs the repository: a file of the fleet.", kMaxPath),
    observed(Field::is_unsigned, "unsigned", Kind::boolean,
             "Accepts a repository that nobody signs."),
    observed(Field::enabled, "enabled", Kind::boolean, "Whether the repository is used."),
    observed(Field::priority, "priority", Kind::integer, "The provider's own priority."),
    kState,
};

constexpr std::array kService{
    required(choice(Field::state, "state", kRunning, "Whether the unit runs.")),
    required(
        observed(Field::enabled, "enabled", Kind::boolean, "Whether the unit is started at boot.")),
    directs(observed(Field::unit, "unit", Kind::text,
                     "The unit where it is not the document's name; .service may be left out.")),
    observed(Field::masked, "masked", Kind::boolean, "Whether the unit is masked."),
    directs(observed(Field::settle, "settle", Kind::duration,
                     "How long a started unit is watched for dying at once; 2s where not given.")),
};

constexpr std::array kUser{
    required(kState),
    directs(observed(Field::user, "user", Kind::text,
                     "The account's name where it is not the document's.")),
    observed(Field::uid, "uid", Kind::integer, "The number; a difference is never corrected."),
    observed(Field::primary_group, "primaryGroup", Kind::text, "The primary group's name."),
    observed(Field::groups, "groups", Kind::text_list, "The supplementary groups, as a set."),
    observed(Field::home, "home", Kind::path, "The home folder; never created or removed by it.",
             kMaxPath),
    observed(Field::shell, "shell", Kind::path, "The login shell.", kMaxPath),
    observed(Field::comment, "comment", Kind::text, "The comment field."),
    kSystem,
    observed(Field::password_ref, "passwordRef", Kind::secret,
             "The secret that holds the password's crypt hash."),
    observed(Field::locked, "locked", Kind::boolean, "Whether the password is locked."),
    directs(choice(Field::groups_mode, "groupsMode", kGroupsMode,
                   "exact: groups is the whole set; include: at least those.")),
};

constexpr std::array kGroupType{
    required(kState),
    directs(observed(Field::group_name, "group", Kind::text,
                     "The group's name where it is not the document's.")),
    observed(Field::gid, "gid", Kind::integer, "The number; a difference is never corrected."),
    kSystem,
};

constexpr std::array kSysctl{
    required(observed(Field::value, "value", Kind::text,
                      "The value in quotes; compared after collapsing white space.", kMaxLongText)),
    kState,
    directs(observed(Field::key, "key", Kind::text,
                     "The kernel parameter where it is not the document's name.")),
};

constexpr std::array kHostname{
    required(observed(Field::hostname, "hostname", Kind::text,
                      "The machine's name, now and after the next boot.")),
};

constexpr std::array kTimezone{
    required(observed(Field::zone, "zone", Kind::text,
                      "The zone's name below /usr/share/zoneinfo: Europe/Berlin.")),
};

constexpr std::array kAuthorizedKey{
    required(directs(observed(Field::user, "user", Kind::text, "The account that the key opens."))),
    required(
        directs(observed(Field::key, "key", Kind::text,
                         "The public key: its type and its base64, without a comment.", kMaxKey))),
    observed(Field::options, "options", Kind::text,
             "The options in front of the key, as authorized_keys has them.", kMaxLongText),
    observed(Field::comment, "comment", Kind::text, "The comment behind the key."),
    kState,
};

constexpr std::array kSetting{
    required(directs(observed(Field::path, "path", Kind::path,
                              "The file that has the value; it is never created.", kMaxPath))),
    required(directs(choice(Field::format, "format", kFormats, "How the file is read."))),
    directs(observed(Field::lens, "lens", Kind::text,
                     "The lens of Augeas (augeas), by its module: Json, Hosts, Sshd.")),
    directs(observed(Field::section, "section", Kind::text,
                     "The section (ini); none: above the first one.")),
    required(directs(observed(Field::key, "key", Kind::text,
                              "The value's name in the file; augeas: its path in the tree."))),
    observed(Field::value, "value", Kind::text, "The value in quotes, as the file has it.",
             kMaxLongText),
    observed(Field::secret_ref, "secretRef", Kind::secret,
             "The secret that is the value; it is never shown."),
    kState,
    directs(choice(Field::validate, "validate", kValidators,
                   "The validator that must accept the file before it goes live.")),
};

constexpr std::array kMount{
    required(directs(
        observed(Field::path, "path", Kind::path, "Where it is mounted: a folder.", kMaxPath))),
    required(observed(Field::device, "device", Kind::text,
                      "What is mounted, as fstab has it: a device, UUID=…, LABEL=…, HOST:/PATH.",
                      kMaxPath)),
    required(observed(Field::fs_type, "fsType", Kind::text, "The file system's type.")),
    observed(Field::options, "options", Kind::text, "The options, joined by commas.", kMaxLongText),
    required(choice(Field::state, "state", kMountStates,
                    "In fstab and mounted, in fstab only, in fstab and not mounted, or neither.")),
};

constexpr std::array kTimer{
    directs(observed(Field::timer, "timer", Kind::text,
                     "The timer's unit where it is not the document's name.")),
    observed(Field::unit, "unit", Kind::text,
             "The unit that it starts; the service of the timer's own name where not given."),
    required(observed(Field::on_calendar, "onCalendar", Kind::text_list,
                      "When it elapses, as systemd.time(7) has it.")),
    observed(Field::persistent, "persistent", Kind::boolean,
             "Whether a time that passed while the machine was off is made up for."),
    observed(Field::randomized_delay, "randomizedDelay", Kind::duration,
             "The longest random delay."),
    kState,
};

constexpr std::array<TypeDescriptor, 15> kTypes{{
    {ResourceType::file, "File", "A regular file: content, owner and mode.", kFile, Field::path,
     false, true},
    {ResourceType::directory, "Directory", "A folder: owner and mode, and what may lie in it.",
     kDirectory, Field::path, false, true},
    {ResourceType::symlink, "Symlink", "A symbolic link.", kSymlink, Field::path, false, true},
    {ResourceType::package, "Package", "A package of the system's package manager.", kPackage,
     Field::package, true, false},
    {ResourceType::repository, "Repository", "A source of packages.", kRepository, Field::id, false,
     false},
    {ResourceType::service, "Service", "A unit of the service manager.", kService, Field::unit,
     true, false},
    {ResourceType::user, "User", "A local account.", kUser, Field::user, true, false},
    {ResourceType::group, "Group", "A local group.", kGroupType, Field::group_name, true, false},
    {ResourceType::sysctl, "Sysctl", "A kernel parameter, now and after the next boot.", kSysctl,
     Field::key, true, true},
    {ResourceType::hostname, "Hostname", "The machine's name.", kHostname, Field::hostname, false,
     false},
    {ResourceType::timezone, "Timezone", "The machine's time zone.", kTimezone, Field::zone, false,
     false},
    {ResourceType::authorized_key, "AuthorizedKey", "One key that may log in as a user.",
     kAuthorizedKey, Field::key, false, false},
    {ResourceType::setting, "Setting", "One value in a structured file.", kSetting, Field::key,
     false, false},
    {ResourceType::mount, "Mount", "A line of fstab, and whether it is mounted.", kMount,
     Field::path, false, false},
    {ResourceType::timer, "Timer", "A timer of the service manager that starts a unit.", kTimer,
     Field::timer, true, false},
}};

}  // namespace

std::span<const TypeDescriptor> all_types() {
  return kTypes;
}

const TypeDescriptor& describe(ResourceType type) {
  const auto index = static_cast<std::size_t>(type);
  DATUM_ASSERT(index >= 1 && index <= kTypes.size());
  return kTypes[index - 1];
}

const FieldDescriptor* find_field(const TypeDescriptor& type, std::string_view name) {
  for (const auto& field : type.fields)
    if (field.name == name) return &field;
  return nullptr;
}

const FieldDescriptor* find_field(const TypeDescriptor& type, Field field) {
  for (const auto& each : type.fields)
    if (each.id == field) return &each;
  return nullptr;
}

const FieldDescriptor& describe(ResourceType type, Field field) {
  const auto* found = find_field(describe(type), field);
  DATUM_ASSERT(found != nullptr);
  return *found;
}

std::span<const std::string_view> content_keys() {
  return kContentKeys;
}

}  // namespace datum::model
