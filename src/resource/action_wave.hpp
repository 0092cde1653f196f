// What waves of accounts, packages, units, mounts and timers have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datum/resource/wave.hpp"

namespace datum::resource {

// What every wave is made of.
struct WaveBasis {
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const Declared> declared;
  std::shared_ptr<const core::Plan> plan;
  std::vector<std::uint32_t> ordinals;
  WaveOptions options;
};

// Of actions that are done one by one.
class ActionWave : public Wave {
 protected:
  explicit ActionWave(WaveBasis basis);

  void crash_point(const char* name, std::uint32_t ordinal) const;
  [[nodiscard]] std::int64_t now_ns() const;

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Declared> declared_;
  std::shared_ptr<const core::Plan> plan_;
  std::vector<std::uint32_t> ordinals_;
  WaveOptions options_;
};

// Of one action with two halves: a file, by the steps of a wave of files, and what the service
// manager or a tool does with it.
class HalvesWave : public ActionWave {
 public:
  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;

 protected:
  // The first ordinal is the only one.
  explicit HalvesWave(WaveBasis basis);

  void crash_point(const char* name) const { ActionWave::crash_point(name, action_.ordinal); }
  // What came of the file.
  core::ActionResult edit_file();
  [[nodiscard]] core::Observation look_once_more() const;
  // Of an action that failed after something was changed; `made`: by it, and not there before.
  void note_remains(bool made, core::ActionResult& result) const;
  // What `result` of the file becomes with the error, which is there.
  void add_error(bool changed, core::ActionResult& result);

  const core::Action& action_;
  const model::Resource* resource_;  // null: it left the declaration
  FileWave file_;
  std::optional<core::ActionResult> edited_;
  bool acted_ = false;  // the manager was asked for something, or a tool was begun
  std::optional<Error> error_;
  std::string still_running_;
};

// What the action is about; null if it left the declaration.
inline const model::Resource* find_resource(const Declared& declared, const core::Action& action) {
  if (action.kind == core::ActionKind::leave) return nullptr;
  return declared.manifest->find(action.reference);
}

// What a look after a failure showed (an Observation or a LeavingObservation); nothing where it
// showed nothing.
template <class Seen>
std::optional<core::Remains> remains_of(const Seen& seen) {
  if (seen.found == core::Found::unseen) return std::nullopt;
  const core::Left left{seen.found, seen.identity.device, seen.identity.inode, seen.content};
  return core::Remains{left, seen.traces, false};
}

// One `Work` for each action, with the action and its declared resource: null if it left the
// declaration.
template <class Work>
std::vector<Work> make_works(const Declared& declared, const core::Plan& plan,
                             const std::vector<std::uint32_t>& ordinals) {
  std::vector<Work> works;
  for (const auto ordinal : ordinals) {
    Work work;
    work.action = &plan.actions[ordinal];
    work.resource = find_resource(declared, *work.action);
    works.push_back(std::move(work));
  }
  return works;
}

// What it was before stands in the plan.
template <class Work>
std::vector<Prepared> prepare_without_content(const std::vector<Work>& works) {
  std::vector<Prepared> prepared;
  for (const auto& work : works) {
    Prepared one;
    one.ordinal = work.action->ordinal;
    one.before = work.action->found;
    prepared.push_back(std::move(one));
  }
  return prepared;
}

}  // namespace datum::resource
