#include "datum/program/session.hpp"

#include <pwd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

#include "datum/config/hold.hpp"
#include "datum/config/trust.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/os_linux/linux_lenses.hpp"
#include "datum/os_linux/linux_packages.hpp"
#include "datum/os_linux/linux_units.hpp"
#include "datum/text/human.hpp"
#include "datum/uv/uv_loop.hpp"
#include "version_mark.hpp"

namespace datum::program {

namespace {

// More than this never helps: observation is bound by system calls of one kernel.
constexpr std::size_t kMaxPool = 8;

std::size_t pool_width() {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min(cores + 1, kMaxPool);  // one stays free for the pass's other work
}

// Half of the descriptors that this process may have, for the folders that jobs hold open: each
// holds as many folders as files, and the journal, the loop and the blobs want the rest.
std::size_t open_folders_of_a_job() {
  constexpr rlim_t kOthers = 40;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return os::kMaxOpenFolders;
  const auto rest = limit.rlim_cur > kOthers ? limit.rlim_cur - kOthers : 1;
  const auto share = rest / (2 * pool_width());
  return std::clamp<std::size_t>(share, 4, os::kMaxOpenFolders);
}

void apply_hold(core::ModeTerms& terms, const config::Hold& hold, WallNs now) {
  if (!config::is_in_force(hold, now)) return;
  terms.held = true;
  terms.hold_reason = config::describe(hold);
}

void apply_windows(core::ModeTerms& terms, const config::Configuration& configuration, WallNs now) {
  const auto local = text::local_time(now);
  const config::LocalTime at{static_cast<std::uint8_t>(local.tm_wday),
                             static_cast<std::uint16_t>(local.tm_hour * 60 + local.tm_min)};
  if (config::is_open(configuration.windows.value, at)) return;
  terms.outside_window = true;
  const auto next = config::find_next_opening(configuration.windows.value, at);
  terms.window_reason =
      next ? "the next window opens " + config::describe(*next) : "no window ever opens";
}

}  // namespace

// Root's files count as trusted; somebody who runs this without root trusts their own.
std::uint32_t trusted_uid() {
  return ::geteuid();
}

std::string absolute_path(const std::string& path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored).lexically_normal().string();
  if (absolute.size() > 1 && absolute.back() == '/') return absolute.substr(0, absolute.size() - 1);
  return absolute;
}

std::string below(const std::string& root, const std::string& path) {
  return root == "/" ? path : root + path;
}

std::string config_folder(const Place& place) {
  if (!place.config.empty()) return absolute_path(place.config);
  return below(absolute_path(place.root), "/etc/datum");
}

Result<std::string> state_folder(const Place& place) {
  if (!place.state.empty()) return absolute_path(place.state);
  const auto files = os_linux::make_files();
  DATUM_ASSIGN(const auto configuration, read_config(*files, config_folder(place)));
  return below(absolute_path(place.root), configuration.state.value);
}

Result<Session> open_session(const Place& place) {
  Session session;
  session.root_path = absolute_path(place.root);
  session.files = os_linux::make_files();
  auto root = session.files->open_root(session.root_path);
  if (!root) return fail(std::move(root).error().context("--root " + session.root_path));
  session.root = std::move(*root);
  session.config_folder = config_folder(place);
  const bool is_own_store = place.state.empty() || !place.config.empty() || place.root != "/";
  if (is_own_store) session.witness_config = session.config_folder;
  session.credentials = place.credentials;
  session.accounts = os::read_accounts(*session.files, session.root);
  if (session.root_path == "/") {
    session.units = os_linux::make_units();
    session.packages = os_linux::make_package_tools(*session.files, "/");
  }
  session.loop = uv::make_loop(pool_width());
  DATUM_ASSIGN(session.state_folder, state_folder(place));
  return session;
}

