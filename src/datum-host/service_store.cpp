// The store's part of the service's life: taken at the start, waited for where somebody else has
// it, set aside where it is damaged, done without while it cannot be written.
#include <utility>

#include "datum/engine/set_aside.hpp"
#include "datum/history/open.hpp"
#include "datum/text/human.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

// Whoever has the store is a command that ends soon, or one that waits for a package manager: a
// look every ten seconds costs nothing.
constexpr std::int64_t kFirstTryNs = kNsPerSecond;
constexpr std::int64_t kLastTryNs = 10 * kNsPerSecond;
// A disk that is full or broken does not mend itself within seconds.
constexpr std::int64_t kFirstReopenNs = 10 * kNsPerSecond;
constexpr std::int64_t kLastReopenNs = 300 * kNsPerSecond;

bool is_of_the_disk(ErrorCode code) {
  return code == ErrorCode::io_error || code == ErrorCode::no_space || code == ErrorCode::read_only;
}

// Somebody has it, it could not be looked at in time, or the disk does not answer: none of this
// says that it is wrong, and none is a fault of this program.
bool is_worth_waiting(ErrorCode code) {
  return code == ErrorCode::busy || code == ErrorCode::timed_out || is_of_the_disk(code);
}

}  // namespace

// false: told to stop before there was one.
loop::Task<Result<bool>> Service::open_store() {
  engine::StoreBinding binding{session_.root_path,
                               program::host_name(configuration_.host.value.value_or("")), "local",
                               program::program_version(), program::trusted_uid()};
  binding.is_own_name = !configuration_.host.value;
  bool set_aside = false;
  for (std::uint32_t failures = 0; !stopping_;) {
    read_witness(binding);
    auto opened =
        engine::open_store(*session_.loop, session_.store_files(), session_.state_folder, binding);
    auto taken = opened ? Status{} : Status(fail(opened.error()));
    if (opened) {
      auto taking = take_store(std::move(*opened));
      taken = co_await taking;
    }
    if (taken) {
      tell_loss();
      auto witnessing = write_witness(WitnessAt::start, binding.witness.get());
      co_await witnessing;
      co_return true;
    }
    auto error = taken.error();
    if (error.code() == ErrorCode::corrupt && !set_aside) {
      const auto moved = set_aside_damaged(error);
      // Somebody else has it, and may move it himself: looked at again afterwards.
      if (!moved && moved.error().code() != ErrorCode::busy) co_return fail(moved.error());
      set_aside = moved.has_value();
      if (set_aside) continue;
      error = moved.error();
    }
    if (!is_worth_waiting(error.code())) co_return fail(error);
    doing_ = "waits for the store: " + error.message();
    note_no_pass(doing_);
    if (failures == 0) log_.warning(doing_);
    if (std::exchange(ready_, true))
      notifier_.status(doing_);
    else
      notifier_.ready(doing_);
    auto pausing = pause(backoff_ns(++failures, kFirstTryNs, kLastTryNs));
    co_await pausing;
  }
  co_return false;
}

Status Service::set_aside_damaged(const Error& damage) {
  log_.error("the store is damaged: " + damage.message());
  DATUM_ASSIGN(const auto moved, engine::set_aside(session_.store_files(), session_.state_folder,
                                                   session_.loop->clock().wall_now()));
  log_.error("the damaged store was moved to " + moved.moved_to +
             " and a new one begins; nothing was deleted");
  return {};
}

// On an error there is no store afterwards.
loop::Task<Status> Service::take_store(engine::Store store) {
  store_.emplace(std::move(store));
  if (store_->key_was_lost)
    log_.warning(
        "the store had lost its key, and has a new one: sensitive files look changed once");
  // A node stays one: the link finds out whether it is connected.
  if (state().lifecycle == core::NodeLifecycle::unmanaged)
    record(
        core::ChangeLifecycle{core::NodeLifecycle::hosted, "the service started", service_actor()});
  tell_rollback();
  auto waiting = wait_durable();
  auto durable = co_await waiting;
  if (!durable) {
    store_.reset();
    co_return durable;
  }
  // From here on the service goes on without its disk, if it must.
  store_->history->keep_durable_state();
  open_socket();
  doing_.clear();
  if (std::exchange(ready_, true))
    tell_status();
  else
    notifier_.ready(status_words());
  co_return Status{};
}

loop::Task<Status> Service::wait_durable() {
  auto& history = *store_->history;
  std::function<void(std::function<void(Status)>)> begin =
      [&history, seq = history.state().seq](std::function<void(Status)> resume) {
        history.when_durable(seq, std::move(resume));
      };
  auto wait = loop::wait_for<Status>(std::move(begin));
  co_return co_await wait;
}

