// Everything that a program needs to look at or act on a machine: loop, files, root, configuration,
// store. The one place where implementations are wired to interfaces for the command line and for
// the service alike, so that a pass is the same whoever runs it. Decides nothing; knows no command
// line and prints nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "datum/config/configuration.hpp"
#include "datum/engine/pass.hpp"
#include "datum/engine/store.hpp"
#include "datum/loop/loop.hpp"
#include "datum/os/files.hpp"
#include "datum/resource/observer.hpp"
#include "datum/resource/secrets.hpp"

namespace datum::program {

// Where something acts, and where its store and its configuration are. Paths as somebody gave them;
// empty: the default, below the root.
struct Place {
  std::string root = "/";
  std::string state;   // default: what agent.yaml says, else var/lib/datum
  std::string config;  // default: etc/datum
  // What the service manager gave as $CREDENTIALS_DIRECTORY; empty: nothing.
  std::string credentials;
};

// Where the service of a machine listens, below the root.
inline constexpr std::string_view kSocketPath = "/run/datum/host.sock";

struct Session {
  std::unique_ptr<loop::Loop> loop;
  std::unique_ptr<os::Files> files;
  os::Handle root;
  std::string root_path;
  std::string state_folder;
  std::string config_folder;
  // The configuration's folder, where the witness of this store lies; empty: it has none, because
  // it is a store that somebody named, and not the one of this configuration.
  std::string witness_config;
  std::string credentials;  // as of the place
  std::unique_ptr<os::Accounts> accounts;
  std::unique_ptr<resource::Secrets> secrets;
  std::unique_ptr<os::Units> units;            // of this machine itself; null under another root
  std::unique_ptr<os::PackageTools> packages;  // likewise
  bool strict_paths = false;                   // `trust.strictPaths`
  // In front of `files`, in a process of the self-test only.
  std::unique_ptr<os::Files> watched_tree, watched_store;

  [[nodiscard]] os::Files& tree_files() const { return watched_tree ? *watched_tree : *files; }
  [[nodiscard]] os::Files& store_files() const { return watched_store ? *watched_store : *files; }
};
// The user whose files count as root's.
[[nodiscard]] std::uint32_t trusted_uid();
// Made absolute and without a slash at its end; links are not resolved.
[[nodiscard]] std::string absolute_path(const std::string& path);
// `path` (absolute) below the root of a place.
[[nodiscard]] std::string below(const std::string& root, const std::string& path);
// --state; else what agent.yaml says; else var/lib/datum; the last two under the root.
[[nodiscard]] Result<std::string> state_folder(const Place& place);
// agent.yaml in `folder`; a missing one is the default. Anything wrong with it is an error that
// names all faults.
[[nodiscard]] Result<config::Configuration> read_config(os::Files& files,
                                                        const std::string& folder);
// --config, or etc/datum under the root.
[[nodiscard]] std::string config_folder(const Place& place);
// Root must exist and be a folder; nothing is created.
[[nodiscard]] Result<Session> open_session(const Place& place);

// What the machine's jobs share. `content` is what the manifest declares.
[[nodiscard]] std::shared_ptr<resource::Machine> make_machine(
    Session& session, std::shared_ptr<const ContentSource> content, Bytes sensitive_key);

// The terms of the moment `now`: what `configuration` says of mode and windows, the hold as its
// file is at this moment, and a mode that stands in for the configured one in one pass.
[[nodiscard]] core::ModeTerms terms_of(os::Files& files, const std::string& config_folder,
                                       const config::Configuration& configuration, WallNs now,
                                       std::optional<core::Mode> argument);
// A hold that the control plane ordered, as the store knows it, beside those terms.
void add_link_hold(core::ModeTerms& terms, const core::State& state, WallNs now);
// The mode terms of this moment: configuration and hold are read anew at every call.
[[nodiscard]] std::function<core::ModeTerms()> mode_terms(Session& session,
                                                          std::optional<core::Mode> argument);

// What every pass has, whatever it declares: actor, version, limits, and the mode as by mode_terms.
[[nodiscard]] engine::PassRequest begin_request(Session& session, core::Actor actor,
                                                const config::Configuration& configuration,
                                                std::optional<core::Mode> mode);

// A fleet that others than root can change decides what root does with the machine. Nothing to say:
// empty. In words otherwise; `refused` where `strict` (trust.strictPaths) forbids to read it.
[[nodiscard]] Result<std::string> check_fleet_way(os::Files& files, const std::string& fleet,
                                                  bool strict);

// The last record, and everything durable; then the journal is closed.
[[nodiscard]] Status close_store(Session& session, engine::Store& store);

// Who is meant by a user number, where `command` says what they ran.
[[nodiscard]] core::Actor person(std::uint32_t uid, std::string command);

[[nodiscard]] history::ArchiveLimits archive_limits(const config::Configuration& configuration);
// The error of opening the store in `folder`, with what to do about it where there is something.
[[nodiscard]] Error with_remedy(Error error, const std::string& folder);

// "0.1.0 (commit)".
[[nodiscard]] std::string program_version();

}  // namespace datum::program
