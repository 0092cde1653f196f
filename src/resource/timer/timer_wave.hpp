// The wave of one Timer: its file by the steps of a wave of files, then the service manager reads
// it, and the unit is enabled and started; before its file goes it is stopped and disabled. Blocks;
// belongs on a pool thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datum/resource/wave.hpp"

namespace datum::resource {

class TimerWave final : public Wave {
 public:
  // Timers share no wave: there is one ordinal.
  TimerWave(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared,
            std::shared_ptr<const core::Plan> plan, const std::vector<std::uint32_t>& ordinals,
            WaveOptions options);

  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;
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
  void note_remains(bool file_written, core::ActionResult& result);
  void crash_point(const char* name) const;

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Declared> declared_;
  WaveOptions options_;
  const core::Action& action_;
  const model::Resource* resource_;  // null: it left the declaration
  FileWave file_;
  std::optional<core::ActionResult> edited_;
  bool acted_ = false;  // the manager was asked for something
  std::optional<Error> error_;
  std::string still_running_;
  std::shared_ptr<const core::Plan> plan_;
};

}  // namespace datum::resource
