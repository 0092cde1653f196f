// The resource type Timezone: the link /etc/localtime (localtime(5)), and the name in /etc/timezone
// where the distribution has that file. The link is what is owned; programs that run read it when
// they next ask for the local time.
#pragma once

#include <string>
#include <string_view>

#include "../provider.hpp"

namespace datum::resource {

class TimezoneProvider final : public Provider {
 public:
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  // Never asked for: a machine without a zone does not exist.
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// "Europe/Berlin" of "/usr/share/zoneinfo/Europe/Berlin" or "../usr/share/zoneinfo/Europe/Berlin";
// empty for any other link.
[[nodiscard]] std::string_view zone_of_link(std::string_view target);

}  // namespace datum::resource
