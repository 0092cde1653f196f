// The wave of one Mount: its line of fstab by the steps of a wave of files, and mount(8) or
// umount(8) as tools with a life of their own. The line comes before what needs it and goes after
// what is done with it, so that a death in between leaves a line too many rather than a mount that
// no boot brings back. Blocks; belongs on a pool thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "datum/resource/wave.hpp"

namespace datum::resource {

class MountWave final : public Wave {
 public:
  // Mounts share no wave: there is one ordinal.
  MountWave(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared,
            std::shared_ptr<const core::Plan> plan, const std::vector<std::uint32_t>& ordinals,
            WaveOptions options);

  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;
  [[nodiscard]] bool uses_tools() const override { return true; }
  [[nodiscard]] std::optional<ToolStep> next_step() override;
  void end_step(ToolStepEnd end) override;
  void cancel(std::string reason) override;
  [[nodiscard]] std::int64_t act() override;
  [[nodiscard]] std::vector<core::ActionResult> finish() override;

 private:
  void begin();
  void edit();
  [[nodiscard]] Status decide_steps();
  [[nodiscard]] ToolStep step(const char* tool, std::vector<std::string> arguments) const;
  [[nodiscard]] bool going() const { return !error_ && skipped_.empty(); }
  [[nodiscard]] std::int64_t now_ns() const;
  void judge(core::ActionResult& result);
  void note_remains(bool line_written, core::ActionResult& result);

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Declared> declared_;
  WaveOptions options_;
  const core::Action& action_;
  const model::Resource* resource_;  // null: it left the declaration
  FileWave file_;
  bool begun_ = false;
  std::optional<core::ActionResult> edited_;
  bool edited_error_ = false;
  std::deque<ToolStep> steps_;
  bool acted_ = false;    // a tool was begun
  bool stepped_ = false;  // one succeeded
  std::optional<Error> error_;
  std::string skipped_;
  std::string still_running_;
  std::string output_;
  std::int64_t began_ns_ = 0;
  std::shared_ptr<const core::Plan> plan_;
};

}  // namespace datum::resource
