#include "sim_fleet.hpp"

#include <algorithm>
#include <array>

#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::simulation {

namespace {

constexpr std::array<const char*, 4> kFileFolders{"/etc/a", "/etc/a/b", "/srv/c", "/etc"};
constexpr int kFiles = 12;
constexpr int kLinks = 3;

model::ResourcePtr make_resource(model::ResourceType type, const std::string& path,
                                 std::vector<model::FieldValue> fields) {
  auto resource = std::make_shared<model::Resource>();
  auto name = path.substr(1);
  std::replace(name.begin(), name.end(), '/', '-');
  resource->reference = {type, name};
  resource->fields = std::move(fields);
  resource->fields.push_back({model::Field::path, path});
  model::finish_resource(*resource);
  return resource;
}

std::string file_path(int number) {
  return std::string(kFileFolders[static_cast<std::size_t>(number) % kFileFolders.size()]) +
         "/file" + std::to_string(number);
}

model::FieldValue content_of(std::string text) {
  model::Content content;
  content.size = text.size();
  content.has_bytes = true;
  content.digest = crypto::sha256(as_bytes(text));
  content.bytes = std::move(text);
  return {model::Field::content, std::move(content)};
}

model::ManifestPtr finish(std::shared_ptr<model::Manifest> manifest) {
  manifest->host = "sim";
  const auto finished = model::finish_manifest(*manifest);
  DATUM_ASSERT(finished.has_value());
  return manifest;
}

model::ResourcePtr draw_file(Site& site, int number, const std::string& version) {
  if (site.chance(8))
    return make_resource(model::ResourceType::file, file_path(number),
                         {{model::Field::state, std::string("absent")}});
  std::vector<model::FieldValue> fields{
      content_of("file " + std::to_string(number) + " version " + version + "\n"),
      {model::Field::mode, std::string(site.chance(50) ? "0644" : "0600")}};
  if (site.chance(10)) fields.push_back({model::Field::replace, std::string("inPlace")});
  return make_resource(model::ResourceType::file, file_path(number), std::move(fields));
}

// References of those of its files that the manifest declares.
std::vector<model::Reference> causes_of(const model::Manifest& manifest, const std::string& unit) {
  std::vector<model::Reference> causes;
  const auto paths = paths_read_by(unit);
  for (const auto& resource : manifest.resources)
    if (std::find(paths.begin(), paths.end(), resource->target.name.str()) != paths.end())
      causes.push_back(resource->reference);
  std::sort(causes.begin(), causes.end());
  return causes;
}

// One that reloads, one that is restarted; now and then stopped, not enabled, or not declared.
model::ResourcePtr draw_service(Site& site, const model::Manifest& manifest,
                                const std::string& unit) {
  auto resource = std::make_shared<model::Resource>();
  resource->reference = {model::ResourceType::service, unit.substr(0, unit.find('.'))};
  resource->fields = {{model::Field::state, std::string(site.chance(90) ? "running" : "stopped")},
                      {model::Field::enabled, site.chance(80)},
                      {model::Field::settle, std::string("100ms")}};
  auto& causes = unit == "app.service" ? resource->reload_on : resource->restart_on;
  causes = causes_of(manifest, unit);
  resource->observe_only = site.chance(5);
  model::finish_resource(*resource);
  return resource;
}

std::string unit_difference(Site& site, const model::Resource& service) {
  const auto& unit = site.units.at(service.target.name.str());
  if (service.observe_only) return {};
  if (unit.runs != (service.text(model::Field::state) == "running"))
    return unit.id + (unit.runs ? " runs" : " does not run");
  const bool enabled = unit.file_state == "enabled";
  if (enabled != service.flag(model::Field::enabled)) return unit.id + " is " + unit.file_state;
  return {};
}

std::string difference_of(Site& site, const model::Resource& resource) {
  if (resource.reference.type == model::ResourceType::service)
    return unit_difference(site, resource);
  const auto& path = resource.target.name;
  const auto stat = site.files.find_stat(path);
  if (resource.absent()) return stat ? path + " is there" : "";
  if (!stat) return path + " is missing";
  if (resource.flag(model::Field::purge) && site.files.find_stat(path + "/stray"))
    return path + " has an undeclared entry";
  const auto mode = resource.text(model::Field::mode);
  if (!mode.empty() && model::mode_bits(mode) != stat->mode) return path + " has another mode";
  const auto* content = resource.content();
  if (content != nullptr && site.files.find_content(path) != content->bytes)
    return path + " has other content";
  const bool link = resource.reference.type == model::ResourceType::symlink;
  if (link && site.files.find_target(path) != resource.text(model::Field::target))
    return path + " leads elsewhere";
  return {};
}

}  // namespace

