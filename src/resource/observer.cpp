// From a declared resource, or one that left, to what is there.
#include "datum/resource/observer.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "account/account_facts.hpp"
#include "authorized_key/key_provider.hpp"
#include "file/file_facts.hpp"
#include "mount/mount_provider.hpp"
#include "observation_digest.hpp"
#include "package/package_observer.hpp"
#include "path_facts.hpp"
#include "provider.hpp"
#include "service/service_observer.hpp"
#include "setting/setting_provider.hpp"
#include "sysctl/sysctl_provider.hpp"

namespace datum::resource {

struct Observer::Impl {
  Sight sight;
};

Observer::Observer(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared)
    : impl_(std::make_unique<Impl>(Impl{Sight(std::move(machine), std::move(declared))})) {}
Observer::~Observer() = default;

namespace {

// Why resources of this type are not managed here; nothing if they are.
std::optional<std::string> find_skip_reason(const Machine& machine, model::ResourceType type) {
  if (type == model::ResourceType::service || type == model::ResourceType::timer)
    return find_unit_absence(machine);
  if (type == model::ResourceType::package || type == model::ResourceType::repository)
    return find_package_absence(machine);
  if (type == model::ResourceType::user || type == model::ResourceType::group) return {};
  if (find_provider(type) != nullptr) return {};
  if (machine.root_path != "/") return "not under --root";
  return "no provider for " + std::string(model::to_string(type)) + " in this version";
}

void observe_by_type(Sight& sight, const model::Resource& resource, core::Observation& seen) {
  switch (resource.reference.type) {
    case model::ResourceType::service:
      return observe_service(sight, resource, seen);
    case model::ResourceType::package:
      return observe_package(sight, resource, seen);
    case model::ResourceType::user:
      return observe_user(sight, resource, seen);
    case model::ResourceType::group:
      return observe_group(sight, resource, seen);
    default:
      return find_provider(resource.reference.type)->observe(sight, resource, seen);
  }
}

bool has_drift(const core::Observation& seen) {
  if (!seen.drifts.empty()) return true;
  for (const auto& entry : seen.purge)
    if (entry.is_drift) return true;
  return false;
}

}  // namespace

void Observer::gather(std::span<const model::Resource* const> resources) {
  std::vector<std::string> names;
  for (const auto* resource : resources)
    if (resource->reference.type == model::ResourceType::service ||
        resource->reference.type == model::ResourceType::timer)
      names.push_back(resource->target.name.str());
  // Without a Service nobody looks for a service manager, nor for its library.
  if (names.empty() || find_unit_absence(impl_->sight.machine())) return;
  impl_->sight.units().gather(names);
}

core::Observation Observer::observe(const model::Resource& resource) {
  core::Observation seen;
  seen.reference = resource.reference;
  seen.target = resource.target;
  const auto type = resource.reference.type;
  if (auto why = find_skip_reason(impl_->sight.machine(), type)) {
    seen.condition = core::Condition::skipped;
    seen.reason = std::move(*why);
  } else {
    observe_by_type(impl_->sight, resource, seen);
    if (seen.found != core::Found::unseen)
      seen.condition = has_drift(seen) ? core::Condition::drifted : core::Condition::converged;
  }
  seen.digest = digest_observation(seen);
  return seen;
}

core::Observation Observer::observe_made(const model::Resource& resource) {
  impl_->sight.expect_regular(resource.reference.type == model::ResourceType::file);
  auto seen = observe(resource);
  impl_->sight.expect_regular(false);
  return seen;
}

namespace {

// Digest in the form in which ownership remembers it: keyed if it was, or is, sensitive.
Digest as_remembered(const Sight& sight, const Digest& plain, std::uint32_t mode,
                     const core::Owned& owned) {
  const auto keyed = sight.keyed(plain);
  if (keyed == owned.left.content || denies_others(mode)) return keyed;
  return plain;
}

Status look_inside(Sight& sight, const os::Location& where, const os::FileStat& stat,
                   const core::Owned& owned, core::LeavingObservation& seen) {
  auto& files = sight.files();
  if (stat.type == os::FileType::symlink) {
    DATUM_ASSIGN(seen.content, hash_link(sight, where));
  } else if (stat.type == os::FileType::directory) {
    DATUM_ASSIGN(seen.entries, count_entries(sight, where));
    seen.empty = seen.entries == 0;
  } else if (stat.type == os::FileType::regular) {
    DATUM_ASSIGN(const auto opened,
                 files.open_file_with_stat(where.folder->handle, where.name, os::Access::read));
    seen.identity = identity_of(opened.stat);
    seen.traces = traces_of(opened.stat);
    if (is_mostly_holes(opened.stat)) return {};
    DATUM_ASSIGN(const auto hashed, sight.hash(opened.handle, opened.stat.size));
    seen.content = as_remembered(sight, hashed.plain, opened.stat.mode, owned);
  }
  return {};
}

Status look_at_leaving(Sight& sight, const core::Owned& owned, core::LeavingObservation& seen) {
  auto where = sight.walker().locate(place_of(seen.target));
  if (!where && (where.error().code() == ErrorCode::not_found ||
                 where.error().code() == ErrorCode::not_directory)) {
    seen.found = core::Found::absent;
    return {};
  }
  if (!where) return fail(std::move(where).error());
  DATUM_TRY(check_strict(sight, *where->folder));
  DATUM_ASSIGN(const auto stat, sight.find(*where));
  if (sight.is_own(*where, stat))
    return fail(ErrorCode::refused, "it belongs to Datum itself; not touched");
  seen.same_as_declared = sight.is_declared(*where, false);
  if (!stat) {
    seen.found = core::Found::absent;
    return {};
  }
  seen.identity = identity_of(*stat);
  seen.traces = traces_of(*stat);
  DATUM_TRY(look_inside(sight, *where, *stat, owned, seen));
  if (seen.target.family == model::TargetFamily::sysctl)
    seen.note = describe_removal(sight, *where, seen.target.name);
  seen.found = found_of(stat->type);
  return {};
}

}  // namespace

// Of a file that has other targets too only the part counts.
static Status look_at_leaving_part(Sight& sight, const core::Owned& owned,
                                   core::LeavingObservation& seen) {
  switch (seen.target.family) {
    case model::TargetFamily::authorized_key:
      return look_at_leaving_key(sight, seen);
    case model::TargetFamily::setting:
      return look_at_leaving_setting(sight, owned, seen);
    case model::TargetFamily::mount:
      return look_at_leaving_mount(sight, seen);
    default:
      return fail(ErrorCode::unsupported, "no provider for a " +
                                              std::string(model::to_string(seen.target.family)) +
                                              " in this version");
  }
}

core::LeavingObservation Observer::observe_leaving(const model::Target& target,
                                                   const core::Owned& owned) {
  core::LeavingObservation seen;
  seen.target = target;
  if (target.family == model::TargetFamily::unit) {
    observe_leaving_unit(impl_->sight, seen);
    return seen;
  }
  if (target.family == model::TargetFamily::package) {
    observe_leaving_package(impl_->sight, seen);
    return seen;
  }
  if (target.family == model::TargetFamily::user || target.family == model::TargetFamily::group) {
    observe_leaving_account(impl_->sight, seen);
    return seen;
  }
  std::optional<std::string> why;
  if (target.family == model::TargetFamily::repository)
    why = find_package_absence(impl_->sight.machine());
  if (target.family == model::TargetFamily::timer) why = find_unit_absence(impl_->sight.machine());
  if (why) {
    seen.reason = std::move(*why);
    return seen;
  }
  if (!shares_file(target) && place_of(target).empty()) {
    seen.reason =
        "no provider for a " + std::string(model::to_string(target.family)) + " in this version";
    return seen;
  }
  const auto looked = shares_file(target) ? look_at_leaving_part(impl_->sight, owned, seen)
                                          : look_at_leaving(impl_->sight, owned, seen);
  if (!looked) {
    seen.found = core::Found::unseen;
    seen.content = {};
    seen.reason = looked.error().message();
  }
  return seen;
}

namespace {

struct Place {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string_view name;
  bool operator==(const Place&) const = default;
};

Place seen_place(const core::Observation& seen) {
  const auto path = seen.target.name.view();
  return {seen.folder_device, seen.folder_inode, path.substr(path.rfind('/') + 1)};
}

void refuse_shared(core::Observation& seen, const core::Observation& other) {
  set_unknown(seen, "refused: " + other.reference.text() + " (" + other.target.text() +
                        ") is the same place; not touched");
  seen.digest = digest_observation(seen);
}

// The first observation of each place, by hash: one allocation for however many there are.
class PlaceTable {
 public:
  explicit PlaceTable(const std::vector<core::Observation>& observations)
      : observations_(observations), slots_(std::bit_ceil(2 * observations.size() + 1)) {}

