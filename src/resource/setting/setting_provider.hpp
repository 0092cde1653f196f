// The resource type Setting: one value in a file of lines that is somebody else's. The file stays
// what it is but for the bytes of that value; it is never created.
#pragma once

#include <optional>
#include <string>

#include "../provider.hpp"

namespace datum::resource {

class SettingProvider final : public Provider {
 public:
  [[nodiscard]] bool shares_file() const override { return true; }
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// What gives a value now, for who keeps or prints it.
struct FoundSetting {
  std::optional<std::string> value;  // nothing: nothing gives it, or not all agree
  bool hidden = false;               // others may not read the file
};
// Errors as for looking at the file; `not_found` where there is none.
[[nodiscard]] Result<FoundSetting> find_setting_value(Sight& sight, const model::Target& target);

// A value that left the declaration.
[[nodiscard]] Status look_at_leaving_setting(Sight& sight, const core::Owned& owned,
                                             core::LeavingObservation& seen);

}  // namespace datum::resource
