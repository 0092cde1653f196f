// Where the documents of a manifest stand, as a blob that a pass names in its provenance: so that
// one can say years later which lines asked for what was done. Not part of any manifest's digest.
#pragma once

#include <map>
#include <string>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::codec {

// Equal origins give equal bytes. Empty where no resource has an origin. Any thread.
[[nodiscard]] Bytes encode_documents(const model::Manifest& manifest);

// Reference ("File[motd]") → "base/motd.yaml:3, web/motd.yaml:1", lowest layer first. `corrupt`:
// not such a list. Any thread.
[[nodiscard]] Result<std::map<std::string, std::string>> decode_documents(ByteView bytes);

}  // namespace datum::codec
