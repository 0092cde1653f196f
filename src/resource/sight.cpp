// Walk, hashing and the questions about Datum's own and about declared names.
#include "sight.hpp"

#include <algorithm>

#include "account/account_facts.hpp"
#include "datum/crypto/digest.hpp"
#include "show.hpp"

namespace datum::resource {

core::Found found_of(os::FileType type) {
  switch (type) {
    case os::FileType::regular:
      return core::Found::file;
    case os::FileType::directory:
      return core::Found::directory;
    case os::FileType::symlink:
      return core::Found::symlink;
    default:
      return core::Found::special;
  }
}

bool is_mostly_holes(const os::FileStat& stat) {
  return stat.size > stat.allocated && stat.size - stat.allocated > kMaxHoles;
}

core::Identity identity_of(const os::FileStat& stat) {
  return {stat.device, stat.inode, stat.size, stat.ctime_ns};
}

bool is_same_object(const os::FileStat& stat, core::Found found, const core::Identity& identity) {
  if (found_of(stat.type) != found) return false;
  if (found == core::Found::directory)
    return stat.device == identity.device && stat.inode == identity.inode;
  return identity_of(stat) == identity;
}

Sight::Sight(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared)
    : machine_(std::move(machine)),
      declared_(std::move(declared)),
      walker_(*machine_->files, *machine_->root, machine_->trusted_uid, machine_->max_open_folders),
      units_(machine_->units) {}

Result<const BootValues*> Sight::boot_values() {
  if (!boot_values_) {
    BootValues values;
    DATUM_TRY(values.read(*this));
    boot_values_ = std::move(values);
  }
  return &*boot_values_;
}

Result<const os::PackageBook*> Sight::packages() {
  if (machine_->packages == nullptr)
    return fail(ErrorCode::unavailable, "no package manager is asked here");
  if (!packages_) packages_ = machine_->packages->read();
  if (!*packages_) return fail(packages_->error());
  return &**packages_;
}

Result<const AccountBook*> Sight::accounts() {
  if (!accounts_) {
    AccountBook book;
    DATUM_TRY(book.read(*this));
    accounts_ = std::move(book);
  }
  return &*accounts_;
}

Result<std::string> Sight::secret(std::string_view name) const {
  const auto what = "secret " + shown(name) + " cannot be resolved";
  if (machine_->secrets == nullptr)
    return fail(ErrorCode::unavailable, what + ": no secret backend");
  auto found = machine_->secrets->find(name);
  if (!found) return fail(std::move(found).error().context(what));
  return found;
}

Result<std::string> Sight::password_hash(std::string_view name) const {
  DATUM_ASSIGN(auto text, secret(name));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (is_crypt_hash(text)) return text;
  return fail(ErrorCode::invalid_argument,
              "secret " + shown(name) + " is no crypt hash; nothing was changed");
}

MutableByteView Sight::buffer() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kReadSize);
  return {buffer_.get(), kReadSize};
}

Result<std::optional<os::FileStat>> Sight::find(const os::Location& where) const {
  auto stat = files().stat_at(where.folder->handle, where.name);
  if (stat) return std::optional<os::FileStat>(*stat);
  if (stat.error().code() == ErrorCode::not_found) return std::optional<os::FileStat>();
  return fail(std::move(stat).error());
}

Result<Sight::Hashed> Sight::hash(const os::Handle& file, std::uint64_t expected) {
  crypto::Sha256 sha;
  Hashed hashed;
  const auto room = buffer();
  // A size of 0 proves nothing: files of /proc and /sys have content all the same.
  while (hashed.size < expected || expected == 0) {
    if (machine_->stop.stopped()) return fail(ErrorCode::cancelled, "stopped while it was read");
    DATUM_ASSIGN(const auto count, files().read(file, room));
    if (count == 0) break;
    sha.update(room.first(count));
    hashed.size += count;
    if (expected == 0 && hashed.size > kMaxUnsized)
      return fail(ErrorCode::limit_exceeded, "more than 16 MiB of a file that says it is empty");
  }
  hashed.plain = sha.finish();
  return hashed;
}

os::Access Sight::read_access(const model::Target& target, const os::Location& where) {
  if (!where.folder->untrusted.empty()) return os::Access::read;
  if (expects_regular_) return os::Access::read_expected;
  const auto* left = declared_->find_owned(target, owned_hint_);
  return left != nullptr && left->found == core::Found::file ? os::Access::read_expected
                                                             : os::Access::read;
}

Digest Sight::keyed(const Digest& plain) const {
  if (machine_->sensitive_key.empty()) return {};
  return crypto::hmac_sha256(machine_->sensitive_key, plain.view());
}

static bool names_own(const Machine& machine, std::uint64_t device, std::uint64_t inode) {
  return std::any_of(
      machine.own_files.begin(), machine.own_files.end(),
      [&](const os::FileStat& own) { return own.device == device && own.inode == inode; });
}

bool Sight::is_own_elsewhere(std::uint64_t device, std::uint64_t inode, std::uint64_t mount,
                             bool has_other_names) const {
  if (!machine_->own_contents) return false;
  for (const auto& own : machine_->own_files) {
    // A mount id of 0 is not known: then any name of that file system may be another way.
    if (own.device != device || (own.mount == mount && mount != 0 && !has_other_names)) continue;
    return machine_->own_contents->contains(device, inode);
  }
  return false;
}

// The folder itself or one above it.
bool Sight::is_own_folder(const os::Folder& folder) {
  const auto key = std::make_pair(folder.device, folder.inode);
  if (const auto known = own_folders_.find(key); known != own_folders_.end()) return known->second;
  bool own = names_own(*machine_, folder.device, folder.inode) ||
             is_own_elsewhere(folder.device, folder.inode, folder.mount, false);
  if (!own && folder.real_path != "/") {
    const auto above = walker_.locate(folder.real_path);
    own = above && is_own_folder(*above->folder);
  }
  own_folders_.emplace(key, own);
  return own;
}

bool Sight::is_own(const os::Location& where, const std::optional<os::FileStat>& stat) {
  if (machine_->own_files.empty()) return false;
  if (stat && names_own(*machine_, stat->device, stat->inode)) return true;
  if (is_own_folder(*where.folder)) return true;
  return stat && is_own_elsewhere(stat->device, stat->inode, stat->mount,
                                  stat->type != os::FileType::directory && stat->links > 1);
}

bool Sight::is_declared(const os::Location& where, bool ancestors) {
  const auto& [entries, order] = declared_->paths();
  const std::string_view name = where.name;
  auto at = std::lower_bound(order.begin(), order.end(), name,
                             [&entries = entries](std::uint32_t place, std::string_view n) {
                               return entries[place].last_component() < n;
                             });
  for (; at != order.end() && entries[*at].last_component() == name; ++at) {
    if (!ancestors && !entries[*at].is_target) continue;
    const auto other = walker_.locate(entries[*at].path);
    if (!other) {
      const auto code = other.error().code();
      if (code == ErrorCode::not_found || code == ErrorCode::not_directory) continue;
      return true;
    }
    if (other->folder->device == where.folder->device &&
        other->folder->inode == where.folder->inode)
      return true;
  }
  return false;
}

}  // namespace datum::resource
