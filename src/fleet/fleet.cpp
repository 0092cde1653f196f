// What a loaded fleet tells about itself, and how findings are worded.
#include "datum/fleet/fleet.hpp"

#include <algorithm>
#include <array>

#include "datum/base/assert.hpp"
#include "documents.hpp"
#include "reader.hpp"

namespace datum::fleet {

std::string to_string(const Finding& finding) {
  auto text = yaml::to_string(finding.diagnostic);
  if (finding.hosts.empty()) return text;
  text.append(finding.hosts.size() == 1 ? "\n    host: " : "\n    hosts: ");
  for (std::size_t i = 0; i < finding.hosts.size(); ++i)
    text.append(i == 0 ? "" : ", ").append(finding.hosts[i]);
  return text;
}

Finding to_finding(const std::vector<std::string>& files, const Fault& fault) {
  const auto file = fault.at.file == kNone ? std::string() : files[fault.at.file];
  return {{file, fault.at.line, fault.at.column, fault.message, fault.hint}, {}};
}

void shorten(Findings& findings) {
  if (findings.size() <= kMaxFindings) return;
  const auto rest = findings.size() - kMaxFindings;
  findings.resize(kMaxFindings);
  findings.push_back({{"", 0, 0, std::to_string(rest) + " more are not listed", ""}, {}});
}

const Host* find_host(const Documents& documents, std::string_view name) {
  const auto at = std::lower_bound(
      documents.hosts.begin(), documents.hosts.end(), name,
      [](const Host& host, std::string_view wanted) { return host.name < wanted; });
  return at != documents.hosts.end() && at->name == name ? &*at : nullptr;
}

std::string place_text(const Documents& documents, const Place& at) {
  auto text = documents.files[at.file];
  if (at.line > 0) text.append(":").append(std::to_string(at.line));
  return text;
}

const std::string& folder_of(const Documents& documents, const Body& body) {
  return documents.layers[body.layer].folder;
}

Fleet::Fleet(std::unique_ptr<Documents> documents) : documents_(std::move(documents)) {}
Fleet::~Fleet() = default;

const std::string& Fleet::root() const {
  return documents_->root;
}

std::vector<std::string> Fleet::hosts() const {
  std::vector<std::string> names;
  names.reserve(documents_->hosts.size());
  for (const auto& host : documents_->hosts) names.push_back(host.name);
  return names;
}

bool Fleet::has_host(std::string_view name) const {
  return find_host(*documents_, name) != nullptr;
}

Labels Fleet::labels(std::string_view host) const {
  const auto* found = find_host(*documents_, host);
  DATUM_ASSERT(found != nullptr);
  return found->labels;
}

std::vector<LayerInfo> Fleet::layers() const {
  std::vector<LayerInfo> layers;
  for (const auto& layer : documents_->layers)
    layers.push_back({layer.name, layer.folder, layer.precedence, documents_->files[layer.at.file],
                      layer.at.line, layer.bodies});
  return layers;
}

std::size_t Fleet::resource_documents() const {
  return documents_->bodies.size();
}

}  // namespace datum::fleet
