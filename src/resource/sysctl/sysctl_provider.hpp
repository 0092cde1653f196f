// The resource type Sysctl: a kernel parameter that has two places, the running kernel and one
// drop-in file for the next boot. The drop-in is the thing that is owned and renamed into place
// like any file; the live value follows it.
#pragma once

#include "../provider.hpp"

namespace datum::resource {

class SysctlProvider final : public Provider {
 public:
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  // Makes /etc/sysctl.d where it is missing.
  [[nodiscard]] Result<os::Location> locate(Sight& sight, std::string_view place,
                                            const Work& work) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// Nobody but the trusted user can write it.
[[nodiscard]] bool is_private(const Sight& sight, const os::FileStat& stat);
// Whether the drop-in sets the declared value.
[[nodiscard]] bool says(const DropIn& found, const model::Resource& sysctl);
// What a removal of the drop-in does to the running kernel, in words for the plan: what the live
// value becomes, or why it stays.
[[nodiscard]] std::string describe_removal(Sight& sight, const os::Location& drop_in,
                                           std::string_view key);

}  // namespace datum::resource
