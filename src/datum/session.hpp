// Everything a command needs to look at or act on a machine: loop, files, root, configuration,
// store. Wires implementations to interfaces; decides nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "datum/config/configuration.hpp"
#include "datum/engine/pass.hpp"
#include "datum/engine/store.hpp"
#include "datum/loop/loop.hpp"
#include "datum/os/files.hpp"
#include "desired.hpp"

namespace datum::program {

struct Session {
  std::unique_ptr<loop::Loop> loop;
  std::unique_ptr<os::Files> files;
  os::Handle root;
  std::string root_path;
  std::string state_folder;
  std::string config_folder;
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
// --state; else what agent.yaml says; else var/lib/datum; the last two under the root.
[[nodiscard]] Result<std::string> state_folder(const Arguments& arguments);
// agent.yaml in `folder`; a missing one is the default. Anything wrong with it is an error that
// names all faults.
[[nodiscard]] Result<config::Configuration> read_config(os::Files& files,
                                                        const std::string& folder);
// --config, or etc/datum under the root.
[[nodiscard]] std::string config_folder(const Arguments& arguments);
// What agent.yaml gives where the command line is silent: the host's name, and a local fleet.
void fill_in(Arguments& arguments, const config::Configuration& configuration);
// Root must exist and be a folder; nothing is created.
[[nodiscard]] Result<Session> open_session(const Arguments& arguments);

// What the machine's jobs share. `content` is what the manifest declares.
[[nodiscard]] std::shared_ptr<resource::Machine> make_machine(
    Session& session, std::shared_ptr<const ContentSource> content, Bytes sensitive_key);

// The mode terms of this moment: configuration and hold are read anew at every call.
[[nodiscard]] std::function<core::ModeTerms()> mode_terms(Session& session,
                                                          std::optional<core::Mode> argument);

// `--mode`; nothing where it was not given.
[[nodiscard]] std::optional<core::Mode> mode_argument(const Arguments& arguments);
// What every pass of a command has, whatever it declares: actor, version, limits and the mode.
[[nodiscard]] engine::PassRequest begin_request(Session& session, const Arguments& arguments,
                                                const config::Configuration& configuration,
                                                std::optional<core::Mode> mode);

// The last record, and everything durable; then the journal is closed.
[[nodiscard]] Status close_store(Session& session, engine::Store& store);

// Who runs this program.
[[nodiscard]] core::Actor current_actor(const Arguments& arguments);

// "0.1.0 (commit)".
[[nodiscard]] std::string program_version();

}  // namespace datum::program
