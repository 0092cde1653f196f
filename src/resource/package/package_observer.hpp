// A Package as the package manager's own database tells it. Only reads. Internal to resource.
#pragma once

#include "../sight.hpp"

namespace datum::resource {

// Why packages are not managed here; nothing if they are.
[[nodiscard]] std::optional<std::string> find_package_absence(const Machine& machine);
void observe_package(Sight& sight, const model::Resource& resource, core::Observation& seen);
void observe_leaving_package(Sight& sight, core::LeavingObservation& seen);

// Whether that version is what the declaration wants; any is, where it wants none.
[[nodiscard]] bool has_wanted_version(const model::Resource& resource,
                                      const os::InstalledPackage& package);

}  // namespace datum::resource
