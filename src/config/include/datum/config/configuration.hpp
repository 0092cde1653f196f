// agent.yaml: what the administrator of a machine decided, each value with the place it came from.
// Owns the keys and their defaults; knows no pass, no store and no command line. Nothing that
// reaches the machine from outside is read here.
//
//   host: web-1                      # the Host document that this machine follows
//   reconciliation:
//     mode: observe                  # or enforce
//     interval: 30m                # between two passes of the service
//     passLimit: 45m
//   trust:
//     strictPaths: true
//   observe: ["Package[*]"]          # globs over references: only observed, whatever the mode
//   protect: ["User[root]"]          # globs over references: never removed
//   secrets: {backend: file, path: /etc/datum/secrets}    # or {backend: credentials}
//   journal: {archiveAbove: 1GiB, archiveAfter: 400d}
//   removals: {max: 10}
//   orphans: wait                    # or adopt, or remove: what a lost store had owned
//   packages: {finishInterrupted: false}
//   windows:
//   - {days: [mon-fri], from: "22:00", to: "04:00"}
//   control: ["control.example:7600"]    # where the control plane listens
//   source: /srv/fleet               # a local fleet
//   metrics: /var/lib/node_exporter/datum.prom    # a text file, written after each pass
//   state: /var/lib/datum
//
// A missing file, key or value means the default, and the default mode is observe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/config/window.hpp"
#include "datum/os/files.hpp"
#include "datum/yaml/yaml.hpp"

namespace datum::config {

inline constexpr std::string_view kFileName = "agent.yaml";
// A file of every key with a thousand globs is 64 KiB.
inline constexpr std::size_t kMaxFileBytes = 1U << 20U;
// Globs of one list: each resource is matched with each of them.
inline constexpr std::size_t kMaxGlobs = 1'000;
// Addresses of one control plane: they are tried one after the other, each for seconds.
inline constexpr std::size_t kMaxControls = 16;

// Where a value stands. Line 0: nowhere, it is the default.
struct Origin {
  std::string file;
  std::uint32_t line = 0;
  [[nodiscard]] bool is_default() const { return line == 0; }
  [[nodiscard]] std::string text() const;  // "default" or "file:line"
};

template <class T>
struct Setting {
  T value{};
  Origin origin;
};

enum class Mode : std::uint8_t { observe, enforce };
[[nodiscard]] std::string_view to_string(Mode mode);

enum class SecretsBackend : std::uint8_t {
  file,         // one file a secret below `secrets_path`
  credentials,  // the service manager's credentials folder
};
[[nodiscard]] std::string_view to_string(SecretsBackend backend);

// What becomes, with nobody asked, of what a lost store had owned and nothing declares.
enum class Orphans : std::uint8_t { wait, adopt, remove };
[[nodiscard]] std::string_view to_string(Orphans orphans);

struct Configuration {
  Setting<std::optional<std::string>> host;  // default: none, the machine's own name then
  Setting<Mode> mode{Mode::observe, {}};
  Setting<std::int64_t> pass_limit_ns{45 * 60 * std::int64_t{1'000'000'000}, {}};
  // Between the beginnings of two passes of the service, on a clock that counts suspend.
  Setting<std::int64_t> interval_ns{30 * 60 * std::int64_t{1'000'000'000}, {}};
  // Whether what lies in a folder that others than root can change is refused: a managed target is
  // then neither looked at nor touched, and a local fleet (`source`) is not read. Without it both
  // are only told: work goes through descriptors, so that nobody gains by it, but what they hold
  // may not last. agent.yaml itself is always refused: what anybody could write cannot say whom to
  // trust.
  Setting<bool> strict_paths{false, {}};
  Setting<std::vector<std::string>> observe;  // globs, see glob.hpp
  Setting<std::vector<std::string>> protect;  // globs
  Setting<SecretsBackend> secrets_backend{SecretsBackend::file, {}};
  Setting<std::string> secrets_path;  // absolute; default: `secrets` beside agent.yaml
  Setting<std::uint64_t> archive_above_bytes{std::uint64_t{1} << 30U, {}};
  Setting<std::int64_t> archive_after_ns{400 * 86'400 * std::int64_t{1'000'000'000}, {}};
  Setting<std::uint32_t> removals_max{10, {}};
  Setting<Orphans> orphans{Orphans::wait, {}};
  // Whether packages that somebody else's run was cut off with may be brought to an end before a
  // transaction. Those of Datum's own runs always are.
  Setting<bool> finish_interrupted{false, {}};
  Setting<std::vector<Window>> windows;  // none: always open
  // Addresses of the control plane, HOST:PORT, in the order in which they are tried. Without them
  // an enrolled machine uses those that it was enrolled at.
  Setting<std::vector<std::string>> control;
  Setting<std::optional<std::string>> source;        // absolute path of a local fleet
  Setting<std::optional<std::string>> metrics;       // absolute path of a file for node_exporter
  Setting<std::string> state{"/var/lib/datum", {}};  // absolute path of the store
};

// What holds where there is no agent.yaml in `directory` (absolute).
[[nodiscard]] Configuration default_configuration(std::string_view directory);

// Every setting in the order above, for people and for `--json`.
struct Described {
  std::string key;    // "reconciliation.passLimit"
  std::string value;  // as it may be written in the file; "none" for an absent value
  Origin origin;
};
[[nodiscard]] std::vector<Described> describe(const Configuration& configuration);

// The configuration in `bytes`, and every fault in it. With a fault the configuration is that of a
// missing file, so that a misread line can never enforce. `file` is shown in positions; `directory`
// (absolute) is the folder it lies in.
struct Parsed {
  Configuration configuration;
  std::vector<yaml::Diagnostic> faults;
};
[[nodiscard]] Parsed parse_configuration(std::string_view file, std::string_view directory,
                                         std::string_view bytes);

// The same from `directory`/agent.yaml; `directory_path` is that folder's path for people and for
// default paths. A missing file is the default configuration. With `trusted_uid` the file and the
// folder must belong to that user (root: 0) and be writable by nobody else: `refused` otherwise,
// with what to do. Other errors: `invalid_argument` with all faults, one a line; `limit_exceeded`;
// what opening and reading return (a link is `symlink`). Blocks on the disk; any thread.
[[nodiscard]] Result<Configuration> read_configuration(os::Files& files,
                                                       const os::Handle& directory,
                                                       std::string_view directory_path,
                                                       std::optional<std::uint32_t> trusted_uid);

}  // namespace datum::config