Result<config::Configuration> read_config(os::Files& files, const std::string& path) {
  auto folder = files.open_root(path);
  if (!folder && folder.error().code() == ErrorCode::not_found)
    return config::default_configuration(path);
  if (!folder) return fail(std::move(folder).error().context(path));
  return config::read_configuration(files, *folder, path, trusted_uid());
}

core::ModeTerms terms_of(os::Files& files, const std::string& config_folder,
                         const config::Configuration& configuration, WallNs now,
                         std::optional<core::Mode> argument) {
  core::ModeTerms terms;
  terms.argument = argument;
  if (!configuration.mode.origin.is_default())
    terms.configured = configuration.mode.value == config::Mode::enforce ? core::Mode::enforce
                                                                         : core::Mode::observe;
  apply_windows(terms, configuration, now);
  auto folder = files.open_root(config_folder);
  if (folder) apply_hold(terms, config::read_hold(files, *folder), now);
  return terms;
}

void add_link_hold(core::ModeTerms& terms, const core::State& state, WallNs now) {
  const auto& hold = state.link_hold;
  if (terms.held || !hold || (hold->until.ns != 0 && hold->until <= now)) return;
  terms.held = true;
  terms.hold_reason = "by the control plane";
  if (!hold->reason.empty()) terms.hold_reason += ": " + hold->reason;
}

std::function<core::ModeTerms()> mode_terms(Session& session, std::optional<core::Mode> argument) {
  return [&session, argument] {
    const auto configuration = read_config(*session.files, session.config_folder);
    if (configuration)
      return terms_of(*session.files, session.config_folder, *configuration,
                      session.loop->clock().wall_now(), argument);
    // What cannot be read can only weaken.
    core::ModeTerms terms;
    terms.argument = argument;
    terms.held = true;
    terms.hold_reason = "the configuration cannot be read: " + configuration.error().message();
    return terms;
  };
}

// Datum's own folders and this very program: no resource may manage them, whatever path leads
// there.
static std::vector<os::FileStat> own_files(Session& session) {
  std::vector<os::FileStat> own;
  for (const auto& path : {session.state_folder, session.config_folder}) {
    const auto handle = session.files->open_root(path);
    if (!handle) continue;
    if (const auto stat = session.files->stat(*handle)) own.push_back(*stat);
  }
  std::array<char, 4096> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return own;
  const std::string program(path.data(), static_cast<std::size_t>(length));
  const auto slash = program.rfind('/');
  const auto folder = session.files->open_root(slash == 0 ? "/" : program.substr(0, slash));
  if (!folder) return own;
  if (const auto stat = session.files->stat_at(*folder, program.substr(slash + 1)))
    own.push_back(*stat);
  return own;
}

// Where agent.yaml says that they are. A configuration that cannot be read has none.
static std::unique_ptr<resource::Secrets> make_secrets(const Session& session) {
  const auto none = [&](std::string why) {
    return std::make_unique<resource::FolderSecrets>(*session.files, std::string(), trusted_uid(),
                                                     std::move(why));
  };
  const auto configuration = read_config(*session.files, session.config_folder);
  if (!configuration) return none(configuration.error().message());
  std::string folder;
  if (configuration->secrets_backend.value == config::SecretsBackend::credentials) {
    if (!session.credentials.starts_with('/'))
      return none("no credentials: $CREDENTIALS_DIRECTORY names no folder");
    folder = session.credentials;
  } else {
    const auto& path = configuration->secrets_path;
    folder = path.origin.is_default() ? path.value : below(session.root_path, path.value);
  }
  return std::make_unique<resource::FolderSecrets>(*session.files, std::move(folder),
                                                   trusted_uid());
}

