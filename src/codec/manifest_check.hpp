// What a manifest read from a file must fulfil beyond its shape, so that nobody behind has to doubt
// it: fields and values by the descriptor table, resolved references without a cycle, one resource
// a target. Says what is wrong in words; the code is always `corrupt`. Pure.
#pragma once

#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::codec {

// One field of a resource whose reference is read; `last` is the field before it (zero number for
// the first): numbers ascend.
[[nodiscard]] Status check_field(const model::TypeDescriptor& type, model::Field last,
                                 const model::FieldValue& field);
// The rest of a resource, its fields already checked one by one; before `finish_resource`.
[[nodiscard]] Status check_resource(const model::Resource& resource);
// What `finish_resource` derived. (A path is one of the fields, so it is already checked.)
[[nodiscard]] Status check_target(const model::Target& target);
// A finished manifest: the parts that concern several resources.
[[nodiscard]] Status check_graph(const model::Manifest& manifest);

}  // namespace datum::codec
