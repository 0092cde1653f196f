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

// The package that brings the service, whose release is kept before it is upgraded.
[[nodiscard]] bool is_service_package(const model::Target& target);
// What the installed program says of its version in its own file ("0.2.0"), where that is another
// one than the database's: a rollback puts files back and leaves the database alone. Nothing where
// both agree, and where the file says nothing.
[[nodiscard]] std::optional<std::string> find_other_release(const Machine& machine,
                                                            const model::Resource& resource,
                                                            const os::InstalledPackage& package);
// "1:0.2.0-3" → "0.2.0": the version of what is in the package, without epoch and revision.
[[nodiscard]] std::string_view release_of(std::string_view package_version);

}  // namespace datum::resource
