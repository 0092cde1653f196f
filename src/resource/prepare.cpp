// Proving space and keeping old content.
#include "prepare.hpp"

#include <algorithm>

#include "datum/crypto/digest.hpp"
#include "datum/resource/former.hpp"
#include "datum/resource/kept.hpp"
#include "file/file_facts.hpp"
#include "path_facts.hpp"
#include "setting/setting_provider.hpp"
#include "transfer.hpp"

namespace datum::resource {

namespace {

// For folders that grow, attributes and whoever else writes meanwhile: an eighth of what is free,
// so that a small file system can be used, and not more than 16 MiB, so that a large one can be
// filled.
constexpr std::uint64_t kReserveShare = 8;
constexpr std::uint64_t kMaxReserve = 16ULL * 1024 * 1024;
constexpr std::uint64_t kBlock = 4096;

struct Need {
  os::Location where;
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
  std::vector<std::uint32_t> ordinals;
};

bool changes_content(const core::Action& action) {
  // Each of its fields is a line of its list.
  if (action.target.family == model::TargetFamily::repository || shares_file(action.target))
    return true;
  if (action.kind == core::ActionKind::update) {
    for (const auto& change : action.changes)
      if (change.field == "content" || change.field == "target" || change.field == "type" ||
          change.field == "persisted" || change.field == "zone" || change.field == "unit" ||
          change.field == "onCalendar" || change.field == "persistent" ||
          change.field == "randomizedDelay")
        return true;
    return false;
  }
  return action.kind == core::ActionKind::replace || removes(action.kind);
}

}  // namespace

static Status prove_one(Sight& sight, const Need& need) {
  auto space = sight.files().space(need.where.folder->handle);
  if (!space) return fail(std::move(space).error().context(need.where.folder->real_path));
  const bool inodes = space->free_inodes >= need.inodes;
  const auto reserve = std::min(space->free_bytes / kReserveShare, kMaxReserve);
  if (inodes && space->free_bytes - reserve >= need.bytes) return {};
  // What is free changes all the time; with it in the text, every pass would record a new failure.
  const auto what = inodes ? std::to_string(need.bytes) +
                                 " bytes are needed beside a reserve of "
                                 "an eighth of what is free (16 MiB at most), and fewer are free"
                           : std::to_string(need.inodes) + " inodes are needed, and fewer are free";
  return fail(ErrorCode::no_space,
              need.where.folder->real_path + ": no space: " + what + ". Nothing was changed");
}

static std::map<std::uint64_t, Need> needs_of(Sight& sight, const core::Plan& plan,
                                              std::span<const std::uint32_t> ordinals) {
  std::map<std::uint64_t, Need> needs;
  for (const auto ordinal : ordinals) {
    const auto& action = plan.actions[ordinal];
    if (removes(action.kind)) continue;
    // A way that cannot be walked fails its own action later.
    const auto place = find_place(sight, action.target);
    if (!place) continue;
    auto where = sight.walker().locate(*place);
    if (!where) continue;
    auto& need = needs[where->folder->device];
    need.where = std::move(*where);
    need.bytes += (action.staged_bytes / kBlock + 1) * kBlock;
    need.inodes += 1;
    need.ordinals.push_back(ordinal);
  }
  return needs;
}

Status prove_space(Sight& sight, const core::Plan& plan, std::span<const std::uint32_t> ordinals,
                   std::map<std::uint32_t, Error>& failures) {
  std::size_t without_room = 0;
  for (const auto& [device, need] : needs_of(sight, plan, ordinals)) {
    auto proven = prove_one(sight, need);
    if (proven) continue;
    without_room += need.ordinals.size();
    if (without_room == ordinals.size()) return proven;
    for (const auto ordinal : need.ordinals) failures.insert_or_assign(ordinal, proven.error());
  }
  return {};
}

namespace {

class Keeper {
 public:
  Keeper(Sight& sight, blobs::BlobStore& store, std::uint64_t used, const MeasureKept& measure)
      : sight_(sight), store_(store), measure_(measure), used_(used) {}

