// The file of a saved plan (program/saved_plan): what `plan --out` writes and `reconcile --plan`
// reads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "datum/program/mapped_file.hpp"
#include "datum/program/saved_plan.hpp"

namespace datum::program {

struct PlanFile {
  std::shared_ptr<const MappedFile> file;
  SavedPlan plan;
};

// Written beside and renamed, synced. An existing file is replaced.
[[nodiscard]] Status write_plan_file(const std::string& path, std::string_view text);
// The errors of parse_saved_plan, which name the path.
[[nodiscard]] Result<PlanFile> read_plan_file(const std::string& path);

}  // namespace datum::program
