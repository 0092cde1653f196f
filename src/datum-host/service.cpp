// Life from start to end, and what wakes it.
#include "service.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "datum/program/run_task.hpp"
#include "datum/text/human.hpp"

namespace datum::host {

namespace {

// The manager waits longer than this before it kills (packaging/datum-host.service).
constexpr std::int64_t kEndWithinNs = 18 * kNsPerSecond;
constexpr std::int64_t kHourNs = 3600 * kNsPerSecond;
// Four wake-ups a minute; half of the unit's WatchdogSec.
constexpr std::int64_t kTickNs = 15 * kNsPerSecond;

}  // namespace

Service::Service(program::Session& session, config::Configuration configuration, Log& log,
                 Notifier& notifier)
    : session_(session),
      configuration_(std::move(configuration)),
      log_(log),
      notifier_(notifier),
      reader_(session.loop->make_serial_worker()),
      beat_(session.loop->make_timer()),
      hourly_(session.loop->make_timer()),
      watchdog_(session.loop->make_timer()),
      deadline_(session.loop->make_timer()),
      pause_(session.loop->make_timer()),
      reopen_(session.loop->make_timer()),
      guard_timer_(session.loop->make_timer()) {}

Service::~Service() = default;

int Service::run() {
  auto watching = session_.loop->watch_signals({SIGTERM, SIGINT, SIGHUP}, [this](int number) {
    if (number == SIGHUP) return reload();
    stop("signal " + std::to_string(number));
  });
  if (!watching) {
    log_.error(watching.error().message());
    return kStoreExit;
  }
  signals_ = std::move(*watching);
  auto every = kTickNs;
  if (notifier_.watchdog_ns() > 0) every = std::min(every, notifier_.watchdog_ns() / 2);
  watchdog_->start(every, every, [this] { tick(); });
  const int code = program::run_task(*session_.loop, live());
  signals_.reset();
  return code;
}

loop::Task<int> Service::live() {
  auto opening = open_store();
  const auto opened = co_await opening;
  if (!opened) {
    log_.error(program::with_remedy(opened.error(), session_.state_folder).message());
    notifier_.status(opened.error().message());
    co_return kStoreExit;
  }
  if (!*opened) co_return kOrderly;
  begin_rhythm();
  begin_mesh();
  auto guarding = begin_guard();
  co_await guarding;
  due_ = core::Trigger::start;
  while (!stopping_ && !leaving_for_upgrade_) {
    if (reopen_due_) {
      auto trying = try_to_record_again();
      co_await trying;
    } else if (std::exchange(revert_due_, false)) {
      auto reverting = revert_guarded();
      co_await reverting;
      ::malloc_trim(0);
      tell_status();
    } else if (std::exchange(upgrade_due_, false)) {
      auto looking = look_for_upgrade();
      leaving_for_upgrade_ = co_await looking;
    } else if (enrolling_) {
      auto asked = std::move(*std::exchange(enrolling_, std::nullopt));
      auto enrolling = enrol(std::move(asked));
      co_await enrolling;
    } else if (std::exchange(accept_due_, false) && mesh_ && mesh_->has_stored()) {
      auto accepting = accept_declaration();
      co_await accepting;
    } else if (manual_) {
      auto manual = std::move(*std::exchange(manual_, std::nullopt));
      auto carrying_out = carry_out(std::move(manual));
      co_await carrying_out;
      ::malloc_trim(0);
      tell_status();
    } else if (due_) {
      const auto trigger = *std::exchange(due_, std::nullopt);
      auto passing = pass(trigger);
      co_await passing;
      // What a pass needed is of no use until the next one.
      ::malloc_trim(0);
      tell_status();
    } else {
      auto waiting = wait_for_work();
      co_await waiting;
    }
  }
  auto ending = end(leaving_for_upgrade_ ? "another version is installed" : stop_reason_);
  co_await ending;
  co_return kOrderly;
}

// The store says that it was closed only where no pass is left open in it: the next start recovers
// from what is there otherwise.
loop::Task<bool> Service::end(std::string reason) {
  if (manual_) manual_->reply({"", "datum: the service ends: " + reason + "\n", kBusyExit});
  manual_.reset();
  if (enrolling_) enrolling_->reply({"", "datum: the service ends: " + reason + "\n", kBusyExit});
  enrolling_.reset();
  server_.reset();
  auto unlinking = end_mesh(reason);
  co_await unlinking;
  auto& history = *store_->history;
  if (!history.healthy() || history.is_unrecorded()) co_return false;
  if (!state().pass) record(core::CloseStore{"the service ended: " + reason});
  auto witnessing = write_witness(WitnessAt::end, nullptr);
  co_await witnessing;
  std::function<void(std::function<void(Status)>)> begin =
      [&history](std::function<void(Status)> resume) { history.close(std::move(resume)); };
  auto closing = loop::wait_for<Status>(std::move(begin));
  const auto closed = co_await closing;
  if (!closed) log_.error("the store was not closed in order: " + closed.error().message());
  co_return closed.has_value();
}

void Service::stop(const std::string& reason) {
  if (stopping_) return;
  stopping_ = true;
  stop_reason_ = reason;
  notifier_.stopping("ends: " + reason);
  log_.notice("ends: " + reason);
  if (conductor_ != nullptr) conductor_->stop_request().stop("the service ends: " + reason);
  deadline_->start(kEndWithinNs, 0, [this] { give_up(); });
  wake();
}

// An act that does not come to its end in time: a tool of the package manager goes on by itself and
// is found again, everything else is recovered from its announcement. The lock ends with the
// process.
void Service::give_up() {
  log_.warning("what was begun did not end within " + text::format_duration(kEndWithinNs) +
               ": it is recovered at the next start");
  ::_exit(kOrderly);
}

void Service::tick() {
  notifier_.feed_watchdog();
  if (store_) look_at_disk();
}

void Service::reload() {
  notifier_.reloading(session_.loop->clock().boot_now().ns / 1000);
  read_configuration_again(service_actor());
  note_hold(service_actor());
  notifier_.ready(status_words());
}

loop::Wait<bool> Service::wait_for_work() {
  return loop::Wait<bool>([this](std::function<void(bool)> resume) { wake_ = std::move(resume); });
}

// Shorter if something else wakes.
loop::Task<bool> Service::pause(std::int64_t delay_ns) {
  pause_->start(delay_ns, 0, [this] { wake(); });
  auto waiting = wait_for_work();
  co_await waiting;
  pause_->stop();
  co_return true;
}

void Service::wake() {
  if (!wake_) return;
  // In a turn of its own: whoever wakes has something to finish first.
  session_.loop->post([resume = std::exchange(wake_, nullptr)] { resume(true); });
}

void Service::ask_for_pass(core::Trigger trigger) {
  if (!due_) due_ = trigger;
  wake();
}

void Service::begin_rhythm() {
  const auto now = session_.loop->clock().boot_now();
  rhythm_ = make_rhythm(now, configuration_.interval_ns.value, state().store);
  beat_->start(rhythm_.first.ns - now.ns, rhythm_.interval_ns,
               [this] { ask_for_pass(core::Trigger::timer); });
  hourly_->stop();
  if (rhythm_.interval_ns > kHourNs)  // else every beat looks
    hourly_->start(kHourNs, kHourNs, [this] {
      upgrade_due_ = true;
      wake();
    });
}

std::string Service::status_words() {
  if (!store_) return doing_;
  if (!doing_.empty())
    return is_stuck_ ? doing_ + "; nothing can be recorded: " + why_unrecorded() : doing_;
  std::string words(core::to_string(status_now().condition));
  if (!has_desired())
    words = mesh_ ? "idle: no declaration came yet" : "idle: agent.yaml names no source";
  if (mesh_) words += "; " + mesh_->words();
  if (const auto why = why_unrecorded(); !why.empty()) words += "; nothing can be recorded: " + why;
  if (!problem_.empty()) words += "; " + problem_;
  if (!rejected_.empty()) words += "; agent.yaml is not in force: " + rejected_;
  return words;
}

void Service::tell_status() {
  notifier_.status(status_words());
}

}  // namespace datum::host