std::shared_ptr<resource::Machine> make_machine(Session& session,
                                                std::shared_ptr<const ContentSource> content,
                                                Bytes sensitive_key) {
  auto machine = std::make_shared<resource::Machine>();
  machine->files = &session.tree_files();
  machine->root = &session.root;
  machine->root_path = session.root_path;
  machine->accounts = session.accounts.get();
  machine->units = session.units.get();
  machine->packages = session.packages.get();
  // It remembers what it read, and goes with the machine.
  const std::shared_ptr<os::Lenses> lenses = os_linux::make_lenses();
  machine->lenses = lenses.get();
  session.secrets = make_secrets(session);
  machine->secrets = session.secrets.get();
  machine->content = content.get();
  machine->trusted_uid = trusted_uid();
  machine->max_open_folders = open_folders_of_a_job();
  machine->strict_paths = session.strict_paths;
  machine->sensitive_key = std::move(sensitive_key);
  machine->own_files = own_files(session);
  machine->own_contents = std::make_shared<const resource::OwnContents>(
      *session.files, std::vector{session.state_folder, session.config_folder});
  // The machine borrows the content; it lives as long as the machine does.
  return {machine.get(), [machine, content, lenses](resource::Machine*) {}};
}

engine::PassRequest begin_request(Session& session, core::Actor actor,
                                  const config::Configuration& configuration,
                                  std::optional<core::Mode> mode) {
  engine::PassRequest request;
  request.limit_ns = configuration.pass_limit_ns.value;
  request.actor = std::move(actor);
  request.version = program_version();
  request.read_terms = mode_terms(session, mode);
  request.is_held_now = [&session] {
    const auto folder = session.files->open_root(session.config_folder);
    if (!folder) return false;
    const auto hold = config::read_hold(*session.files, *folder);
    return hold.now && config::is_in_force(hold, session.loop->clock().wall_now());
  };
  request.observe_globs = configuration.observe.value;
  request.protect_globs = configuration.protect.value;
  request.limits.max = configuration.removals_max.value;
  request.finish_interrupted = configuration.finish_interrupted.value;
  return request;
}

Result<std::string> check_fleet_way(os::Files& files, const std::string& fleet, bool strict) {
  if (trusted_uid() != 0) return std::string();
  const auto checked = config::check_way(files, absolute_path(fleet), trusted_uid());
  if (checked) return std::string();
  const auto words = "the fleet can be changed by others than root: " + checked.error().message();
  if (!strict) return words;
  return fail(ErrorCode::refused, words + "; trust.strictPaths is set, so it was not read");
}

Status close_store(Session& session, engine::Store& store) {
  Status result = fail(ErrorCode::internal, "the journal was not closed");
  DATUM_TRY(store.history->execute(core::CloseStore{"the command ended"}));
  store.history->close([&result, &session](Status closed) {
    result = std::move(closed);
    session.loop->stop();
  });
  session.loop->run();
  return result;
}

core::Actor person(std::uint32_t uid, std::string command) {
  core::Actor actor;
  actor.kind = core::ActorKind::person;
  actor.uid = uid;
  if (const auto* entry = ::getpwuid(actor.uid)) actor.name = entry->pw_name;
  actor.command = std::move(command);
  return actor;
}

history::ArchiveLimits archive_limits(const config::Configuration& configuration) {
  return {configuration.archive_above_bytes.value, configuration.archive_after_ns.value};
}

Error with_remedy(Error error, const std::string& folder) {
  if (error.code() == ErrorCode::corrupt)
    return {error.code(), error.message() +
                              "; nothing was changed. `datum journal set-aside "
                              "--state " +
                              folder +
                              "` moves the damaged store out of the way and keeps it; the next "
                              "pass then begins a new one"};
  if (error.code() == ErrorCode::timed_out)
    return {error.code(), error.message() +
                              "; that says nothing about the store, which was not changed: run "
                              "the command again when the machine is less busy"};
  return error;
}

std::string program_version() {
  constexpr std::string_view kKey = "datum-version=";
  const auto mark = version_mark();
  return std::string(mark.substr(kKey.size(), mark.find('\n') - kKey.size()));
}

}  // namespace datum::program
