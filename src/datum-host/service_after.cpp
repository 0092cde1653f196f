// What follows a pass: the file for node_exporter, and a look at what is installed.
#include <utility>

#include "datum/host/metrics.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

// A reader sees the old file or the new one, whole. Nothing of it has to outlive a power cut.
Status replace_file(os::Files& files, const std::string& path, std::string_view text) {
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash + 1);
  const auto part = "." + name + ".new";
  DATUM_ASSIGN(const auto folder, files.open_root(slash == 0 ? "/" : path.substr(0, slash)));
  if (auto removed = files.remove_file(folder, part);
      !removed && removed.error().code() != ErrorCode::not_found)
    return removed;
  DATUM_ASSIGN(const auto file, files.create_file(folder, part));
  DATUM_TRY(files.set_mode(file, 0644));
  DATUM_TRY(files.write(file, as_bytes(text)));
  return files.rename(folder, part, folder, name, false);
}

// "datum-host 0.2.0 (commit)" → "0.2.0 (commit)".
std::string version_in(const std::string& output) {
  constexpr std::string_view kName = "datum-host ";
  if (!output.starts_with(kName)) return {};
  return output.substr(kName.size(), output.find_first_of(",\n") - kName.size());
}

}  // namespace

void Service::write_metrics() {
  if (!configuration_.metrics.value) return;
  Metrics metrics;
  metrics.version = program::program_version();
  metrics.status = status_now();
  metrics.enforces = core::host_mode(terms(std::nullopt)).mode == core::Mode::enforce;
  metrics.is_recorded = why_unrecorded().empty();
  metrics.head = state().seq;
  if (const auto& last = state().last_pass) {
    metrics.last_pass = last->wall;
    metrics.last_pass_duration_ns = last->finished.duration_ns;
  }
  metrics.written = session_.loop->clock().wall_now();
  const auto path = program::below(session_.root_path, *configuration_.metrics.value);
  const auto written = replace_file(*session_.files, path, metrics_text(metrics));
  const auto problem = written ? std::string() : "metrics: " + written.error().message();
  if (problem != metrics_problem_ && !problem.empty()) log_.warning(problem);
  metrics_problem_ = problem;
}

// The new program is asked for its version before this one makes room for it: what cannot even say
// that is no upgrade.
loop::Task<bool> Service::look_for_upgrade() {
  if (!own_program_.is_replaced() || stopping_) co_return false;
  constexpr std::int64_t kAnswerWithinNs = 10 * kNsPerSecond;
  loop::ChildOptions child;
  child.argv = {own_program_.path(), "--version"};
  child.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/", "TERM=dumb"};
  child.timeout_ns = kAnswerWithinNs;
  auto asking = run_child(std::move(child));
  const auto asked = co_await asking;
  const auto version = asked && asked->exit_status == 0 ? version_in(asked->output) : "";
  if (version.empty()) {
    own_program_.forget();
    log_.error(own_program_.path() +
               " was replaced by a program that does not say its version: " + "this one goes on");
    co_return false;
  }
  log_.write(Priority::notice, "version " + version + " is installed: makes room for it",
             {{"DATUM_EVENT", "upgradePending"}, {"DATUM_VERSION", version}});
  auto handing_over = hand_over(version);
  co_await handing_over;
  if (state().pass) co_return true;
  record(core::RecordUpgradePending{program::program_version(), version});
  auto waiting = wait_durable();
  static_cast<void>(co_await waiting);
  upgrading_to_ = version;
  auto telling = tell_upgrade(state().seq);
  co_await telling;
  co_return true;
}

// Upstream is to know why it is silent from now on; where nobody takes it in time it goes all the
// same. The status goes before the records.
loop::Task<bool> Service::tell_upgrade(Seq through) {
  constexpr std::int64_t kKnownWithinNs = 5 * kNsPerSecond, kLookNs = kNsPerSecond / 10;
  if (!mesh_ || !mesh_->is_up()) co_return false;
  mesh_->report();
  const auto until = session_.loop->clock().boot_now().ns + kKnownWithinNs;
  while (!stopping_ && mesh_->is_up() && kept_through_ < through &&
         session_.loop->clock().boot_now().ns < until) {
    auto pausing = pause(kLookNs);
    co_await pausing;
  }
  co_return kept_through_ >= through;
}

}  // namespace datum::host
