// Rules that only one resource type has about what its fields mean together. Private to the module;
// pure.
#pragma once

#include <functional>
#include <string>

#include "datum/model/manifest.hpp"

namespace datum::fleet {

// Where, what is wrong, what to do.
using KindFault = std::function<void(model::Field, std::string, std::string)>;

// Of Hostname, Timezone, AuthorizedKey, Setting, Mount and Timer; others have none here. All
// required fields are there.
void check_kind(const model::Resource& resource, const KindFault& fault);

}  // namespace datum::fleet
