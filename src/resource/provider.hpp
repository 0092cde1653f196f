// What every resource type must be able to do. A type that leaves one out does not compile: there
// is one path through observation and apply, and no type may be missing from half of it. Providers
// have no state; the table in providers.cpp lists them all.
#pragma once

#include "sight.hpp"
#include "work.hpp"

namespace datum::resource {

class Provider {
 public:
  virtual ~Provider() = default;

  // Fills in what was seen: found, drifts, obstacle, content, … or a reason why it is unknown. The
  // caller has set reference and target, and computes condition and digest from the rest.
  virtual void observe(Sight& sight, const model::Resource& resource,
                       core::Observation& seen) const = 0;
  // Whether the file holds other targets too: which object it is says nothing of this one. Before
  // anything is staged the target itself is looked at again, and `work.before` is the file then.
  [[nodiscard]] virtual bool shares_file() const { return false; }
  // Where the thing of the action lies. A provider that keeps folders of its own makes them.
  [[nodiscard]] virtual Result<os::Location> locate(Sight& sight, std::string_view place,
                                                    const Work& work) const;
  // For create, update and replace: makes ready what can be made ready without touching the target,
  // beside it under the action's temp name. What it leaves in `work` is discarded on failure.
  [[nodiscard]] virtual Status stage(Bench& bench, Work& work) const = 0;
  // Makes it live. The target was just seen to be the observed one. `work.live` tells whether
  // anything of it was changed, also where this fails.
  [[nodiscard]] virtual Status commit(Bench& bench, Work& work) const = 0;
  // For what is declared absent or left the declaration: removes the observed thing and only it.
  [[nodiscard]] virtual Status remove(Bench& bench, Work& work) const = 0;
};

// nullptr for a type that has no provider here.
[[nodiscard]] const Provider* find_provider(model::ResourceType type);

}  // namespace datum::resource
