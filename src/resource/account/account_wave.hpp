// The wave of one User or Group: the tools of the shadow package, one after the other, each with a
// fixed argument vector; then a look at the files, which alone says what happened. The tools lock
// and replace the files as a whole, so that one that dies leaves the old or the new ones. Blocks;
// belongs on a pool thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../action_wave.hpp"

namespace datum::resource {

class AccountWave final : public ActionWave {
 public:
  explicit AccountWave(WaveBasis basis);

  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;
  [[nodiscard]] std::int64_t act() override;
  [[nodiscard]] std::vector<core::ActionResult> finish() override;

 private:
  struct Work {
    const core::Action* action = nullptr;
    const model::Resource* resource = nullptr;  // null: it left
    std::optional<Error> error;
    std::string skipped;
    std::string output;    // of the tools, bounded
    bool began = false;    // a tool was started: something may have changed
    bool changed = false;  // one of them said that it did its work
    std::int64_t began_ns = 0;
  };

  [[nodiscard]] Status change(Work& work);
  [[nodiscard]] Status run_tools(Work& work);
  [[nodiscard]] Result<bool> is_gone(const Work& work);
  [[nodiscard]] Result<std::string> find_change(const Work& work);
  void describe(Work& work, core::ActionResult& result);
  void note_change(const Work& work, core::ActionResult& result);

  std::vector<Work> works_;
};

}  // namespace datum::resource
