// Reading a fleet: a folder of desired-state documents whose root holds `datum.yaml`. Loading finds
// the files, reads every document by the descriptor table and checks all that needs no host. What a
// host gets of it is `resolve.hpp`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/fleet/finding.hpp"
#include "datum/os/files.hpp"

namespace datum::fleet {

// The facts of a machine that matchers and texts may use: reserved labels ("datum/os" → "debian").
struct Profile {
  std::map<std::string, std::string, std::less<>> facts;
};
// datum/arch, datum/init, datum/os, datum/os-version, datum/package-manager; sorted.
[[nodiscard]] std::span<const std::string_view> profile_labels();

// Reads `--profile FILE`: one YAML mapping of reserved labels to quoted or plain text, `datum/` in
// front or left out. `file` is repeated in findings only.
struct ParsedProfile {
  Profile profile;
  Findings errors;  // empty if the profile is sound
};
[[nodiscard]] ParsedProfile parse_profile(std::string_view file, std::string_view bytes);

// Calls `work(0) … work(count - 1)`, each exactly once, in any order and on any threads, and
// returns when all have returned. The default runs them here, one after the other.
using Parallel =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

struct LoadOptions {
  Parallel parallel;  // empty: on the calling thread
};

struct Documents;  // private to the module

struct LayerInfo {
  std::string name;
  std::string folder;  // relative to the root, empty for the root itself
  std::int64_t precedence = 0;
  std::string file;
  std::uint32_t line = 0;
  std::size_t resources = 0;  // documents that belong to it
};

// A sound fleet. Immutable; any thread. Keeps the root's descriptor open, so that sources named by
// documents can be read later; reads nothing but those.
class Fleet {
 public:
  explicit Fleet(std::unique_ptr<Documents> documents);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  [[nodiscard]] const std::string& root() const;         // as given to load_fleet
  [[nodiscard]] std::vector<std::string> hosts() const;  // names, sorted
  [[nodiscard]] bool has_host(std::string_view name) const;
  // As the Host document gives them, with `datum/host` added. The host must exist (asserted).
  [[nodiscard]] std::map<std::string, std::string, std::less<>> labels(std::string_view host) const;
  [[nodiscard]] std::vector<LayerInfo> layers() const;  // lowest precedence first
  [[nodiscard]] std::size_t resource_documents() const;
  [[nodiscard]] const Documents& documents() const { return *documents_; }

 private:
  std::unique_ptr<Documents> documents_;
};
using FleetPtr = std::shared_ptr<const Fleet>;

struct Loaded {
  FleetPtr fleet;     // null if there is an error
  Findings errors;    // of every faulty document, in order of file and line
  Findings warnings;  // for people; the fleet is usable
};

// Reads the fleet whose `datum.yaml` stands in the folder `root` (an absolute path of the
// caller's). `files` is borrowed for the life of the Fleet. A root that cannot be read is a finding
// like any other. Blocks; reads every document once, and of named sources only that they exist.
[[nodiscard]] Loaded load_fleet(os::Files& files, const std::string& root,
                                const LoadOptions& options = {});

}  // namespace datum::fleet
