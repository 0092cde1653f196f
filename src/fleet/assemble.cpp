// See the header. Order of files never decides anything: layers ascend by precedence and name,
// references by text, and two documents that claim the same thing are an error, not a winner.
#include "assemble.hpp"

#include <algorithm>
#include <unordered_map>

#include "datum/model/substitution.hpp"
#include "discovery.hpp"
#include "glob.hpp"

namespace datum::fleet {
namespace {

using model::Reference;

class Assembler {
 public:
  Assembler(std::vector<FileRead> reads, Documents& documents, Faults& faults)
      : reads_(std::move(reads)), documents_(documents), faults_(faults) {}

  void run() {
    leave_out_sources();
    take_fleet();
    take_hosts();
    take_layers();
    take_bodies();
    link_references();
    check_twice();
    check_sources();
  }

 private:
  void fault(const Place& at, std::string message, std::string hint, bool warning = false) {
    faults_.push_back({at, std::move(message), std::move(hint), warning});
  }
  [[nodiscard]] std::string text(const Place& at) const { return place_text(documents_, at); }

  // Folder → index of the layer document nearest above it, by folder name.
  using Folders = std::unordered_map<std::string, std::size_t>;

  static const std::size_t* nearest_layer(const Folders& folders, std::string folder) {
    while (true) {
      if (const auto at = folders.find(folder); at != folders.end()) return &at->second;
      if (folder.empty()) return nullptr;
      folder = folder_of_file(folder);
    }
  }

  // Files that a `source` or `template` names are content, whatever they look like.
  void leave_out_sources() {
    Folders folders;
    std::vector<std::string> names;
    for (const auto& [file, read] : reads_)
      if (!read.layers.empty()) {
        names.push_back(folder_of_file(documents_.files[file]));
        folders.emplace(names.back(), names.size() - 1);
      }
    std::unordered_map<std::string, Place> named;
    std::vector<std::pair<std::string, Place>> patterns;
    for (const auto& [file, read] : reads_)
      for (const auto& body : read.bodies) {
        const auto* layer = nearest_layer(folders, folder_of_file(documents_.files[file]));
        if (layer) collect_sources(body, names[*layer], named, patterns);
      }
    if (named.empty() && patterns.empty()) return;
    std::erase_if(reads_, [&](const FileRead& each) { return leaves_out(each, named, patterns); });
  }

  bool leaves_out(const FileRead& each, const std::unordered_map<std::string, Place>& named,
                  const std::vector<std::pair<std::string, Place>>& patterns) {
    const auto& name = documents_.files[each.file];
    if (name == "datum.yaml") return false;
    const Place* by = nullptr;
    if (const auto at = named.find(name); at != named.end()) by = &at->second;
    for (const auto& [pattern, at] : patterns)
      if (!by && glob_matches(pattern, name)) by = &at;
    if (!by) return false;
    const auto& read = each.read;
    const auto count = read.bodies.size() + read.layers.size() + read.hosts.size();
    if (count > 0)
      fault({each.file, 0, 0},
            "its " + std::to_string(count) + " documents are not read, because " + text(*by) +
                " names the file as content",
            "move the content to a file of another name if they were meant to be read", true);
    return true;
  }

  static bool names_a_file(const Part& part) {
    if (part.field == model::Field::signing_key) return true;
    return part.field == model::Field::content &&
           (part.key == ContentKey::source || part.key == ContentKey::template_file);
  }

  static void collect_sources(const Body& body, const std::string& folder,
                              std::unordered_map<std::string, Place>& named,
                              std::vector<std::pair<std::string, Place>>& patterns) {
    for (const auto& part : body.parts) {
      if (!names_a_file(part)) continue;
      const auto& written = std::get<std::string>(part.written);
      if (!part.varies) {
        if (auto path = join_path(folder, written)) named.emplace(std::move(*path), part.at);
        continue;
      }
      std::string pattern;
      const auto parsed = model::parse_substitutions(written);
      for (const auto& piece : std::get<model::Pieces>(parsed))
        pattern.append(piece.kind == model::PieceKind::literal ? piece.text : "*");
      if (auto path = join_path(folder, pattern)) patterns.emplace_back(std::move(*path), part.at);
    }
  }