  // Errors of the store; what concerns only this file is in `failure`.
  Status keep(const core::Action& action, Prepared& prepared, std::optional<Error>& failure) {
    if (action.target.family == model::TargetFamily::setting) return keep_setting(action, prepared);
    const auto place = find_place(sight_, action.target);
    if (!place) return {};
    auto where = sight_.walker().locate(*place);
    if (!where) return {};
    if (shares_file(action.target)) return keep_file(action, *where, prepared, failure);
    switch (action.found) {
      case core::Found::symlink:
        return keep_link(action, *where, prepared);
      case core::Found::directory:
        return keep_folder(action, *where, prepared);
      case core::Found::file:
        return keep_file(action, *where, prepared, failure);
      default:
        return {};
    }
  }

 private:
  Status keep_file(const core::Action& action, const os::Location& where, Prepared& prepared,
                   std::optional<Error>& failure) {
    const bool content = changes_content(action);
    auto opened =
        sight_.files().open_file_with_stat(where.folder->handle, where.name, os::Access::read);
    // Changed since it was observed: `run` skips it and says so.
    if (!opened && opened.error().code() == ErrorCode::not_found) return {};
    if (!opened) {
      if (content) failure = std::move(opened).error().context("old content could not be kept");
      return {};
    }
    if (!shares_file(action.target) && !is_same_object(opened->stat, action.found, action.identity))
      return {};
    Digest plain;
    if (content) {
      prepared.old_size = opened->stat.size;
      DATUM_ASSIGN(const bool has_room, fits(opened->stat.size, prepared));
      if (has_room) DATUM_TRY(keep_content(action, *opened, prepared, plain, failure));
    }
    return keep_metadata(action, opened->handle, opened->stat, plain, prepared);
  }

  // The value alone: its file may hold a secret that another Setting put there.
  Status keep_setting(const core::Action& action, Prepared& prepared) {
    if (action.found == core::Found::absent) return {};
    const auto found = find_setting_value(sight_, action.target);
    if (!found || !found->value) return {};
    const auto* resource = sight_.declared().manifest->find(action.reference);
    const bool secret = resource != nullptr && resource->find(model::Field::secret_ref) != nullptr;
    const auto plain = crypto::sha256(as_bytes(*found->value));
    const auto* left = sight_.declared().find_owned(action.target);
    const bool was_secret = left != nullptr && left->content == sight_.keyed(plain);
    prepared.not_kept = secret || found->hidden || was_secret;
    if (prepared.not_kept) {
      prepared.not_kept_reason = "it is a secret, or stands in a file that others may not read";
      return {};
    }
    prepared.old_size = found->value->size();
    BytesSource source(as_bytes(*found->value));
    DATUM_ASSIGN(const auto stored, put_kept(store_, source, {}));
    prepared.old_content = stored.digest;
    return {};
  }

  Status keep_folder(const core::Action& action, const os::Location& where, Prepared& prepared) {
    const auto folder =
        sight_.files().open_directory(where.folder->handle, where.name, os::Follow::no);
    if (!folder) return {};
    const auto stat = sight_.files().stat(*folder);
    if (!stat || !is_same_object(*stat, action.found, action.identity)) return {};
    return keep_metadata(action, *folder, *stat, {}, prepared);
  }

  // Attributes may tell as much as content does.
  Status keep_metadata(const core::Action& action, const os::Handle& object,
                       const os::FileStat& stat, const Digest& plain, Prepared& prepared) {
    auto all = sight_.files().read_attributes(object);
    if (!all) return {};
    const auto kept = kept_attributes(std::move(*all));
    if (!kept.empty()) {
      const auto bytes = encode_attributes(kept);
      Digest salt;
      if (stat.type == os::FileType::regular && is_sensitive(action, stat, plain)) {
        salt = sight_.keyed(crypto::sha256(bytes));
        if (salt.empty()) return {};
      }
      BytesSource source(bytes);
      DATUM_ASSIGN(const auto stored, put_kept(store_, source, salt));
      prepared.attributes = stored.digest;
    }
    prepared.traces = traces_of(stat);
    return {};
  }

  Result<bool> fits(std::uint64_t size, Prepared& prepared) {
    if (size > blobs::kMaxKeptFile) {
      prepared.not_kept_reason = "larger than 16 MiB";
    } else {
      if (used_ + size > blobs::kMaxKeptTotal) DATUM_TRY(count_kept());
      if (used_ + size > blobs::kMaxKeptTotal)
        prepared.not_kept_reason = "2 GiB of old content are kept already";
    }
    prepared.not_kept = !prepared.not_kept_reason.empty();
    return !prepared.not_kept;
  }

