// The wave of one Mount: its line of fstab by the steps of a wave of files, and mount(8) or
// umount(8) as tools with a life of their own. The line comes before what needs it and goes after
// what is done with it, so that a death in between leaves a line too many rather than a mount that
// no boot brings back. Blocks; belongs on a pool thread.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "../action_wave.hpp"

namespace datum::resource {

class MountWave final : public HalvesWave {
 public:
  // Mounts share no wave: there is one ordinal.
  explicit MountWave(WaveBasis basis) : HalvesWave(std::move(basis)) {}

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
  void judge(core::ActionResult& result);

  bool begun_ = false;
  bool edited_error_ = false;
  std::deque<ToolStep> steps_;
  bool stepped_ = false;  // one succeeded
  std::string skipped_;
  std::string output_;
  std::int64_t began_ns_ = 0;
};

}  // namespace datum::resource
