#include "datum/engine/witness.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "datum/codec/witness.hpp"
#include "datum/config/trust.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

// Some 200 bytes for each target that is owned: a million of them fit.
constexpr std::size_t kMaxWitness = 256ULL * 1024 * 1024;
constexpr std::uint32_t kOwnerOnly = 0700;
// Folder below the root, and how a name in it begins: drop-ins of Sysctls, the release that was
// kept when a version had finished a pass.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kTraces{
    {{"/etc/sysctl.d", "70-datum-"}, {"/var/lib/datum/release", "confirmed"}}};

bool has_trace(os::Files& files, const std::string& folder, std::string_view prefix) {
  const auto handle = files.open_root(folder);
  if (!handle) return false;
  const auto entries = files.list(*handle);
  return entries && std::any_of(entries->begin(), entries->end(), [prefix](const auto& entry) {
           return entry.name.starts_with(prefix);
         });
}

}  // namespace

bool is_loss_suspected(os::Files& files, const std::string& config_folder,
                       const std::string& root) {
  const auto folder = files.open_root(config_folder + "/" + std::string(kWitnessFolder));
  if (folder || folder.error().code() != ErrorCode::not_found) return false;
  const auto below = root == "/" ? std::string() : root;
  return std::any_of(kTraces.begin(), kTraces.end(), [&](const auto& trace) {
    return has_trace(files, below + std::string(trace.first), trace.second);
  });
}

Result<std::optional<core::Witness>> read_witness(os::Files& files,
                                                  const std::string& config_folder,
                                                  std::uint32_t trusted_uid) {
  const auto path = config_folder + "/" + std::string(kWitnessFolder);
  const auto folder = files.open_root(path);
  if (!folder && folder.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!folder) return fail(Error(folder.error()).context(path));
  DATUM_TRY(config::check_way(files, path, trusted_uid));
  auto bytes = read_sealed(files, *folder, kWitnessName, kMaxWitness);
  if (!bytes && bytes.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!bytes) return fail(std::move(bytes).error().context(path));
  auto witness = codec::decode_witness(*bytes);
  if (!witness) return fail(std::move(witness).error().context(path));
  return std::optional(std::move(*witness));
}

Status write_witness(os::Files& files, const std::string& config_folder,
                     const core::Witness& witness) {
  const auto into = config_folder + "/" + std::string(kWitnessFolder);
  const auto config = files.open_root(config_folder);
  if (!config) return fail(Error(config.error()).context(config_folder));
  auto made = files.make_directory(*config, kWitnessFolder, kOwnerOnly);
  if (made) made = files.sync(*config);
  if (!made && made.error().code() != ErrorCode::already_exists)
    return fail(std::move(made).error().context(into));
  const auto folder = files.open_directory(*config, kWitnessFolder, os::Follow::no);
  if (!folder) return fail(Error(folder.error()).context(into));
  auto written = write_sealed(files, *folder, kWitnessName, codec::encode_witness(witness));
  if (!written) return fail(std::move(written).error().context(into));
  return {};
}

Result<core::FoundStore> find_store(journal::Reader& reader, const core::Witness& witness) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  core::FoundStore found{reader.store_id(), head.seq, std::nullopt};
  const auto seq = witness.head.seq;
  if (found.store != witness.head.store || seq < head.first || seq > head.seq) return found;
  DATUM_TRY(reader.read(seq, [&found](const journal::Record& record) {
    found.hash = journal::hash_of(record);
    return journal::Visit::stop;
  }));
  return found;
}

}  // namespace datum::engine
