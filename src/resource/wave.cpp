// The wave as the engine sees it: three calls, in order.
#include "datum/resource/wave.hpp"

#include <algorithm>
#include <set>

#include "account/account_wave.hpp"
#include "mount/mount_wave.hpp"
#include "package/package_wave.hpp"
#include "path_facts.hpp"
#include "prepare.hpp"
#include "service/service_wave.hpp"
#include "timer/timer_wave.hpp"
#include "wave_run.hpp"

namespace datum::resource {

struct FileWave::Impl {
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const Declared> declared;
  std::shared_ptr<const core::Plan> plan;
  std::vector<std::uint32_t> ordinals;
  WaveOptions options;
  std::map<std::uint32_t, Error> failures;
  std::map<std::uint32_t, Prepared> not_kept;
  std::vector<core::ActionResult> results;  // between act and finish

  // How many of the ordinals from `begin` on go together.
  [[nodiscard]] std::size_t piece(std::size_t begin) const {
    std::set<std::string, std::less<>> folders;
    for (std::size_t i = begin; i < ordinals.size(); ++i) {
      const auto place = place_of(plan->actions[ordinals[i]].target);
      const auto folder = place.view().substr(0, place.rfind('/'));
      if (!folders.contains(folder)) folders.emplace(folder);
      // Each folder that is worked in holds a descriptor.
      if (folders.size() > std::max<std::size_t>(machine->max_open_folders, 1)) return i - begin;
    }
    return ordinals.size() - begin;
  }
};

FileWave::FileWave(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared,
                   std::shared_ptr<const core::Plan> plan, std::vector<std::uint32_t> ordinals,
                   WaveOptions options)
    : impl_(std::make_unique<Impl>(Impl{std::move(machine),
                                        std::move(declared),
                                        std::move(plan),
                                        std::move(ordinals),
                                        std::move(options),
                                        {},
                                        {},
                                        {}})) {}
FileWave::~FileWave() = default;

Result<std::vector<Prepared>> FileWave::prepare(blobs::BlobStore& store) {
  DATUM_TRY(prove_space());
  return keep_old(store);
}

std::int64_t FileWave::act() {
  // An account of an earlier wave, or of a package of one, may own what this one makes.
  impl_->machine->accounts->refresh();
  impl_->results = run();
  return 0;
}

std::vector<core::ActionResult> FileWave::finish() {
  return std::move(impl_->results);
}

std::shared_ptr<Wave> make_wave(std::shared_ptr<const Machine> machine,
                                std::shared_ptr<const Declared> declared,
                                std::shared_ptr<const core::Plan> plan,
                                std::vector<std::uint32_t> ordinals, WaveOptions options) {
  const auto family = plan->actions[ordinals.front()].target.family;
  WaveBasis basis{std::move(machine), std::move(declared), std::move(plan), std::move(ordinals),
                  std::move(options)};
  switch (family) {
    case model::TargetFamily::unit:
      return std::make_shared<ServiceWave>(std::move(basis));
    case model::TargetFamily::package:
      return std::make_shared<PackageWave>(std::move(basis));
    case model::TargetFamily::user:
    case model::TargetFamily::group:
      return std::make_shared<AccountWave>(std::move(basis));
    case model::TargetFamily::mount:
      return std::make_shared<MountWave>(std::move(basis));
    case model::TargetFamily::timer:
      return std::make_shared<TimerWave>(std::move(basis));
    default:
      return std::make_shared<FileWave>(std::move(basis.machine), std::move(basis.declared),
                                        std::move(basis.plan), std::move(basis.ordinals),
                                        std::move(basis.options));
  }
}

Status FileWave::prove_space() {
  Sight sight(impl_->machine, impl_->declared);
  return resource::prove_space(sight, *impl_->plan, impl_->ordinals, impl_->failures);
}

Result<std::vector<Prepared>> FileWave::keep_old(blobs::BlobStore& store) {
  Sight sight(impl_->machine, impl_->declared);
  DATUM_ASSIGN(auto prepared, resource::keep_old(sight, *impl_->plan, impl_->ordinals, store,
                                                 impl_->options.measure_kept, impl_->failures));
  for (const auto& one : prepared)
    if (one.not_kept) impl_->not_kept.emplace(one.ordinal, one);
  return prepared;
}

std::vector<core::ActionResult> FileWave::run() {
  std::vector<core::ActionResult> results;
  results.reserve(impl_->ordinals.size());
  for (std::size_t begin = 0; begin < impl_->ordinals.size();) {
    const auto count = impl_->piece(begin);
    WaveRun run(impl_->machine, impl_->declared, *impl_->plan, impl_->options, impl_->failures);
    auto some = run.run(std::span(impl_->ordinals).subspan(begin, count));
    for (auto& result : some) results.push_back(std::move(result));
    begin += count;
  }
  for (auto& result : results) {
    const auto not_kept = impl_->not_kept.find(result.ordinal);
    if (not_kept == impl_->not_kept.end() || result.error || result.skipped) continue;
    result.old_content_not_kept = true;
    result.old_size = not_kept->second.old_size;
    if (result.message.empty())
      result.message = "old content not kept: " + not_kept->second.not_kept_reason;
  }
  return results;
}

}  // namespace datum::resource
