// Opening a store: folder, journal, blobs and key, each made durable before the next one rests on
// it.
#include "datum/engine/store.hpp"

#include <cstdint>
#include <cstring>

#include "datum/config/trust.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/identity.hpp"
#include "datum/engine/set_aside.hpp"
#include "datum/engine/witness.hpp"
#include "datum/history/open.hpp"

namespace datum::engine {

namespace {
constexpr std::size_t kKeySize = 32;
constexpr std::string_view kKeyName = "key";
constexpr std::uint32_t kOthers = 077;

Result<Bytes> read_key(os::Files& files, const os::Handle& folder) {
  DATUM_ASSIGN(const auto file, files.open_file_with_stat(folder, kKeyName, os::Access::read));
  if ((file.stat.mode & kOthers) != 0)
    return fail(ErrorCode::refused, "key: others may read or write it: chmod 600 it");
  Bytes key(kKeySize + 1);
  DATUM_ASSIGN(const auto size, files.read(file.handle, key));
  if (size != kKeySize)
    return fail(ErrorCode::corrupt, "key: " + std::to_string(size) + " bytes where " +
                                        std::to_string(kKeySize) + " were expected");
  key.resize(kKeySize);
  return key;
}

// Written beside and renamed: a key that exists is whole.
Result<Bytes> make_key(os::Files& files, const os::Handle& folder, Bytes key, bool is_first) {
  constexpr std::string_view kPart = "key.part";
  auto file = files.create_file(folder, kPart);
  if (!file && file.error().code() == ErrorCode::already_exists) {
    DATUM_TRY(files.remove_file(folder, kPart));
    file = files.create_file(folder, kPart);
  }
  if (!file) return fail(std::move(file).error());
  DATUM_TRY(files.write(*file, key));
  DATUM_TRY(files.sync(*file));
  DATUM_TRY(files.rename(folder, kPart, folder, kKeyName, is_first));
  DATUM_TRY(files.sync(folder));
  return key;
}

Bytes random_bytes(const StoreBinding& binding, std::size_t size) {
  Bytes bytes(size);
  if (binding.fill_random)
    binding.fill_random(bytes);
  else
    crypto::fill_random(bytes);
  return bytes;
}

Id128 random_id(const StoreBinding& binding) {
  const auto bytes = random_bytes(binding, Id128::kSize);
  Id128 id;
  std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}

Result<Bytes> read_or_make_key(os::Files& files, const std::string& folder,
                               const StoreBinding& binding, bool& made) {
  DATUM_ASSIGN(const auto handle, files.open_root(folder));
  auto key = read_key(files, handle);
  if (key) return key;
  const bool is_missing = key.error().code() == ErrorCode::not_found;
  // One of another size was never whole: it is as good as lost.
  if (!is_missing && key.error().code() != ErrorCode::corrupt) return key;
  made = true;
  return make_key(files, handle, random_bytes(binding, kKeySize), is_missing);
}

Status check_not_imported(os::Files& files, const std::string& folder) {
  const auto handle = files.open_root(folder);
  if (!handle || !files.stat_at(*handle, kImportedName)) return {};
  return fail(ErrorCode::refused, folder +
                                      " was made from an export, to be read: it is no machine's "
                                      "store. Name another one");
}
// Whoever begins anew over what is left of a store hides that a history was lost.
Status check_not_lost(os::Files& files, const std::string& folder) {
  auto lost = find_lost_journal(files, folder);
  if (lost.empty()) return {};
  return fail(ErrorCode::corrupt, std::move(lost));
}
}  // namespace

Result<Bytes> read_key_or_random(os::Files& files, const std::string& folder) {
  auto handle = files.open_root(folder);
  auto key = handle ? read_key(files, *handle) : Result<Bytes>(fail(std::move(handle).error()));
  if (key || key.error().code() != ErrorCode::not_found) return key;
  Bytes random(kKeySize);
  crypto::fill_random(random);
  return random;
}

std::vector<std::string> find_store_faults(os::Files& files, const std::string& folder,
                                           const core::State& state) {
  std::vector<std::string> faults;
  const auto handle = files.open_root(folder);
  if (!handle) return {folder + ": " + handle.error().message()};
  if (files.stat_at(*handle, kImportedName)) return {};  // it has what its export had
  const auto key = read_key(files, *handle);
  if (!key && key.error().code() == ErrorCode::not_found)
    faults.push_back(
        "its key is missing: the next pass makes a new one, and sensitive files look changed once");
  else if (!key && key.error().code() == ErrorCode::corrupt)
    faults.push_back("its key is lost (" + key.error().message() +
                     "): the next pass makes a new one, and sensitive files look changed once");
  else if (!key)
    faults.push_back("its key cannot be read: " + key.error().message());
  const auto blobs = blobs::open_blobs(files, folder, true);
  if (!blobs && (!state.last_plan.empty() || !state.owned.empty()))
    faults.push_back("its blobs are missing: " + blobs.error().message());
  else if (blobs && !state.last_plan.empty() && !(*blobs)->contains(state.last_plan))
    faults.push_back("the blob of the last plan is missing: sha256:" + state.last_plan.hex());
  return faults;
}

Result<Store> open_store(loop::Loop& loop, os::Files& files, const std::string& folder,
                         const StoreBinding& binding) {
  DATUM_TRY(check_not_imported(files, folder));
  // Whoever can write the folder can put another journal or another key in the place of ours.
  DATUM_TRY(config::check_way(files, folder, binding.trusted_uid));
  // What is half moved away looks like a store that has lost its journal.
  DATUM_ASSIGN(const auto place, journal::lock_place(folder, journal::PlaceUse::opening));
  DATUM_TRY(check_not_lost(files, folder));
  DATUM_ASSIGN(auto history, history::open_history(loop, folder, binding.crash_point));
  return open_store_over(loop, files, folder, std::move(history), binding);
}

Result<Store> open_bound_store(loop::Loop& loop, os::Files& files, const std::string& folder,
                               const std::string& version, std::uint32_t trusted_uid) {
  DATUM_TRY(check_not_imported(files, folder));
  DATUM_TRY(config::check_way(files, folder, trusted_uid));
  DATUM_ASSIGN(const auto place, journal::lock_place(folder, journal::PlaceUse::opening));
  DATUM_TRY(check_not_lost(files, folder));
  Store store;
  store.folder = folder;
  DATUM_ASSIGN(store.history, history::open_existing(loop, folder));
  const auto& state = store.history->state();
  if (state.store.empty())
    return fail(ErrorCode::not_found, folder + ": the journal has no record yet");
  if (state.pass)
    return fail(ErrorCode::conflict,
                "the last pass was cut off: the next observe or reconcile ends it first");
  const core::OpenStore open{loop.clock().boot_id(), version, state.root, state.host,
                             loop.clock().wall_now()};
  DATUM_TRY(store.history->execute(open));
  DATUM_ASSIGN(store.blobs, blobs::open_blobs(files, folder, false));
  return store;
}

// Under which name a store is made or opened.
static std::string name_for(os::Files& files, const std::string& folder, const core::State& state,
                            const StoreBinding& binding) {
  if (!binding.is_own_name || state.host == binding.host) return binding.host;
  if (state.store.empty()) return binding.wanted_node.empty() ? binding.host : binding.wanted_node;
  if (state.host == binding.wanted_node) return state.host;
  // One that cannot be read was made by an enrolment as well.
  const auto key = IdentityFiles(files, folder).read_key();
  return key && !*key ? binding.host : state.host;
}

// Of a store that begins now: what was there before, as far as anybody knows.
static std::optional<core::LostStore> find_former(const StoreBinding& binding, bool was_set_aside) {
  if (binding.witness) {
    const auto kind = was_set_aside ? core::LossKind::corrupt : core::LossKind::missing;
    return core::lost_store(kind, *binding.witness);
  }
  if (binding.is_loss_suspected) return core::LostStore{core::LossKind::suspected, {}};
  return std::nullopt;
}

// Asked before anything is queued: the journal is read.
static Result<std::optional<core::LostStore>> find_other(history::History& history,
                                                         const StoreBinding& binding) {
  if (!binding.witness || history.log() == nullptr) return std::nullopt;
  DATUM_ASSIGN(const auto found, find_store(*history.log(), *binding.witness));
  return core::find_loss(history.state(), *binding.witness, found);
}

Result<Store> open_store_over(loop::Loop& loop, os::Files& files, const std::string& folder,
                              std::unique_ptr<history::History> history,
                              const StoreBinding& binding) {
  Store store;
  store.folder = folder;
  store.history = std::move(history);
  const bool is_new = store.history->state().store.empty();
  const auto host = name_for(files, folder, store.history->state(), binding);
  if (is_new) {
    // One id for the journal's files and for what its records tell.
    const auto* log = store.history->log();
    core::CreateStore create{log != nullptr ? log->store_id() : random_id(binding), binding.root,
                             host, binding.source, binding.version};
    DATUM_ASSIGN(create.after, find_set_aside(files, folder));
    create.lost = find_former(binding, !create.after.empty());
    // The key first: a store that has a record has its key, whenever the power goes.
    bool made = false;
    auto key = read_or_make_key(files, folder, binding, made);
    if (!key) return fail(std::move(key).error().context(folder));
    DATUM_TRY(store.history->execute(create));
  } else {
    DATUM_ASSIGN(const auto lost, find_other(*store.history, binding));
    const core::OpenStore open{loop.clock().boot_id(), binding.version, binding.root, host,
                               loop.clock().wall_now()};
    DATUM_TRY(store.history->execute(open));
    if (lost) DATUM_TRY(store.history->execute(core::RecordLoss{*lost}));
  }
  bool made = false;
  auto key = read_or_make_key(files, folder, binding, made);
  if (!key) return fail(std::move(key).error().context(folder));
  store.sensitive_key = std::move(*key);
  store.key_was_lost = made && !is_new;
  DATUM_ASSIGN(store.blobs, blobs::open_blobs(files, folder, false));
  return store;
}

}  // namespace datum::engine
