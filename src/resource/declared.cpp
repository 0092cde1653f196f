// The paths of a manifest, arranged for the questions that concern several resources.
#include <algorithm>
#include <numeric>
#include <set>

#include "datum/model/reserved.hpp"
#include "datum/resource/observer.hpp"

namespace datum::resource {

namespace {

std::string_view last_component(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

void add_ancestors(std::set<std::string>& paths, std::string_view path) {
  for (auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/')) {
    path = path.substr(0, slash);
    if (!paths.insert(std::string(path)).second) return;
  }
}

}  // namespace

Declared make_declared(model::ManifestPtr manifest,
                       const std::map<model::Target, core::Owned>& owned) {
  Declared declared;
  std::set<std::string> targets;
  for (const auto& resource : manifest->resources) {
    if (resource->target.family == model::TargetFamily::path) targets.insert(resource->target.name);
    for (auto& path : model::provider_paths(*resource)) targets.insert(std::move(path));
  }
  std::set<std::string> ancestors;
  for (const auto& path : targets) add_ancestors(ancestors, path);
  std::set_union(targets.begin(), targets.end(), ancestors.begin(), ancestors.end(),
                 std::back_inserter(declared.paths));
  declared.is_target.reserve(declared.paths.size());
  for (const auto& path : declared.paths) declared.is_target.push_back(targets.contains(path));
  declared.by_name.resize(declared.paths.size());
  std::iota(declared.by_name.begin(), declared.by_name.end(), 0U);
  std::sort(declared.by_name.begin(), declared.by_name.end(),
            [&](std::uint32_t a, std::uint32_t b) {
              return std::pair(last_component(declared.paths[a]), a) <
                     std::pair(last_component(declared.paths[b]), b);
            });
  for (const auto& [target, what] : owned) declared.owned.emplace(target, what.left);
  declared.manifest = std::move(manifest);
  return declared;
}

}  // namespace datum::resource
