#include "datum/engine/link_guard.hpp"

#include <algorithm>

#include "datum/engine/identity.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

constexpr std::string_view kGuardFile = "guard";
constexpr std::size_t kGuardWords = 7;
constexpr std::size_t kGuardSize = kGuardWords * sizeof(std::uint64_t);

}  // namespace

Result<std::optional<LinkGuard>> read_link_guard(os::Files& files,
                                                 const std::string& store_folder) {
  DATUM_ASSIGN(const auto store, files.open_root(store_folder));
  const auto folder = files.open_directory(store, kIdentityFolder, os::Follow::no);
  if (!folder && folder.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!folder) return fail(folder.error());
  const auto bytes = read_sealed(files, *folder, kGuardFile, kGuardSize);
  if (!bytes && bytes.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!bytes) return fail(bytes.error());
  if (bytes->size() != kGuardSize) return fail(ErrorCode::corrupt, "identity/guard is damaged");
  const auto word = [&](std::size_t at) {
    return load_le<std::uint64_t>(bytes->data() + at * sizeof(std::uint64_t));
  };
  LinkGuard guard{word(0), word(1), word(2), word(3), {}, static_cast<std::int64_t>(word(5)), {}};
  guard.finished.ns = static_cast<std::int64_t>(word(4));
  if (word(6) < static_cast<std::uint64_t>(GuardStand::waiting) ||
      word(6) > static_cast<std::uint64_t>(GuardStand::reverted))
    return fail(ErrorCode::corrupt, "identity/guard is of another version");
  guard.stand = static_cast<GuardStand>(word(6));
  return guard;
}

Status write_link_guard(os::Files& files, const std::string& store_folder, const LinkGuard& guard) {
  DATUM_ASSIGN(const auto folder, make_store_folder(files, store_folder, kIdentityFolder));
  const std::uint64_t words[kGuardWords] = {guard.epoch,
                                            guard.number,
                                            guard.pass,
                                            guard.finished_at,
                                            static_cast<std::uint64_t>(guard.finished.ns),
                                            static_cast<std::uint64_t>(guard.within_ns),
                                            static_cast<std::uint64_t>(guard.stand)};
  Bytes bytes(kGuardSize);
  for (std::size_t at = 0; at < kGuardWords; ++at)
    store_le(bytes.data() + at * sizeof(std::uint64_t), words[at]);
  return write_sealed(files, folder, kGuardFile, std::move(bytes));
}

std::int64_t time_left(const LinkGuard& guard, WallNs now, bool is_start) {
  const auto left = guard.finished.ns + guard.within_ns - now.ns;
  const auto least = is_start ? std::min(guard.within_ns, kLeastAfterStartNs) : 0;
  return std::clamp(left, least, guard.within_ns);
}

}  // namespace datum::engine