  void take_fleet() {
    const Place* first = nullptr;
    const auto& files = documents_.files;
    const auto root = std::find(files.begin(), files.end(), "datum.yaml");
    const bool has_root = root != files.end();
    const auto root_id = static_cast<FileId>(root - files.begin());
    for (auto& [file, read] : reads_) {
      std::move(read.faults.begin(), read.faults.end(), std::back_inserter(faults_));
      for (const auto& fleet : read.fleets) {
        if (first)
          fault(fleet.at, "a second Fleet; the first stands at " + text(*first),
                "a repository has exactly one: remove one of them");
        else if (documents_.files[file] != "datum.yaml")
          fault(fleet.at, "the Fleet stands outside of datum.yaml",
                "move it to datum.yaml in the fleet's root");
        if (!first) first = &fleet.at;
      }
    }
    if (first) return;
    if (!has_root) documents_.files.emplace_back("datum.yaml");
    if (has_root && !faults_.empty()) return;  // it may be the faulty document
    fault({root_id, 0, 0},
          has_root ? "it holds no Fleet document" : "no Fleet: there is no datum.yaml",
          has_root ? "add one: datum: v1alpha1, type: Fleet, name: NAME"
                   : "name the folder that holds datum.yaml, or begin one with datum init");
  }

  void take_hosts() {
    auto& hosts = documents_.hosts;
    for (auto& [file, read] : reads_)
      hosts.insert(hosts.end(), std::make_move_iterator(read.hosts.begin()),
                   std::make_move_iterator(read.hosts.end()));
    std::stable_sort(hosts.begin(), hosts.end(),
                     [](const Host& a, const Host& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < hosts.size(); ++i)
      if (hosts[i - 1].name == hosts[i].name)
        fault(hosts[i].at,
              "a second Host " + hosts[i].name + "; the first stands at " + text(hosts[i - 1].at),
              "give each machine one Host document");
  }

  void take_layers() {
    auto& layers = documents_.layers;
    for (auto& [file, read] : reads_)
      for (auto& layer : read.layers) {
        layer.folder = folder_of_file(documents_.files[file]);
        layers.push_back(std::move(layer));
      }
    std::stable_sort(layers.begin(), layers.end(), [](const Layer& a, const Layer& b) {
      return std::tie(a.name, a.at) < std::tie(b.name, b.at);
    });
    for (std::size_t i = 1; i < layers.size(); ++i)
      if (layers[i - 1].name == layers[i].name)
        fault(
            layers[i].at,
            "a second Layer " + layers[i].name + "; the first stands at " + text(layers[i - 1].at),
            "give each layer a name of its own");
    std::stable_sort(layers.begin(), layers.end(),
                     [](const Layer& a, const Layer& b) { return a.precedence < b.precedence; });
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto [at, added] = folders_.emplace(layers[i].folder, i);
      if (added) continue;
      const auto& other = layers[at->second];
      fault(layers[i].at,
            "a second Layer in the folder " +
                (layers[i].folder.empty() ? std::string(".") : layers[i].folder) + "; the first, " +
                other.name + ", stands at " + text(other.at),
            "move it to a folder of its own: resources belong to the layer of their folder");
    }
  }

  void take_bodies() {
    auto& bodies = documents_.bodies;
    for (auto& [file, read] : reads_) {
      if (read.bodies.empty()) continue;
      const auto folder = folder_of_file(documents_.files[file]);
      const auto* layer = nearest_layer(folders_, folder);
      for (auto& body : read.bodies) {
        if (!layer) {
          fault(
              body.at, body.reference.text() + " has no Layer in its folder or above",
              "add a Layer document to the folder " + (folder.empty() ? std::string(".") : folder));
          continue;
        }
        body.layer = static_cast<LayerId>(*layer);
        ++documents_.layers[*layer].bodies;
        bodies.push_back(std::move(body));
      }
    }
    reads_.clear();
  }

