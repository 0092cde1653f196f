// Two fleets side by side, host by host, and from files to hosts.
#include "datum/fleet/affected.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "datum/base/assert.hpp"
#include "datum/model/substitution.hpp"
#include "resolver.hpp"

namespace datum::fleet {
namespace {

using model::Resource;
using model::ResourcePtr;

std::vector<std::string> changed_fields(const Resource& before, const Resource& after) {
  std::vector<std::string> names;
  const auto& type = model::describe(after.reference.type);
  for (const auto& field : type.fields) {
    const auto* a = before.find(field.id);
    const auto* b = after.find(field.id);
    if ((a == nullptr) != (b == nullptr) || (a && *a != *b)) names.emplace_back(field.name);
  }
  if (before.requirements != after.requirements) names.emplace_back("requires");
  if (before.restart_on != after.restart_on) names.emplace_back("restartOn");
  if (before.reload_on != after.reload_on) names.emplace_back("reloadOn");
  if (before.observe_only != after.observe_only) names.emplace_back("policy");
  if (before.protect != after.protect) names.emplace_back("protect");
  return names;
}

void compare(const std::vector<ResourcePtr>& before, const std::vector<ResourcePtr>& after,
             std::vector<ResourceChange>& changes) {
  auto old_one = before.begin();
  auto new_one = after.begin();
  while (old_one != before.end() || new_one != after.end()) {
    const bool only_old = new_one == after.end() || (old_one != before.end() &&
                                                     (*old_one)->reference < (*new_one)->reference);
    const bool only_new =
        !only_old && (old_one == before.end() || (*new_one)->reference < (*old_one)->reference);
    if (only_old) {
      changes.push_back({(*old_one++)->reference, Change::removed, {}, false});
    } else if (only_new) {
      changes.push_back({(*new_one++)->reference, Change::added, {}, false});
    } else {
      const auto& a = **old_one++;
      const auto& b = **new_one++;
      if (a.digest != b.digest)
        changes.push_back({b.reference, Change::changed, changed_fields(a, b),
                           a.observe_only && !b.observe_only});
    }
  }
}

void add_errors(const Resolved& resolved, std::string_view which,
                std::map<std::string, Finding>& errors) {
  for (const auto& finding : resolved.errors) {
    auto named = finding;
    named.diagnostic.message.insert(0, std::string(which) + ": ");
    auto [at, added] = errors.try_emplace(to_string(Finding{named.diagnostic, {}}), named);
    if (!added)
      at->second.hosts.insert(at->second.hosts.end(), finding.hosts.begin(), finding.hosts.end());
  }
}

Resolved resolve_if_present(Resolver& resolver, const FleetPtr& fleet, const std::string& host,
                            const Profile& profile) {
  if (fleet->has_host(host)) return resolver.resolve(host, profile);
  return {};
}

std::vector<std::string> all_hosts(const FleetPtr& before, const FleetPtr& after) {
  // In the order of groups, so that hosts of equal layers follow one another.
  std::vector<std::string> names;
  for (const auto& matched : match_hosts(after->documents(), after->hosts(), nullptr))
    names.push_back(matched.host->name);
  for (auto& name : before->hosts())
    if (!after->has_host(name)) names.push_back(std::move(name));
  return names;
}

// Which of the wanted files hosts of one set rest on.
class Toucher {
 public:
  Toucher(const Documents& documents, const std::vector<std::string>& files)
      : documents_(documents) {
    for (const auto& file : files) hosts_[file];
    std::set<std::string> read(documents.files.begin(), documents.files.end());
    for (const auto& [file, hosts] : hosts_)
      if (read.contains(file)) known_.insert(file);
  }

  void visit_set(const SetResolver& sets, const std::vector<LayerId>& layers) {
    shared_.clear();
    varying_.clear();
    shared_.insert("datum.yaml");
    for (const auto layer : layers)
      shared_.insert(documents_.files[documents_.layers[layer].at.file]);
    for (const auto* merged : sets.members()) {
      for (const auto id : merged->bodies)
        shared_.insert(documents_.files[documents_.bodies[id].at.file]);
      for (const auto& [field, part] : merged->winners) visit_part(*merged, *part);
    }
  }

  void visit_host(const Matched& matched) {
    auto touched = shared_;
    touched.insert(documents_.files[matched.host->at.file]);
    const LabelView labels(matched.host->labels, matched.profile);
    for (const auto& [folder, part] : varying_) add_varying(*folder, *part, labels, touched);
    for (auto& [file, hosts] : hosts_)
      if (touched.contains(file)) hosts.insert(matched.host->name);
  }

