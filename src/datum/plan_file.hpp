// A saved plan: what `plan --out` writes and `reconcile --plan` holds a later pass to. Lines of
// text, so that a person can read what was agreed to:
//   datum plan 1
//   root PATH            (hexadecimal)
//   manifest SHA256
//   plan SHA256          (of codec's bytes of the plan)
//   observed SHA256 REFERENCE    one for each observation that an action rests on, sorted
//   end
#pragma once

#include <map>
#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/core/observation.hpp"
#include "datum/core/plan.hpp"
#include "datum/model/manifest.hpp"

namespace datum::program {

struct SavedPlan {
  std::string root;
  Digest manifest;
  Digest plan;
  std::map<model::Reference, Digest> observed;
};

// Written beside and renamed, synced. An existing file is replaced.
[[nodiscard]] Status write_plan_file(const std::string& path, const std::string& root,
                                     const model::Manifest& manifest,
                                     std::span<const core::Observation> observations,
                                     const core::Plan& plan);
// `corrupt` names the line.
[[nodiscard]] Result<SavedPlan> read_plan_file(const std::string& path);

// `conflict`, naming what moved, unless this is the very plan that was saved.
[[nodiscard]] Status check_plan(const SavedPlan& saved, const std::string& root,
                                const model::Manifest& manifest,
                                std::span<const core::Observation> observations,
                                const core::Plan& plan);

}  // namespace datum::program