  // All blobs together are never less than what is kept of old content, and known at no cost. Where
  // they leave no room, the difference counts: declared content has no such limit.
  Status count_kept() {
    if (is_measured_ || !measure_) return {};
    is_measured_ = true;
    DATUM_ASSIGN(const auto kept, measure_());
    used_ = kept + kept_now_;
    return {};
  }

  Status keep_link(const core::Action& action, const os::Location& where, Prepared& prepared) {
    const auto stat = sight_.files().stat_at(where.folder->handle, where.name);
    if (!stat || !is_same_object(*stat, action.found, action.identity)) return {};
    prepared.traces = traces_of(*stat);
    if (!changes_content(action)) return {};
    const auto text = sight_.files().read_symlink(where.folder->handle, where.name);
    if (!text) return {};
    prepared.old_size = text->size();
    DATUM_ASSIGN(const auto stored, store_.put(as_bytes(*text)));
    prepared.old_content = stored.digest;
    return {};
  }

  // Of what left the declaration only the form of the remembered digest tells that it was
  // sensitive.
  bool is_sensitive(const core::Action& action, const os::FileStat& stat,
                    const Digest& plain) const {
    if (denies_others(stat.mode)) return true;
    const auto& declared = sight_.declared();
    if (action.kind != core::ActionKind::purge && action.kind != core::ActionKind::leave) {
      const auto* resource = declared.manifest->find(action.reference);
      if (resource != nullptr && resource->sensitive()) return true;
    }
    const auto* left = declared.find_owned(action.target);
    return left != nullptr && !left->content.empty() && left->content == sight_.keyed(plain);
  }

  Status keep_content(const core::Action& action, const os::OpenedFile& opened, Prepared& prepared,
                      Digest& plain, std::optional<Error>& failure) {
    const auto hashed = sight_.hash(opened.handle, opened.stat.size);
    auto rewound = hashed ? sight_.files().seek(opened.handle, 0) : Status(fail(hashed.error()));
    if (!rewound) {
      failure = std::move(rewound).error().context("old content could not be kept");
      return {};
    }
    plain = hashed->plain;
    Digest salt;
    if (is_sensitive(action, opened.stat, hashed->plain)) {
      salt = sight_.keyed(hashed->plain);
      prepared.not_kept = salt.empty();
      if (prepared.not_kept) {
        prepared.not_kept_reason = "sensitive, and this store has no key to hide its digest";
        return {};
      }
    }
    FileSource source(sight_.files(), opened.handle);
    DATUM_ASSIGN(const auto stored, put_kept(store_, source, salt));
    prepared.old_content = stored.digest;
    used_ += stored.size;
    kept_now_ += stored.size;
    return {};
  }

  Sight& sight_;
  blobs::BlobStore& store_;
  const MeasureKept& measure_;
  bool is_measured_ = false;
  std::uint64_t used_;          // of the limit
  std::uint64_t kept_now_ = 0;  // by this wave, so no record names it yet
};

}  // namespace

Result<std::vector<Prepared>> keep_old(Sight& sight, const core::Plan& plan,
                                       std::span<const std::uint32_t> ordinals,
                                       blobs::BlobStore& store, const MeasureKept& measure,
                                       std::map<std::uint32_t, Error>& failures) {
  DATUM_ASSIGN(const auto used, store.used());
  Keeper keeper(sight, store, used, measure);
  std::vector<Prepared> all;
  all.reserve(ordinals.size());
  for (const auto ordinal : ordinals) {
    const auto& action = plan.actions[ordinal];
    Prepared prepared;
    prepared.ordinal = ordinal;
    prepared.before = action.found;
    if (!failures.contains(ordinal)) {
      std::optional<Error> failure;
      DATUM_TRY(keeper.keep(action, prepared, failure));
      if (failure) failures.insert_or_assign(ordinal, std::move(*failure));
    }
    all.push_back(std::move(prepared));
  }
  DATUM_TRY(store.sync());
  return all;
}

}  // namespace datum::resource
