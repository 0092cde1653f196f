// The release that runs: kept for the way back once it is confirmed, and what the rollback script
// did while another one was installed. The script (packaging/release/datum-release) keeps and
// restores; this tells it when, and tells the journal what it did.
#include <utility>

#include "datum/host/release_notes.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

constexpr const char* kProgram = "/usr/sbin/datum-host";
constexpr const char* kScript = "/usr/lib/datum/datum-release";
constexpr const char* kReleases = "/var/lib/datum/release";
constexpr const char* kRuntimeFolder = "/run/datum";
constexpr const char* kNoPass = "no-pass";
// The script copies some 30 MiB, syncs them and runs the copy once.
constexpr std::int64_t kKeptWithinNs = 150 * kNsPerSecond;
// It writes two small files and asks the service manager to read and to start.
constexpr std::int64_t kHandedOverWithinNs = 20 * kNsPerSecond;
// What this program writes (docs/formats/journal.md).
constexpr const char* kLevel = "1";

}  // namespace

// Only where the program that runs is the one that packages install.
bool Service::is_installed_release() const {
  return own_program_.path() == program::below(session_.root_path, kProgram);
}

void Service::tell_rollback() {
  if (!is_installed_release()) return;
  const auto folder = session_.files->open_root(program::below(session_.root_path, kReleases));
  if (!folder) return;
  const auto file = session_.files->open_file(*folder, "rolled-back", os::Access::read);
  if (!file) return;
  Bytes bytes(kMaxReleaseNote);
  const auto size = session_.files->read(*file, bytes);
  const auto note = size ? parse_rolled_back(as_text(ByteView(bytes).first(*size))) : std::nullopt;
  // A version that came after it, and does not work either, is no news of that one.
  if (!note || note->to != program::program_version()) return;
  const auto before = state().seq;
  record(core::RecordRolledBack{note->from, note->to, note->cause});
  if (state().seq == before) return;
  log_.write(Priority::error,
             "version " + note->from + " was rolled back to " + note->to + ": " + note->cause,
             {{"DATUM_EVENT", "rolledBack"}, {"DATUM_VERSION", note->from}});
}

// After what confirms it is durable. What fails is told once and tried again after the next pass.
loop::Task<bool> Service::keep_release() {
  const auto limit_ns = configuration_.pass_limit_ns.value;
  if (kept_with_ns_ == limit_ns || !is_installed_release() || !why_unrecorded().empty() ||
      state().confirmed_version != program::program_version())
    co_return false;
  const auto& root = session_.root_path;
  loop::ChildOptions child;
  child.argv = {program::below(root, kScript)};
  if (root != "/") child.argv.insert(child.argv.end(), {"--root", root});
  child.argv.insert(child.argv.end(),
                    {"confirm", program::program_version(), std::to_string(state().seq),
                     std::to_string(limit_ns / kNsPerSecond), kLevel});
  child.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/", "TERM=dumb"};
  child.timeout_ns = kKeptWithinNs;
  auto running = run_child(std::move(child));
  const auto ended = co_await running;
  if (ended && ended->exit_status == 0) {
    kept_with_ns_ = limit_ns;
    release_problem_.clear();
    co_return true;
  }
  const auto problem = "this release is not kept for a way back: " +
                       (ended ? ended->output : ended.error().message());
  if (problem != release_problem_) log_.warning(problem);
  release_problem_ = problem;
  co_return false;
}

// The version that comes may have units that do not load: from the copy of this one's script the
// watch over it begins before this one ends. Where this one was never kept there is no way back.
loop::Task<bool> Service::hand_over(const std::string& version) {
  const auto own = program::program_version();
  if (session_.root_path != "/" || !is_installed_release() || kept_with_ns_ == 0) co_return false;
  loop::ChildOptions child;
  child.argv = {kReleases + ("/" + release_folder(own)) + kScript, "handover", version};
  child.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/", "TERM=dumb"};
  child.timeout_ns = kHandedOverWithinNs;
  auto running = run_child(std::move(child));
  const auto ended = co_await running;
  const bool done = ended && ended->exit_status == 0;
  if (!done)
    log_.warning("version " + version +
                 " is not watched from here: " + (ended ? ended->output : ended.error().message()));
  co_return done;
}

// An unconfirmed version is not to blame for a pass that cannot run at all.
void Service::note_no_pass(const std::string& why) {
  const auto folder = session_.files->open_root(program::below(session_.root_path, kRuntimeFolder));
  if (!folder) return;
  auto removed = session_.files->remove_file(*folder, kNoPass);
  if (why.empty() || (!removed && removed.error().code() != ErrorCode::not_found)) return;
  const auto file = session_.files->create_file(*folder, kNoPass);
  if (file) static_cast<void>(session_.files->write(*file, as_bytes(why + "\n")).has_value());
}

loop::Task<Result<loop::ChildResult>> Service::run_child(loop::ChildOptions options) {
  using Ended = Result<loop::ChildResult>;
  std::function<void(std::function<void(Ended)>)> begin =
      [this, &options](std::function<void(Ended)> on) {
        auto started =
            session_.loop->spawn(options, [on](loop::ChildResult done) { on(std::move(done)); });
        if (!started) on(fail(std::move(started).error()));
      };
  auto waiting = loop::wait_for<Ended>(std::move(begin));
  co_return co_await waiting;
}

}  // namespace datum::host
