// A saved plan: what `plan --out` writes and `reconcile --plan` holds a later pass to, whoever runs
// that. Lines of text, so that a person can read what was agreed to:
//   datum plan 1
//   root PATH            (hexadecimal)
//   manifest SHA256
//   plan SHA256          (of codec's bytes of the plan)
//   observed SHA256 REFERENCE    one for each observation that an action rests on, sorted
//   end
// Pure: whoever has the bytes of one hands them in.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "datum/base/error.hpp"
#include "datum/core/observation.hpp"
#include "datum/core/plan.hpp"
#include "datum/model/manifest.hpp"

namespace datum::program {

// A plan of 100,000 actions is about 10 MiB.
inline constexpr std::size_t kMaxSavedPlan = 64 * 1024 * 1024;

struct SavedPlan {
  std::string root;
  Digest manifest;
  Digest plan;
  std::map<model::Reference, Digest> observed;
};

[[nodiscard]] std::string saved_plan_text(const std::string& root, const model::Manifest& manifest,
                                          std::span<const core::Observation> observations,
                                          const core::Plan& plan);
// Untrusted. `corrupt` names the line, behind `name`; `limit_exceeded`.
[[nodiscard]] Result<SavedPlan> parse_saved_plan(std::string_view text, const std::string& name);

// `conflict`, naming what moved, unless this is the very plan that was saved.
[[nodiscard]] Status check_plan(const SavedPlan& saved, const std::string& root,
                                const model::Manifest& manifest,
                                std::span<const core::Observation> observations,
                                const core::Plan& plan);

}  // namespace datum::program
