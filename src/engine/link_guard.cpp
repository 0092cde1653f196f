#include "datum/engine/link_guard.hpp"

#include <algorithm>
#include <cstring>

#include "datum/engine/declaration_files.hpp"
#include "datum/engine/identity.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

constexpr std::string_view kGuardFile = "guard";
constexpr std::size_t kGuardWords = 5;
constexpr std::size_t kGuardSize = Id128::kSize + kGuardWords * sizeof(std::uint64_t);

}  // namespace

bool is_of(const LinkGuard& guard, const core::DeclarationId& id) {
  return guard.mesh == id.mesh && guard.epoch == id.epoch && guard.number == id.number;
}

Result<std::optional<LinkGuard>> read_link_guard(os::Files& files,
                                                 const std::string& store_folder) {
  DATUM_ASSIGN(const auto store, files.open_root(store_folder));
  const auto folder = files.open_directory(store, kIdentityFolder, os::Follow::no);
  if (!folder && folder.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!folder) return fail(folder.error());
  const auto bytes = read_sealed(files, *folder, kGuardFile, kGuardSize);
  if (!bytes && bytes.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!bytes) return fail(bytes.error());
  if (bytes->size() != kGuardSize) return fail(ErrorCode::corrupt, "guard has another size");
  const auto word = [&](std::size_t at) {
    return load_le<std::uint64_t>(bytes->data() + Id128::kSize + at * sizeof(std::uint64_t));
  };
  LinkGuard guard{{}, word(0), word(1), word(2), static_cast<std::int64_t>(word(3)), {}};
  std::memcpy(guard.mesh.bytes.data(), bytes->data(), Id128::kSize);
  if (guard.within_ns <= 0 || word(4) < static_cast<std::uint64_t>(GuardStand::waiting) ||
      word(4) > static_cast<std::uint64_t>(GuardStand::reverted))
    return fail(ErrorCode::corrupt, "guard is of another version");
  guard.stand = static_cast<GuardStand>(word(4));
  return guard;
}

Status write_link_guard(os::Files& files, const std::string& store_folder, const LinkGuard& guard) {
  DATUM_ASSIGN(const auto folder, make_store_folder(files, store_folder, kIdentityFolder));
  const std::uint64_t words[kGuardWords] = {guard.epoch, guard.number, guard.since,
                                            static_cast<std::uint64_t>(guard.within_ns),
                                            static_cast<std::uint64_t>(guard.stand)};
  Bytes bytes(kGuardSize);
  std::memcpy(bytes.data(), guard.mesh.bytes.data(), Id128::kSize);
  for (std::size_t at = 0; at < kGuardWords; ++at)
    store_le(bytes.data() + Id128::kSize + at * sizeof(std::uint64_t), words[at]);
  return write_sealed(files, folder, kGuardFile, std::move(bytes));
}

FoundGuard find_link_guard(os::Files& files, const std::string& store_folder,
                           const core::DeclarationId& accepted) {
  FoundGuard found;
  const auto kept = read_link_guard(files, store_folder);
  if (!kept) {
    found.problem = kept.error().message();
  } else if (*kept) {
    const auto& guard = **kept;
    if (is_of(guard, accepted)) found.guard = guard;
    // A death came between it and the acceptance, which is made up for.
    core::DeclarationId id;
    id.mesh = guard.mesh;
    id.epoch = guard.epoch;
    id.number = guard.number;
    if (found.guard || core::is_above(id, accepted)) return found;
  }
  const auto body = read_declaration(files, store_folder, accepted);
  if (!body || body->revert_unless_linked_ns <= 0) return found;
  if (found.problem.empty()) found.problem = *kept ? "guard is of an older one" : "guard is gone";
  found.guard = LinkGuard{
      accepted.mesh,      accepted.epoch, accepted.number, 0, body->revert_unless_linked_ns,
      GuardStand::waiting};
  return found;
}

Status drop_link_guard(os::Files& files, const std::string& store_folder) {
  DATUM_ASSIGN(const auto folder, make_store_folder(files, store_folder, kIdentityFolder));
  DATUM_TRY(remove_if_there(files, folder, kGuardFile));
  return files.sync(folder);
}

std::int64_t time_left(std::int64_t within_ns, WallNs from, WallNs now) {
  return std::clamp(from.ns + within_ns - now.ns, std::int64_t{0}, within_ns);
}

std::int64_t least_after_start(std::int64_t within_ns) {
  return std::min(within_ns, kLeastAfterStartNs);
}

}  // namespace datum::engine
