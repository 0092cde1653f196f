#include "observe.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace datum::engine {

namespace {

// A range of an index vector that one job works through.
struct Slice {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::uint64_t weight_of(const model::Resource& resource) {
  const auto* content = resource.content();
  return content == nullptr ? 0 : content->size;
}

// Neighbours in the tree go into one job, so that they share folder descriptors: places in
// `places`, in the order of their targets.
std::vector<std::size_t> by_target(const model::Manifest& manifest,
                                   const std::vector<std::size_t>& places) {
  std::vector<std::size_t> order(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto before = [&](std::size_t a, std::size_t b) {
    return manifest.resources[places[a]]->target < manifest.resources[places[b]]->target;
  };
  if (!std::is_sorted(order.begin(), order.end(), before))
    std::sort(order.begin(), order.end(), before);
  return order;
}

struct Shared {
  Looking with;
  std::vector<std::size_t> places;
  std::vector<std::size_t> order;
  std::vector<core::Observation> seen;  // as `places`; each job writes its own

  [[nodiscard]] const model::Resource& resource(std::size_t i) const {
    return *with.declared->manifest->resources[places[order[i]]];
  }
};

// Whether it and its neighbour are looked at together: all units and all packages are asked about
// at once, and the account files are read once.
bool goes_with_next(const Shared& shared, std::size_t i) {
  using model::TargetFamily;
  if (i + 1 >= shared.order.size()) return false;
  const auto kind = [&](std::size_t at) {
    const auto family = shared.resource(at).target.family;
    return family == TargetFamily::group ? TargetFamily::user : family;
  };
  const bool together = kind(i) == TargetFamily::unit || kind(i) == TargetFamily::package ||
                        kind(i) == TargetFamily::user;
  return together && kind(i + 1) == kind(i);
}

void observe_slice(Shared& shared, Slice slice) {
  resource::Observer observer(shared.with.machine, shared.with.declared);
  std::vector<const model::Resource*> resources;
  for (std::size_t i = slice.begin; i < slice.end; ++i) resources.push_back(&shared.resource(i));
  observer.gather(resources);
  for (std::size_t i = slice.begin; i < slice.end; ++i)
    shared.seen[shared.order[i]] = observer.observe(shared.resource(i));
}

std::vector<Slice> slices_of(const Shared& shared) {
  std::vector<Slice> slices;
  Slice slice;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < shared.order.size(); ++i) {
    bytes += weight_of(shared.resource(i));
    slice.end = i + 1;
    if (goes_with_next(shared, i)) continue;
    if (slice.end - slice.begin >= kJobResources || bytes >= kJobBytes) {
      slices.push_back(slice);
      slice = {i + 1, i + 1};
      bytes = 0;
    }
  }
  if (slice.end > slice.begin) slices.push_back(slice);
  return slices;
}

}  // namespace

std::vector<std::size_t> all_places(const model::Manifest& manifest) {
  std::vector<std::size_t> places(manifest.resources.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  return places;
}

loop::Task<std::vector<core::Observation>> observe_places(loop::Loop& loop, Looking with,
                                                          std::vector<std::size_t> places) {
  auto shared = std::make_shared<Shared>();
  shared->with = std::move(with);
  shared->places = std::move(places);
  shared->order = by_target(*shared->with.declared->manifest, shared->places);
  shared->seen.resize(shared->places.size());
  std::vector<std::function<bool()>> jobs;
  for (const auto slice : slices_of(*shared))
    jobs.emplace_back([shared, slice] {
      observe_slice(*shared, slice);
      return true;
    });
  const std::size_t at_once = std::max<std::size_t>(loop.pool().width() - 1, 1);
  auto all = loop::run_all<bool>(loop.pool(), std::move(jobs), at_once);
  co_await all;
  resource::refuse_shared_places(shared->seen);
  co_return std::move(shared->seen);
}

std::vector<LeavingTarget> find_leaving(const core::State& state, const model::Manifest& manifest) {
  if (state.owned.empty()) return {};
  std::optional<model::TargetTable> declared;  // names often have the order of their targets
  std::size_t next = 0;
  std::vector<LeavingTarget> leaving;
  for (const auto& [target, owned] : state.owned) {
    if (next < manifest.resources.size() && manifest.resources[next]->target == target) {
      ++next;
      continue;
    }
    if (!declared) declared.emplace(manifest);
    if (declared->find(target) == nullptr) leaving.push_back({target, owned});
  }
  return leaving;
}

loop::Task<std::vector<core::LeavingObservation>> observe_leaving(
    loop::Loop& loop, Looking with, std::vector<LeavingTarget> targets) {
  if (targets.empty()) co_return std::vector<core::LeavingObservation>{};
  std::function<std::vector<core::LeavingObservation>()> work = [with, targets] {
    resource::Observer observer(with.machine, with.declared);
    std::vector<core::LeavingObservation> seen;
    seen.reserve(targets.size());
    for (const auto& leaving : targets)
      seen.push_back(observer.observe_leaving(leaving.target, leaving.owned));
    return seen;
  };
  auto wait = loop::run_on<std::vector<core::LeavingObservation>>(loop.pool(), std::move(work));
  co_return co_await wait;
}

}  // namespace datum::engine
