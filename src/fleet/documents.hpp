// What the reader makes of documents: typed, checked by themselves, not yet merged. Private to the
// module; immutable once a Fleet is made of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "datum/fleet/fleet.hpp"
#include "datum/model/manifest.hpp"
#include "source_files.hpp"

namespace datum::fleet {

using FileId = std::uint32_t;   // index of Documents::files
using LayerId = std::uint32_t;  // index of Documents::layers, which ascend by precedence
using BodyId = std::uint32_t;   // index of Documents::bodies
using RefId = std::uint32_t;    // index of Documents::references, which ascend
inline constexpr std::uint32_t kNone = UINT32_MAX;

struct Place {
  FileId file = kNone;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  auto operator<=>(const Place&) const = default;
};

// A finding before it has file names and hosts.
struct Fault {
  Place at;
  std::string message;
  std::string hint;
  bool warning = false;
  auto operator<=>(const Fault&) const = default;
};
using Faults = std::vector<Fault>;

using Labels = std::map<std::string, std::string, std::less<>>;

// How a document gives a File its content, or a Repository its key.
enum class ContentKey : std::uint8_t { content, source, template_file, secret };

// One field as one document writes it: typed and normalised, text before substitution.
using Written = std::variant<std::string, std::int64_t, bool, std::vector<std::string>>;
struct Part {
  model::Field field = model::Field::path;
  ContentKey key = ContentKey::content;  // of `content` and files of the fleet only
  bool varies = false;                   // a label or host stands in it
  Place at;                              // of the value
  Written written;
};

struct ReferenceAt {
  model::Reference reference;
  Place at;
  RefId id = kNone;  // kNone after loading: no document of the fleet has that name
};

struct Body {
  model::Reference reference;
  Place at;
  RefId id = kNone;
  LayerId layer = kNone;
  bool has_desired = false;
  bool observe_only = false;
  bool protect = false;
  bool lifts_protect = false;  // `protect: false`, which lifts nothing
  Place policy_at;
  Place protect_at;
  std::vector<Part> parts;  // in the order written
  std::vector<ReferenceAt> requirements;
  std::vector<ReferenceAt> restart_on;
  std::vector<ReferenceAt> reload_on;
};

struct Match {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::vector<std::string>> one_of;
  std::map<std::string, std::vector<std::string>> none_of;
  std::vector<std::string> has;
  std::vector<std::string> missing;

  // Takes every host.
  [[nodiscard]] bool empty() const {
    return labels.empty() && one_of.empty() && none_of.empty() && has.empty() && missing.empty();
  }
};

struct Layer {
  std::string name;
  std::string folder;  // relative, no slash at the end; empty for the root
  Place at;
  std::int64_t precedence = 0;
  Match match;
  std::size_t bodies = 0;
};

struct Host {
  std::string name;
  Place at;
  Labels labels;  // `datum/host` included
};

struct FleetDocument {
  Place at;
  std::vector<std::string> exclude;
};

// A file that some document names by `source`, `template` or `signingKey`, by the place that names
// it.
struct NamedSource {
  std::string written;
  Place at;
};

// What one file, or one run of its documents, holds.
struct Read {
  std::vector<FleetDocument> fleets;
  std::vector<Host> hosts;
  std::vector<Layer> layers;
  std::vector<Body> bodies;
  Faults faults;
};

struct Documents {
  std::string root;
  std::vector<std::string> files;  // relative paths
  std::vector<Layer> layers;       // by (precedence, name)
  std::vector<Host> hosts;         // by name
  std::vector<Body> bodies;
  std::vector<model::Reference> references;       // ascending, unique
  std::vector<std::vector<BodyId>> by_reference;  // bodies of each, lowest layer first
  std::unique_ptr<SourceFiles> sources;           // locked inside; shared by threads
};

[[nodiscard]] const Host* find_host(const Documents& documents, std::string_view name);
// "layers/base/ssh.yaml:12:3".
[[nodiscard]] std::string place_text(const Documents& documents, const Place& at);
[[nodiscard]] Finding to_finding(const std::vector<std::string>& files, const Fault& fault);
// Leaves kMaxFindings and a count of the rest.
void shorten(Findings& findings);
// The folder that `source` and `template` of a body are relative to.
[[nodiscard]] const std::string& folder_of(const Documents& documents, const Body& body);

}  // namespace datum::fleet
