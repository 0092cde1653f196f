// Resolving and applying metadata.
#include "metadata.hpp"

#include <algorithm>

#include "file/file_facts.hpp"
#include "show.hpp"

namespace datum::resource {

namespace {

using model::Field;

constexpr std::uint32_t kUnchanged = UINT32_MAX;
constexpr std::uint32_t kSetUidOrGid = 06000;
constexpr std::string_view kAcl = "system.posix_acl_access";

Status resolve_owner(const Sight& sight, const model::Resource& resource, Metadata& wanted) {
  auto& accounts = *sight.machine().accounts;
  if (const auto owner = resource.text(Field::owner); !owner.empty()) {
    DATUM_ASSIGN(const auto uid, accounts.find_uid(owner));
    if (!uid) return fail(ErrorCode::not_found, "no user " + shown(owner) + " on this machine");
    wanted.uid = *uid;
    wanted.owner_given = true;
  }
  if (const auto group = resource.text(Field::group); !group.empty()) {
    DATUM_ASSIGN(const auto gid, accounts.find_gid(group));
    if (!gid) return fail(ErrorCode::not_found, "no group " + shown(group) + " on this machine");
    wanted.gid = *gid;
    wanted.owner_given = true;
  }
  return {};
}

// What says something about the name goes with it: labels, ACL, what users and root's own programs
// wrote there. What the kernel says about these very bytes (capabilities, signatures) only goes
// with the bytes; what an overlay notes of this very inode never does.
bool carries(std::string_view name, bool same_content) {
  if (name.starts_with("trusted.")) return !name.starts_with("trusted.overlay.");
  return name == "security.selinux" || name.starts_with("security.SMACK64") || name == kAcl ||
         name.starts_with("user.") || (name == kCapability && same_content);
}

bool has_attribute(const std::vector<os::Attribute>& attributes, std::string_view name) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const auto& one) { return one.name == name; });
}

}  // namespace

Result<Metadata> wanted_metadata(const Sight& sight, const Work& work, bool inherits,
                                 std::uint32_t default_mode) {
  Metadata wanted;
  wanted.uid = kUnchanged;
  wanted.gid = kUnchanged;
  wanted.mode = default_mode;
  if (inherits) {
    wanted.uid = work.before->uid;
    wanted.gid = work.before->gid;
    wanted.mode = work.before->mode;
    wanted.owner_given = true;
    wanted.mode_given = true;
  }
  DATUM_TRY(resolve_owner(sight, *work.resource, wanted));
  if (const auto mode = work.resource->text(Field::mode); !mode.empty()) {
    wanted.mode = model::mode_bits(mode);
    wanted.mode_declared = true;
    wanted.mode_given = true;
  } else if (inherits && (wanted.uid != work.before->uid || wanted.gid != work.before->gid)) {
    // Nobody declared that the new owner shall lend his identity.
    if (work.before->type == os::FileType::regular) wanted.mode &= ~kSetUidOrGid;
  }
  return wanted;
}

Status apply_metadata(os::Files& files, const os::Handle& handle, const os::FileStat& now,
                      const Metadata& wanted) {
  const bool new_uid = wanted.uid != kUnchanged && wanted.uid != now.uid;
  const bool new_gid = wanted.gid != kUnchanged && wanted.gid != now.gid;
  if (new_uid || new_gid)
    DATUM_TRY(files.set_owner(handle, new_uid ? wanted.uid : kUnchanged,
                              new_gid ? wanted.gid : kUnchanged));
  const bool may_have_lost_bits = (new_uid || new_gid) && (wanted.mode & kSetUidOrGid) != 0;
  if (wanted.mode == now.mode && !may_have_lost_bits) return {};
  auto changed = files.set_mode(handle, wanted.mode);
  // A new thing without a declared mode takes what a file system without modes gives it.
  if (!changed && !wanted.mode_given &&
      (changed.error().code() == ErrorCode::permission_denied ||
       changed.error().code() == ErrorCode::unsupported))
    return {};
  return changed;
}

Status carry_attributes(os::Files& files, const os::Handle& from, const os::Handle& staged,
                        bool same_content, const Metadata& wanted) {
  DATUM_ASSIGN(const auto attributes, files.read_attributes(from));
  DATUM_ASSIGN(const auto fresh, files.read_attributes(staged));
  bool acl = false;
  // A default ACL of the folder went into the new file; the old one had none.
  if (has_attribute(fresh, kAcl) && !has_attribute(attributes, kAcl)) {
    DATUM_TRY(files.remove_attribute(staged, kAcl));
    acl = true;
  }
  for (const auto& attribute : attributes) {
    if (!carries(attribute.name, same_content)) continue;
    const auto there = std::find_if(fresh.begin(), fresh.end(), [&](const auto& one) {
      return one.name == attribute.name && one.value == attribute.value;
    });
    if (there != fresh.end()) continue;
    DATUM_TRY(files.set_attribute(staged, attribute));
    acl = acl || attribute.name == kAcl;
  }
  if (!acl) return {};
  return files.set_mode(staged, wanted.mode);
}

namespace {

// A label is only ever replaced.
bool may_be_removed(std::string_view name) {
  return name != "security.selinux" && !name.starts_with("security.SMACK64");
}

bool has_same(const std::vector<os::Attribute>& attributes, const os::Attribute& wanted) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const auto& one) {
    return one.name == wanted.name && one.value == wanted.value;
  });
}

}  // namespace

Status restore_attributes(Bench& bench, const Work& work, const os::Handle& handle,
                          const Metadata& wanted) {
  const auto* former = bench.sight.declared().find_former(work.action->target);
  if (former == nullptr) return {};
  auto& files = bench.files();
  DATUM_ASSIGN(auto all, files.read_attributes(handle));
  const auto now = kept_attributes(std::move(all));
  bool acl = false;
  for (const auto& one : now) {
    if (has_attribute(former->attributes, one.name) || !may_be_removed(one.name)) continue;
    DATUM_TRY(files.remove_attribute(handle, one.name));
    acl = acl || one.name == kAcl;
  }
  for (const auto& one : former->attributes) {
    if (has_same(now, one)) continue;
    DATUM_TRY(files.set_attribute(handle, one));
    acl = acl || one.name == kAcl;
  }
  if (!acl) return {};
  return files.set_mode(handle, wanted.mode);
}

}  // namespace datum::resource
