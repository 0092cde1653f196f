// Looking at a Service. Internal to resource.
#pragma once

#include "../sight.hpp"

namespace datum::resource {

// Why no Service can be managed here; nothing if they can.
[[nodiscard]] std::optional<std::string> find_unit_absence(const Machine& machine);
// Fills in what was seen, as a provider's `observe` does.
void observe_service(Sight& sight, const model::Resource& resource, core::Observation& seen);
// A unit that left the declaration.
void observe_leaving_unit(Sight& sight, core::LeavingObservation& seen);

}  // namespace datum::resource
