// The paths of a manifest, arranged for the questions that concern several resources.
#include <algorithm>
#include <mutex>
#include <numeric>
#include <unordered_map>

#include "datum/model/reserved.hpp"
#include "datum/resource/observer.hpp"

namespace datum::resource {

namespace {

using Paths = std::unordered_map<SharedText, bool>;  // path → it is a target

// With a path all its ancestors stand there, so the first known one ends the way up.
void add_ancestors(Paths& paths, std::string_view path) {
  for (auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = path.rfind('/')) {
    path = path.substr(0, slash);
    if (!paths.emplace(path, false).second) return;
  }
}

void add_target(Paths& paths, const SharedText& path) {
  const auto [at, fresh] = paths.emplace(path, true);
  at->second = true;
  if (fresh) add_ancestors(paths, path);
}

}  // namespace

bool PathTable::contains(std::string_view path) const {
  const auto at = std::lower_bound(
      entries.begin(), entries.end(), path,
      [](const Entry& entry, std::string_view p) { return entry.path.view() < p; });
  return at != entries.end() && at->path == path;
}

PathTable make_path_table(const model::Manifest& manifest) {
  Paths paths;
  for (const auto& resource : manifest.resources) {
    if (resource->target.family == model::TargetFamily::path)
      add_target(paths, resource->target.name);
    for (const auto& path : model::provider_paths(*resource)) add_target(paths, path);
  }
  PathTable table;
  table.entries.reserve(paths.size());
  for (const auto& [path, is_target] : paths) table.entries.push_back({path, is_target});
  std::sort(table.entries.begin(), table.entries.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  table.by_name.resize(table.entries.size());
  std::iota(table.by_name.begin(), table.by_name.end(), 0U);
  std::sort(table.by_name.begin(), table.by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(table.entries[a].last_component(), a) <
           std::pair(table.entries[b].last_component(), b);
  });
  return table;
}

struct Declared::Lazy {
  std::once_flag once;
  PathTable paths;
};

Declared::Declared(model::ManifestPtr the_manifest,
                   const std::map<model::Target, core::Owned>& owned)
    : manifest(std::move(the_manifest)), lazy_(std::make_shared<Lazy>()) {
  owned_.reserve(owned.size());
  for (const auto& [target, what] : owned) owned_.emplace_back(target, what.left);
}

const PathTable& Declared::paths() const {
  std::call_once(lazy_->once, [this] { lazy_->paths = make_path_table(*manifest); });
  return lazy_->paths;
}

const core::Left* Declared::find_owned(const model::Target& target, std::size_t& hint) const {
  if (hint >= owned_.size() || owned_[hint].first != target) {
    const auto at =
        std::lower_bound(owned_.begin(), owned_.end(), target,
                         [](const auto& entry, const model::Target& t) { return entry.first < t; });
    hint = static_cast<std::size_t>(at - owned_.begin());
    if (at == owned_.end() || at->first != target) return nullptr;
  }
  return &owned_[hint++].second;
}

const Former* Declared::find_former(const model::Target& target) const {
  if (!former) return nullptr;
  const auto found = former->find(target);
  return found == former->end() ? nullptr : &found->second;
}

Declared make_declared(model::ManifestPtr manifest,
                       const std::map<model::Target, core::Owned>& owned) {
  return {std::move(manifest), owned};
}

}  // namespace datum::resource