void Service::record(const core::Command& command) {
  if (!store_ || !store_->history->healthy()) return;
  const auto done = store_->history->execute(command);
  if (!done) log_.warning("not recorded: " + done.error().message());
}

// Every event that is not durable is dropped, and the State goes back to what is.
loop::Task<bool> Service::become_unrecorded() {
  auto& history = *store_->history;
  auto waiting = wait_durable();
  const auto why = co_await waiting;
  unwritable_ = why ? "the store cannot be written" : why.error().message();
  unwritable_errno_ = why ? 0 : why.error().sys_errno();
  while (history.is_committing()) {
    std::function<void(std::function<void(Status)>)> begin =
        [&history](std::function<void(Status)> resume) { history.reserve(0, std::move(resume)); };
    auto settling = loop::wait_for<Status>(std::move(begin));
    co_await settling;
  }
  if (mesh_) {
    auto quieting = mesh_->be_quiet();
    co_await quieting;
  }
  log_.error("nothing can be recorded, so nothing is changed any more: " + unwritable_);
  note_no_pass("nothing can be recorded");
  history.go_unrecorded();
  parked_blobs_ = std::move(store_->blobs);
  reopen_failures_ = 1;
  reopen_->start(kFirstReopenNs, 0, [this] {
    reopen_due_ = true;
    wake();
  });
  co_return true;
}

std::string Service::why_unrecorded() const {
  if (store_->history->is_unrecorded()) return unwritable_;
  return is_stuck_ ? "the disk has not ended a commit for over a minute" : "";
}

// A call into the disk that does not return cannot be given up: what waits for it waits. It is
// said, and nothing is begun, until it returns.
void Service::look_at_disk() {
  constexpr std::int64_t kLongestCommitNs = 60 * kNsPerSecond;
  const auto now = session_.loop->clock().boot_now();
  const auto durable = store_->history->durable();
  const bool waits = !store_->history->is_unrecorded() && state().seq > durable;
  if (!waits || durable != last_durable_) {
    last_durable_ = durable;
    durable_moved_ = now;
    if (!std::exchange(is_stuck_, false)) return;
    log_.notice("the disk has ended its commit");
    return tell_status();
  }
  if (is_stuck_ || now.ns - durable_moved_.ns <= kLongestCommitNs) return;
  is_stuck_ = true;
  log_.error("nothing can be recorded: " + why_unrecorded());
  tell_status();
}

// A journal that opens on a disk that takes and gives back a file is taken to be writable again.
static Result<std::unique_ptr<journal::Log>> reopen(os::Files& files, const std::string& folder) {
  constexpr std::string_view kProbe = "probe";
  const auto text = as_bytes("what is written can be read\n");
  DATUM_ASSIGN(const auto handle, files.open_root(folder));
  if (auto removed = files.remove_file(handle, kProbe);
      !removed && removed.error().code() != ErrorCode::not_found)
    return fail(std::move(removed).error());
  {
    DATUM_ASSIGN(const auto file, files.create_file(handle, kProbe));
    DATUM_TRY(files.write(file, text));
    DATUM_TRY(files.sync(file));
    DATUM_TRY(files.sync(handle));
    DATUM_TRY(files.seek(file, 0));
    Bytes read(text.size() + 1);
    DATUM_ASSIGN(const auto size, files.read(file, read));
    if (as_text(ByteView(read).first(size)) != as_text(text))
      return fail(ErrorCode::io_error, "a file that was synced reads back as something else");
  }
  DATUM_TRY(files.remove_file(handle, kProbe));
  return history::open_log_again(folder);
}

loop::Task<bool> Service::try_to_record_again() {
  reopen_due_ = false;
  using Opened = Result<std::unique_ptr<journal::Log>>;
  std::function<Opened()> work = [&files = session_.store_files(), folder = session_.state_folder] {
    return reopen(files, folder);
  };
  auto opening = loop::run_on<Opened>(*reader_, std::move(work));
  auto log = co_await opening;
  Status resumed = log ? Status{} : fail(log.error());
  if (log)
    resumed = store_->history->resume(std::move(*log),
                                      Error(ErrorCode::io_error, unwritable_, unwritable_errno_));
  if (resumed) {
    store_->blobs = std::move(parked_blobs_);
    if (mesh_) mesh_->go_on();
    accept_due_ = true;
    log_.notice("the store can be written again");
    unwritable_.clear();
    ask_for_pass(core::Trigger::start);
    co_return true;
  }
  unwritable_ = resumed.error().message();
  reopen_->start(backoff_ns(++reopen_failures_, kFirstReopenNs, kLastReopenNs), 0, [this] {
    reopen_due_ = true;
    wake();
  });
  tell_status();
  co_return false;
}

}  // namespace datum::host
