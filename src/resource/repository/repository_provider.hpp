// A Repository of apt: one deb822 file, the key that signs it beside, and what pins its priority.
// The first is the thing that is staged, renamed and owned; the others follow it.
#pragma once

#include "../provider.hpp"

namespace datum::resource {

class RepositoryProvider final : public Provider {
 public:
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  // Makes the folder where it is missing.
  [[nodiscard]] Result<os::Location> locate(Sight& sight, std::string_view place,
                                            const Work& work) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

}  // namespace datum::resource
