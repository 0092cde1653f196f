// The resource type Timer: a timer unit of the service manager, whose file below
// /etc/systemd/system is Datum's as a whole, and which is enabled and active. It starts a unit that
// something else brings; no command is part of it. The provider looks, and makes the file; the unit
// is the wave's (timer_wave.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../provider.hpp"

namespace datum::resource {

class TimerProvider final : public Provider {
 public:
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  [[nodiscard]] Result<os::Location> locate(Sight& sight, std::string_view place,
                                            const Work& work) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// The whole file.
[[nodiscard]] std::string write_timer(const model::Resource& timer);
// The fields of the Timer `name` whose file that is; nothing for a file that no Timer has.
[[nodiscard]] std::optional<std::vector<model::FieldValue>> read_timer(std::string_view name,
                                                                       std::string_view text);

}  // namespace datum::resource
