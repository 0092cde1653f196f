// The server: opens the store, makes or reads the keys, wires what `control` has to the network,
// the local socket and the disk, and lives until it is told to end.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "callers.hpp"
#include "commands.hpp"
#include "datum/blobs/blob_store.hpp"
#include "datum/config/quantity.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/host/log_line.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/process.hpp"
#include "datum/program/session.hpp"
#include "datum/uv/uv_loop.hpp"
#include "datum/uv/uv_network.hpp"
#include "key_files.hpp"
#include "local_server.hpp"

namespace datum::control {
namespace {

// Exit status, for the service manager: the store is to blame, not the program.
constexpr int kStoreExit = 74;
// Reading blobs for nodes; the journal and the nodes' journals have threads of their own.
constexpr std::size_t kPoolWidth = 4;
// A failed commit is seen by whoever waits for it; nothing else may go on for longer than this.
constexpr std::int64_t kLookNs = kNsPerSecond;

// Marks are for the system's journal; a person is told who speaks.
void write_line(bool with_marks, Weight weight, const std::string& text) {
  const auto priority = weight == Weight::error     ? host::Priority::error
                        : weight == Weight::warning ? host::Priority::warning
                                                    : host::Priority::notice;
  const auto line =
      host::error_line(with_marks ? host::manager_mark(priority) : "datum-control: ", text);
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

// Replaced whole, so that whoever collects it never reads a half; readable for others.
Status write_metrics(const std::string& path, std::string_view text) {
  const auto part = path + ".part";
  const int file =
      ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return fail(error_from_errno(errno, part));
  const bool is_written = ::fchmod(file, 0644) == 0 && ::write(file, text.data(), text.size()) ==
                                                           static_cast<ssize_t>(text.size());
  const int problem = errno;
  ::close(file);
  if (is_written && ::rename(part.c_str(), path.c_str()) == 0) return {};
  return fail(error_from_errno(is_written ? errno : problem, path));
}

// A descriptor for each node: as many as this process may have.
void take_all_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Port 0, where to listen, is whichever is free; nobody connects to one.
std::optional<loop::Address> find_listen_address(const std::string& text) {
  if (!text.ends_with(":0")) return loop::find_address(text);
  auto address = loop::find_address(text.substr(0, text.size() - 1) + "1");
  if (address) address->port = 0;
  return address;
}

class Server {
 public:
  Server(const Arguments& arguments, loop::Address address, Callers callers)
      : arguments_(arguments),
        address_(std::move(address)),
        callers_(std::move(callers)),
        state_folder_(program::absolute_path(arguments.state)),
        files_(os_linux::make_files()),
        loop_(uv::make_loop(kPoolWidth)),
        network_(uv::make_network(*loop_)),
        look_(loop_->make_timer()) {
    settings_.version = program::program_version();
    settings_.heartbeat_ns =
        config::find_duration_ns(arguments.heartbeat).value_or(settings_.heartbeat_ns);
  }

  int run() {
    if (const auto opened = open(); !opened) {
      write_log(Weight::error, opened.error().message());
      return kStoreExit;
    }
    ledger_->when_durable([this](const Status& durable) {
      if (!durable) return end(durable.error().message(), kStoreExit);
      if (const auto begun = listen(); !begun) end(begun.error().message(), 1);
    });
    look_->start(kLookNs, kLookNs, [this] {
      if (ledger_->failure()) return end(ledger_->failure()->message(), kStoreExit);
      desk_->tick();
      tell_metrics();
    });
    loop_->run();
    return exit_code_;
  }

 private:
  void write_log(Weight weight, const std::string& text) const {
    write_line(with_marks_, weight, text);
  }

  Status open() {
    DATUM_TRY(make_private_folder(state_folder_));
    DATUM_TRY(check_not_restoring(state_folder_));
    DATUM_ASSIGN(auto log, journal::open_log(state_folder_ + "/journal",
                                             ledger_options(journal::OpenMode::create_or_open)));
    const auto store = log->store_id();
    DATUM_ASSIGN(ledger_, Ledger::open(*loop_, std::move(log)));
    DATUM_TRY(open_keys(store));
    DATUM_TRY(
        ledger_->append(open_plane(ledger_->state(), loop_->clock().boot_id(), settings_.version)));
    DATUM_ASSIGN(blobs_, blobs::open_blobs(*files_, state_folder_, false));
    sweep_blobs();
    const auto nodes = state_folder_ + "/nodes";
    DATUM_TRY(make_private_folder(nodes));
    journals_.emplace(*loop_, nodes);
    links_.emplace(*loop_, *network_, *ledger_, *keys_, *journals_, *blobs_, settings_,
                   [this](Weight weight, const std::string& text) { write_log(weight, text); });
    desk_.emplace(*loop_, *ledger_, *links_, *journals_, *keys_, *blobs_, settings_);
    return {};
  }

  // What neither a node's newest declaration nor a later stage names goes at a start, when nothing
  // can be put beside it. A manifest that cannot be read ends it before anything is removed.
  void sweep_blobs() {
    std::set<Digest> named;
    std::vector<std::pair<std::string, Digest>> manifests;
    for (const auto& [name, node] : ledger_->state().nodes)
      if (!node.manifest.empty()) manifests.emplace_back(name, node.manifest);
    if (const auto& push = ledger_->state().push)
      for (const auto& [name, planned] : push->planned)
        manifests.emplace_back(name, planned.manifest);
    for (const auto& [name, manifest] : manifests) {
      const auto its = named_by(*blobs_, manifest);
      // A backup has no content; the nodes have theirs, and the next push brings it here.
      if (!its && its.error().code() == ErrorCode::not_found && ledger_->state().restored)
        return write_log(Weight::notice,
                         "restored, and without the content of former pushes until the next one");
      if (!its)
        return write_log(Weight::error,
                         name + ": its declaration cannot be read: " + its.error().message());
      named.insert(its->begin(), its->end());
    }
    const std::vector<Digest> live(named.begin(), named.end());
    const auto freed = blobs_->sweep({live});
    if (!freed) write_log(Weight::warning, "old content stays: " + freed.error().message());
  }

  Status open_keys(const Id128& store) {
    if (ledger_->state().seq == 0) {
      DATUM_ASSIGN(auto made, make_keys(state_folder_, arguments_.mesh, loop_->clock().wall_now()));
      keys_.emplace(std::move(made));
      return ledger_->append(
          create_plane({store, crypto::random_id(), arguments_.mesh, settings_.version,
                        describe_authority(*keys_), describe_signer(*keys_)}));
    }
    const auto& mesh = ledger_->state().mesh;
    if (arguments_.mesh_given && arguments_.mesh != mesh)
      return fail(ErrorCode::conflict, "this store is of mesh " + mesh + ", not of " +
                                           arguments_.mesh + ": another mesh has another --state");
    DATUM_ASSIGN(auto read, read_keys(state_folder_, ledger_->state()));
    keys_.emplace(std::move(read));
    return {};
  }

  Status listen() {
    DATUM_TRY(links_->listen(address_));
    DATUM_ASSIGN(
        server_,
        listen_local(*loop_, program::absolute_path(arguments_.socket), callers_, *blobs_,
                     [this](const LocalRequest& request, wire::Peer peer, const Reply& reply) {
                       desk_->answer(request, program::person(peer.uid, request.command_line),
                                     reply);
                     }));
    DATUM_ASSIGN(signals_, loop_->watch_signals({SIGTERM, SIGINT}, [this](int number) {
      end("signal " + std::to_string(number), 0);
    }));
    auto shown = address_;
    shown.port = links_->port();
    write_log(Weight::notice, "mesh " + ledger_->state().mesh + " listens at " +
                                  loop::to_string(shown) +
                                  ", authority sha256:" + keys_->authority.key.fingerprint().hex());
    return {};
  }

  // At each heartbeat; what is wrong with it is said once.
  void tell_metrics() {
    if (arguments_.metrics.empty() || loop_->clock().boot_now() < metrics_due_) return;
    metrics_due_ = BootNs{loop_->clock().boot_now().ns + settings_.heartbeat_ns};
    const auto written =
        write_metrics(program::absolute_path(arguments_.metrics), desk_->metrics());
    const auto problem = written ? std::string() : "metrics: " + written.error().message();
    if (!problem.empty() && problem != metrics_problem_) write_log(Weight::warning, problem);
    metrics_problem_ = problem;
  }

  void end(const std::string& reason, int code) {
    if (ending_) return;
    ending_ = true;
    exit_code_ = code;
    write_log(code == 0 ? Weight::notice : Weight::error, "ends: " + reason);
    look_->stop();
    links_->stop("the control plane ends");
    server_.reset();
    signals_.reset();
    ledger_->close(reason, [this](const Status& closed) {
      if (!closed && exit_code_ == 0) {
        write_log(Weight::error, closed.error().message());
        exit_code_ = kStoreExit;
      }
      loop_->stop();
    });
  }

  const Arguments& arguments_;
  const loop::Address address_;
  const Callers callers_;
  const bool with_marks_ = program::leads_to_journal(std::getenv("JOURNAL_STREAM"));
  const std::string state_folder_;
  LinkSettings settings_;
  // Jobs of the pool read blobs; the loop waits for them when it goes.
  std::unique_ptr<os::Files> files_;
  std::unique_ptr<blobs::BlobStore> blobs_;
  std::unique_ptr<loop::Loop> loop_;
  std::unique_ptr<loop::Network> network_;
  std::unique_ptr<loop::Timer> look_;
  std::unique_ptr<Ledger> ledger_;
  std::optional<Keyring> keys_;
  std::optional<NodeJournals> journals_;
  std::optional<LinkServer> links_;
  std::optional<RequestDesk> desk_;
  std::unique_ptr<wire::LocalServer> server_;
  std::unique_ptr<loop::Signals> signals_;
  BootNs metrics_due_;
  std::string metrics_problem_;
  bool ending_ = false;
  int exit_code_ = 0;
};

}  // namespace

int serve_command(const Arguments& arguments) {
  if (!crypto::is_name(arguments.mesh))
    return refuse({ErrorCode::invalid_argument,
                   "--mesh " + arguments.mesh + ": 1 to 63 of a-z, 0-9, '-', '.', '_'"});
  const auto address = find_listen_address(arguments.listen);
  if (!address)
    return refuse(
        {ErrorCode::invalid_argument, "--listen " + arguments.listen + ": not ADDRESS:PORT"});
  // Nodes take no other rhythm than this.
  constexpr std::int64_t kLeast = kNsPerSecond, kMost = 3600 * kNsPerSecond;
  const auto heartbeat = config::find_duration_ns(arguments.heartbeat).value_or(0);
  if (heartbeat < kLeast || heartbeat > kMost)
    return refuse({ErrorCode::invalid_argument,
                   "--heartbeat " + arguments.heartbeat + ": a second to an hour"});
  take_all_descriptors();
  program::survive_lost_peers();
  auto callers = Callers::find(arguments.admin_group, arguments.read_group);
  if (!callers) return refuse(callers.error());
  Server server(arguments, *address, std::move(*callers));
  return server.run();
}

}  // namespace datum::control