  std::vector<Touched> finish(const std::vector<std::string>& files) {
    std::vector<Touched> all;
    for (const auto& file : files) {
      const auto& hosts = hosts_.at(file);
      all.push_back({file, known_.contains(file) || !hosts.empty(), {hosts.begin(), hosts.end()}});
    }
    return all;
  }

 private:
  void visit_part(const Merged& merged, const Part& part) {
    const bool file = part.field == model::Field::signing_key ||
                      (part.field == model::Field::content &&
                       (part.key == ContentKey::source || part.key == ContentKey::template_file));
    if (!file) return;
    const auto& folder = folder_of(documents_, merged.body_of(documents_, part));
    if (part.varies)
      varying_.emplace_back(&folder, &part);
    else
      add_paths(folder, part, std::get<std::string>(part.written), shared_);
  }

  // Beside the layer's folder a key may be meant from the root.
  static void add_paths(const std::string& folder, const Part& part, const std::string& written,
                        std::set<std::string>& touched) {
    if (auto path = join_path(folder, written)) touched.insert(std::move(*path));
    if (part.field != model::Field::signing_key) return;
    if (auto path = join_path("", written)) touched.insert(std::move(*path));
  }

  static void add_varying(const std::string& folder, const Part& part, const LabelView& labels,
                          std::set<std::string>& touched) {
    const auto parsed = model::parse_substitutions(std::get<std::string>(part.written));
    std::string written;
    for (const auto& piece : std::get<model::Pieces>(parsed)) {
      const auto* value = piece.kind == model::PieceKind::host    ? labels.find("datum/host")
                          : piece.kind == model::PieceKind::label ? labels.find(piece.text)
                                                                  : &piece.text;
      if (!value) return;
      written.append(*value);
    }
    add_paths(folder, part, written, touched);
  }

  const Documents& documents_;
  std::map<std::string, std::set<std::string>> hosts_;
  std::set<std::string> known_;
  std::set<std::string> shared_;
  std::vector<std::pair<const std::string*, const Part*>> varying_;
};

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::added:
      return "added";
    case Change::removed:
      return "removed";
    case Change::changed:
      return "changed";
  }
  DATUM_ASSERT(false);
  return {};
}

Affected affected(const FleetPtr& before, const FleetPtr& after, const Profile& profile) {
  Affected result;
  Resolver old_resolver(before);
  Resolver new_resolver(after);
  std::map<std::string, Finding> errors;
  for (const auto& host : all_hosts(before, after)) {
    const auto was = resolve_if_present(old_resolver, before, host, profile);
    const auto is = resolve_if_present(new_resolver, after, host, profile);
    add_errors(was, "before", errors);
    add_errors(is, "after", errors);
    if (!was.errors.empty() || !is.errors.empty()) continue;
    ++result.compared;
    const std::vector<ResourcePtr> none;
    HostChange change;
    change.host = host;
    if (was.manifest) change.before = was.manifest->digest;
    if (is.manifest) change.after = is.manifest->digest;
    if (was.manifest && is.manifest && change.before == change.after) continue;
    change.change = !was.manifest  ? Change::added
                    : !is.manifest ? Change::removed
                                   : Change::changed;
    compare(was.manifest ? was.manifest->resources : none,
            is.manifest ? is.manifest->resources : none, change.resources);
    result.hosts.push_back(std::move(change));
  }
  std::sort(result.hosts.begin(), result.hosts.end(),
            [](const HostChange& a, const HostChange& b) { return a.host < b.host; });
  for (auto& [text, finding] : errors) result.errors.push_back(std::move(finding));
  return result;
}

std::vector<Touched> touched_hosts(const FleetPtr& fleet, const std::vector<std::string>& files,
                                   const Profile& profile) {
  const auto& documents = fleet->documents();
  SetResolver sets(documents);
  Toucher toucher(documents, files);
  const Matched* entered = nullptr;
  const auto all =
      match_hosts(documents, fleet->hosts(), [&](std::string_view) { return profile; });
  for (const auto& matched : all) {
    if (!entered || entered->layers != matched.layers) {
      sets.enter(matched.layers);
      toucher.visit_set(sets, matched.layers);
      entered = &matched;
    }
    toucher.visit_host(matched);
  }
  return toucher.finish(files);
}

}  // namespace datum::fleet
