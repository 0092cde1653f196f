// The text differences of Files whose content drifted, for `datum diff`.
#pragma once

#include <span>
#include <string>

#include "datum/core/observation.hpp"
#include "datum/model/manifest.hpp"
#include "datum/resource/observer.hpp"

namespace datum::program {

// A unified diff for each file that is text on both sides and neither sensitive nor larger than
// text::kMaxDiffBytes; sizes and digests for others. What cannot be read is said.
[[nodiscard]] std::string content_differences(const resource::Machine& machine,
                                              const model::Manifest& manifest,
                                              std::span<const core::Observation> observations);

}  // namespace datum::program
