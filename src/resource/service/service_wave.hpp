// The wave of one Service: unit files first, then the job, each asked for only where the unit,
// looked at once more, still differs in a field that the plan names. Every step may be repeated.
// Blocks; belongs on a pool thread. Durable are the manager's links, by one sync of their file
// system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../action_wave.hpp"

namespace datum::resource {

class ServiceWave final : public ActionWave {
 public:
  explicit ServiceWave(WaveBasis basis);

  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;
  [[nodiscard]] std::int64_t act() override;
  [[nodiscard]] std::vector<core::ActionResult> finish() override;

 private:
  struct Work {
    const core::Action* action = nullptr;
    const model::Resource* resource = nullptr;
    std::optional<Error> error;
    std::string still_running;
    std::string invocation;  // of a unit that was started and has to live on
    std::int64_t began_ns = 0;
  };

  void work_on(Work& work);
  [[nodiscard]] Status change(Work& work);
  [[nodiscard]] Status change_files_before(Work& work, const os::Unit& unit);
  [[nodiscard]] Status change_activity(Work& work, const os::Unit& unit);
  [[nodiscard]] Status mask(Work& work);
  [[nodiscard]] Status change_file(const Work& work, os::UnitFileChange change);
  [[nodiscard]] Status run_job(Work& work, os::UnitJob job);
  [[nodiscard]] Result<os::Unit> look(const std::string& name);
  [[nodiscard]] Result<os::Unit> look_current(Work& work);
  [[nodiscard]] Status sync_links();
  [[nodiscard]] Status check_settled(const Work& work);
  void describe(Work& work, core::ActionResult& result);

  std::vector<Work> works_;
};

// Reads the unit's files again where the manager says that they changed, or does not know the unit
// yet, and looks at it after that.
[[nodiscard]] Result<os::Unit> bring_up_to_date(os::Units& units, const std::string& name);

}  // namespace datum::resource