  // The observation that has the place of this one and came before it; else this one's own number.
  std::size_t insert(std::size_t number) {
    const auto place = seen_place(observations_[number]);
    const auto hash = std::hash<std::string_view>{}(place.name) * 31 + place.inode;
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    for (auto at = hash;; ++at) {
      auto& slot = slots_[at & (slots_.size() - 1)];
      if (slot.number == 0) {
        slot = {static_cast<std::uint32_t>(number + 1), tag};
        return number;
      }
      if (slot.tag == tag && seen_place(observations_[slot.number - 1]) == place)
        return slot.number - 1;
    }
  }

 private:
  struct Slot {
    std::uint32_t number = 0;  // of the observation, + 1; 0 where empty
    std::uint32_t tag = 0;  // upper half of the hash: others are told apart without a look at them
  };

  const std::vector<core::Observation>& observations_;
  std::vector<Slot> slots_;  // at least half of them are empty
};

}  // namespace

void refuse_shared_places(std::vector<core::Observation>& observations) {
  PlaceTable places(observations);
  std::set<std::size_t> refused;  // of the first ones
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (observations[i].folder_inode == 0) continue;
    const auto first = places.insert(i);
    if (first == i) continue;
    if (refused.insert(first).second) refuse_shared(observations[first], observations[i]);
    refuse_shared(observations[i], observations[first]);
  }
}

}  // namespace datum::resource
