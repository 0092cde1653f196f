// What every resource type must be able to do. A type that leaves one out does not compile: there
// is one path through observation and apply, and no type may be missing from half of it. Providers
// have no state; the table in providers.cpp lists them all.
#pragma once

#include "sight.hpp"

namespace datum::resource {

class Provider {
 public:
  virtual ~Provider() = default;

  // Fills in what was seen: found, drifts, obstacle, content, … or a reason why it is unknown. The
  // caller has set reference and target, and computes condition and digest from the rest.
  virtual void observe(Sight& sight, const model::Resource& resource,
                       core::Observation& seen) const = 0;
};

// nullptr for a type that has no provider here.
[[nodiscard]] const Provider* find_provider(model::ResourceType type);

}  // namespace datum::resource
