// The last five steps of a wave over a number of actions that are not too many for the process's
// descriptors. Internal to resource.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "work.hpp"

namespace datum::resource {

class WaveRun {
 public:
  // `failures`: by place in the plan, what already failed when old content was to be kept.
  WaveRun(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared,
          const core::Plan& plan, const WaveOptions& options,
          const std::map<std::uint32_t, Error>& failures);

  // One result per ordinal, in that order.
  [[nodiscard]] std::vector<core::ActionResult> run(std::span<const std::uint32_t> ordinals);

 private:
  // Objects of one file system that must be durable before the next step.
  struct ToSync {
    std::uint64_t device = 0;
    const os::Handle* handle = nullptr;
    std::vector<Work*> works;  // that fail if this fails
    bool closed = false;       // the object's own handle is closed: only all can be synced together
  };

  void begin(std::uint32_t ordinal);
  [[nodiscard]] Status locate(Work& work);
  [[nodiscard]] Status compare_part(Work& work);
  [[nodiscard]] bool is_left(Work& work);
  void stage_all();
  void sync_staged();
  void commit_all();
  void sync_live();
  [[nodiscard]] core::ActionResult finish(Work& work);

  void decide_batches();
  void stage(Work& work);
  void commit(Work& work);
  [[nodiscard]] Status commit_checked(Work& work);
  [[nodiscard]] Result<bool> has_changed(Work& work);
  void sync_group(std::vector<ToSync>& group);
  void sync_by_device(std::vector<ToSync> all);
  [[nodiscard]] const core::Observation& observe(const model::Resource& resource, bool made);
  void describe_success(Work& work, core::ActionResult& result);
  void describe_change(const Work& work, core::ActionResult& result);

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Declared> declared_;
  const core::Plan& plan_;
  const WaveOptions& options_;
  const std::map<std::uint32_t, Error>& failures_;
  Sight sight_;
  Bench bench_;
  std::vector<Work> works_;
  std::unique_ptr<Observer> observer_;  // made after everything is live
  std::map<model::Reference, core::Observation> observed_;
};

// What a failed action says. Its digest finds an identical earlier failure.
[[nodiscard]] Digest digest_failure(const Error& error);

}  // namespace datum::resource
