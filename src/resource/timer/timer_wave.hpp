// The wave of one Timer: its file by the steps of a wave of files, then the service manager reads
// it, and the unit is enabled and started; before its file goes it is stopped and disabled. Blocks;
// belongs on a pool thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../action_wave.hpp"

namespace datum::resource {

class TimerWave final : public HalvesWave {
 public:
  // Timers share no wave: there is one ordinal.
  explicit TimerWave(WaveBasis basis) : HalvesWave(std::move(basis)) {}

  [[nodiscard]] std::int64_t act() override;
  [[nodiscard]] std::vector<core::ActionResult> finish() override;

 private:
  [[nodiscard]] bool removes() const;
  [[nodiscard]] bool has_change(std::string_view field) const;
  [[nodiscard]] Status change();
  [[nodiscard]] Status take_down();
  [[nodiscard]] Status bring_up();
  [[nodiscard]] Result<bool> edit();
  [[nodiscard]] Result<os::Unit> look();
  [[nodiscard]] Status change_links(os::UnitFileChange change);
  [[nodiscard]] Status run_job(os::UnitJob job);
  void judge(core::ActionResult& result);
};

}  // namespace datum::resource
