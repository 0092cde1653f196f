// The resource type Mount: a line of /etc/fstab and whether it is mounted. The provider looks at
// both and changes the file alone; what mounts and unmounts is the wave's (mount_wave.hpp).
#pragma once

#include "../provider.hpp"

namespace datum::resource {

class MountProvider final : public Provider {
 public:
  [[nodiscard]] bool shares_file() const override { return true; }
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// A mount that left the declaration: its line. What is mounted stays so.
[[nodiscard]] Status look_at_leaving_mount(Sight& sight, core::LeavingObservation& seen);

}  // namespace datum::resource