model::ManifestPtr draw_manifest(Site& site) {
  auto manifest = std::make_shared<model::Manifest>();
  const auto version = std::to_string(site.draw(4));
  for (const std::string folder : {"/etc/a", "/etc/a/b", "/srv/c"}) {
    std::vector<model::FieldValue> fields{
        {model::Field::mode, std::string(site.chance(80) ? "0755" : "0750")}};
    if (site.chance(30) && folder == "/srv/c") fields.push_back({model::Field::purge, true});
    manifest->resources.push_back(
        make_resource(model::ResourceType::directory, folder, std::move(fields)));
  }
  for (int number = 0; number < kFiles; ++number)
    if (!site.chance(25)) manifest->resources.push_back(draw_file(site, number, version));
  for (int number = 0; number < kLinks; ++number) {
    if (site.chance(30)) continue;
    manifest->resources.push_back(
        make_resource(model::ResourceType::symlink, "/srv/c/link" + std::to_string(number),
                      {{model::Field::target, "f" + std::to_string(number) + "-" + version}}));
  }
  for (const auto& unit : unit_names())
    if (site.chance(85)) manifest->resources.push_back(draw_service(site, *manifest, unit));
  return finish(std::move(manifest));
}

std::vector<std::string> unit_names() {
  return {"app.service", "web.service"};
}

std::vector<std::string> paths_read_by(const std::string& unit) {
  std::vector<std::string> paths;
  for (int number = unit == "app.service" ? 0 : 1; number < kFiles; number += 3)
    paths.push_back(file_path(number));
  return paths;
}

model::ManifestPtr declare(const std::map<std::string, std::string>& files) {
  auto manifest = std::make_shared<model::Manifest>();
  for (const auto& [path, text] : files) {
    const bool folder = path.ends_with("/");
    manifest->resources.push_back(
        folder ? make_resource(model::ResourceType::directory, path.substr(0, path.size() - 1),
                               {{model::Field::mode, std::string("0755")}})
               : make_resource(model::ResourceType::file, path, {content_of(text)}));
  }
  return finish(std::move(manifest));
}

std::optional<std::string> path_of(std::string_view name) {
  if (name == "stray" || name.starts_with("link")) return "/srv/c/" + std::string(name);
  if (name == "a") return "/etc/a";
  if (name == "b") return "/etc/a/b";
  if (name == "c") return "/srv/c";
  if (!name.starts_with("file")) return {};
  for (int number = 0; number < kFiles; ++number)
    if (file_path(number).ends_with("/" + std::string(name))) return file_path(number);
  return {};
}

std::string describe_tree(Site& site) {
  std::string text;
  for (const auto& path : site.files.paths()) {
    if (path.starts_with(kStore)) continue;
    const auto stat = site.files.find_stat(path);
    text += path + " " + std::to_string(stat->inode) + " " + std::to_string(stat->mode) + " " +
            std::to_string(stat->ctime_ns) + "\n";
  }
  for (const auto& name : unit_names()) {
    const auto& unit = site.units.at(name);
    text += name + (unit.runs ? " runs " : " rests ") + unit.invocation + " " + unit.file_state +
            " " + std::to_string(unit.reloads) + "\n";
  }
  return text;
}

std::string find_difference(Site& site, const model::Manifest& manifest) {
  for (const auto& resource : manifest.resources)
    if (auto difference = difference_of(site, *resource); !difference.empty()) return difference;
  return {};
}

void Foreigner::put(Site& site, const std::string& path, const std::string& content) {
  site.files.put_file(path, content, 0666);
  inodes_.insert(site.files.find_stat(path)->inode);
}

// Somebody stops it, starts it, or changes what happens at the next boot.
static void meddle(Site& site, const model::Resource& service) {
  const auto name = service.target.name.str();
  auto& unit = site.units.at(name);
  if (site.chance(40))
    unit.file_state = unit.file_state == "enabled" ? "disabled" : "enabled";
  else
    site.units.toggle(name);
}

void Foreigner::write_one(Site& site, const model::Resource& resource, bool whole_contents) {
  if (resource.reference.type == model::ResourceType::service) return meddle(site, resource);
  const auto& path = resource.target.name;
  const auto stat = site.files.find_stat(path);
  const auto* content = resource.content();
  const bool has_folder = site.files.find_stat(path.substr(0, path.rfind('/'))).has_value();
  if (resource.reference.type == model::ResourceType::directory) {
    if (stat) site.files.set_mode_of(path, 0700);
  } else if (!stat && content != nullptr && has_folder && site.chance(50)) {
    const bool whole = whole_contents && site.chance(50);
    put(site, path, whole ? content->bytes : "somebody else's\n");
  } else if (stat && site.chance(30)) {
    site.files.remove(path);
  } else if (stat && resource.reference.type == model::ResourceType::file && site.chance(50)) {
    put(site, path, "somebody else's\n");
  } else if (stat && stat->type == os::FileType::regular) {
    site.files.set_mode_of(path, 0777);
  } else {
    return;
  }
  written_.insert(path);
}

void Foreigner::write(Site& site, const model::Manifest& manifest, bool whole_contents) {
  written_.clear();
  const auto& resources = manifest.resources;
  const auto count = 1 + site.draw(3);
  for (std::uint64_t i = 0; i < count; ++i)
    write_one(site, *resources[site.draw(resources.size())], whole_contents);
  if (!site.files.find_stat("/srv/c") || !site.chance(30)) return;
  put(site, "/srv/c/stray", "stray\n");
  written_.insert("/srv/c/stray");
}

}  // namespace datum::simulation
