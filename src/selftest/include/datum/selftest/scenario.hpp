// What the self-test declares and therefore knows: two neighbouring versions of a small tree, the
// documents that ask for them, and what of them is secret. From one version to the next every kind
// of change occurs. Pure; knows neither the program nor a store.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace datum::selftest {

enum class Kind : std::uint8_t { file, directory, symlink };

// What lies under a name.
struct Entry {
  Kind kind = Kind::file;
  std::uint32_t mode = 0;  // permission bits; of a link always 0
  std::string body;        // bytes of a file, text of a link

  bool operator==(const Entry&) const = default;
};
// By path below the root, without a slash in front.
using Tree = std::map<std::string, Entry>;

// `small`: a pass of at least 50 actions, each file synced by itself. `large`: so many that one
// sync of the file system stands for all of them.
enum class Size : std::uint8_t { small, large };

struct Scenario {
  Tree tree;                     // what the machine holds once this version is applied
  std::set<std::string> strays;  // what somebody puts into the purged folder before; not in `tree`
  std::string documents;         // of the layer, YAML
  std::map<std::string, std::string> sources;  // files beside them, by name
  std::string secret;                          // the content of the sensitive file
};

// Every secret of a run contains this.
[[nodiscard]] std::string secret_mark(std::uint64_t seed);

// Version `version` from 1; 0 is the empty tree without documents. Equal arguments give equal
// values.
[[nodiscard]] Scenario make_scenario(std::uint64_t seed, std::uint32_t version, Size size);

// The fixed documents of a fleet: the root's and the layer's, by path in the fleet.
[[nodiscard]] std::map<std::string, std::string> fleet_frame();
inline constexpr std::string_view kHostName = "selftest";
inline constexpr std::string_view kLayerFolder = "layer";
// The unit that the notification of each pass is for.
inline constexpr std::string_view kUnit = "datum-selftest.service";

}  // namespace datum::selftest
