// The resource type Symlink.
#pragma once

#include "../provider.hpp"

namespace datum::resource {

class SymlinkProvider final : public Provider {
 public:
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

}  // namespace datum::resource