  void link_references() {
    auto& references = documents_.references;
    references.reserve(documents_.bodies.size());
    for (const auto& body : documents_.bodies) references.push_back(body.reference);
    std::sort(references.begin(), references.end());
    references.erase(std::unique(references.begin(), references.end()), references.end());
    std::unordered_map<Reference, RefId, model::ReferenceHash> ids;
    ids.reserve(references.size());
    for (RefId id = 0; id < references.size(); ++id) ids.emplace(references[id], id);
    const auto link = [&](std::vector<ReferenceAt>& list) {
      for (auto& each : list)
        if (const auto at = ids.find(each.reference); at != ids.end()) each.id = at->second;
    };
    documents_.by_reference.resize(references.size());
    for (BodyId id = 0; id < documents_.bodies.size(); ++id) {
      auto& body = documents_.bodies[id];
      body.id = ids.at(body.reference);
      documents_.by_reference[body.id].push_back(id);
      link(body.requirements);
      link(body.restart_on);
      link(body.reload_on);
    }
  }

  void check_twice() {
    for (auto& bodies : documents_.by_reference) {
      std::stable_sort(bodies.begin(), bodies.end(), [&](BodyId a, BodyId b) {
        return documents_.bodies[a].layer < documents_.bodies[b].layer;
      });
      for (std::size_t i = 1; i < bodies.size(); ++i) {
        const auto& first = documents_.bodies[bodies[i - 1]];
        const auto& second = documents_.bodies[bodies[i]];
        if (first.layer != second.layer) continue;
        fault(second.at,
              second.reference.text() + " stands twice in layer " +
                  documents_.layers[second.layer].name + "; the first at " + text(first.at),
              "make them one document, or move one to a layer of its own");
      }
    }
  }

  void check_sources() {
    std::unordered_map<std::string, Status> checked;
    for (const auto& body : documents_.bodies)
      for (const auto& part : body.parts)
        if (names_a_file(part) && !part.varies) check_source(body, part, checked);
  }

  void check_source(const Body& body, const Part& part,
                    std::unordered_map<std::string, Status>& checked) {
    const auto& written = std::get<std::string>(part.written);
    const auto check = [&](const std::string& folder) -> Status {
      DATUM_ASSIGN(const auto path, join_path(folder, written));
      const auto [at, added] = checked.try_emplace(path);
      if (added) at->second = documents_.sources->check(path);
      return at->second;
    };
    const auto& folder = folder_of(documents_, body);
    auto status = check(folder);
    if (!status && part.field == model::Field::signing_key && !folder.empty() && check("")) return;
    if (status) return;
    fault(part.at, source_message(written, status.error()), source_hint(folder, status.error()));
  }

  std::vector<FileRead> reads_;
  Documents& documents_;
  Faults& faults_;
  Folders folders_;
};

}  // namespace

std::string source_message(const std::string& written, const Error& error) {
  switch (error.code()) {
    case ErrorCode::not_found:
    case ErrorCode::not_directory:
      return "the file " + written + " does not exist";
    case ErrorCode::refused:
      return "the file " + written + " lies outside of the fleet's folder";
    default:
      return "the file " + written + " cannot be used: " + error.message();
  }
}

std::string source_hint(const std::string& folder, const Error& error) {
  switch (error.code()) {
    case ErrorCode::not_found:
    case ErrorCode::not_directory:
      return "it is looked for relative to the layer's folder, " +
             (folder.empty() ? std::string("the fleet's root") : folder);
    case ErrorCode::refused:
      return "move it into the fleet: neither .. nor a link may leave it";
    default:
      return "name a readable, regular file relative to the layer's folder";
  }
}

void assemble(std::vector<FileRead> reads, Documents& documents, Faults& faults) {
  Assembler(std::move(reads), documents, faults).run();
}

}  // namespace datum::fleet
