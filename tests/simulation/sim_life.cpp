#include "sim_life.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/events.hpp"
#include "datum/os/accounts.hpp"

namespace datum::simulation {

namespace {

constexpr std::uint64_t kMaxSteps = 200'000;  // of one life; a pass takes a few hundred
constexpr std::int64_t kBetweenLivesNs = 600 * kNsPerSecond;

// Contents of a manifest that stand in it.
class InlineContents : public ContentSource {
 public:
  explicit InlineContents(model::ManifestPtr manifest) : manifest_(std::move(manifest)) {}
  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    for (const auto& resource : manifest_->resources)
      if (const auto* content = resource->content();
          content != nullptr && content->digest == digest)
        return std::unique_ptr<ByteSource>(std::make_unique<Text>(content->bytes));
    return fail(ErrorCode::not_found, "no such content");
  }

 private:
  class Text : public ByteSource {
   public:
    explicit Text(std::string text) : text_(std::move(text)) {}
    Result<std::size_t> read(MutableByteView out) override {
      const auto size = std::min(out.size(), text_.size() - at_);
      std::copy_n(as_bytes(text_).begin() + static_cast<std::ptrdiff_t>(at_), size, out.begin());
      at_ += size;
      return size;
    }

   private:
    std::string text_;
    std::size_t at_ = 0;
  };
  model::ManifestPtr manifest_;
};

// What strikes while it opens lies in wait from the start.
bool waits_for_phase(const Fault& fault) {
  return fault.phase && *fault.phase != Phase::opening;
}

bool ends_process(FaultKind kind) {
  return kind == FaultKind::kill || kind == FaultKind::power_cut || kind == FaultKind::unit_death;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  static constexpr std::string_view kNames[kFaultKinds] = {
      "kill",           "power cut",    "call fails",   "disk full", "journal write",
      "journal sync",   "journal full", "hold dropped", "stop",      "clock jump",
      "foreign writer", "unit death",   "unit fails"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Phase phase) {
  static constexpr std::string_view kNames[kPhases] = {
      "opening", "recovery", "observing", "announcing", "applying", "recording", "ending"};
  return kNames[static_cast<std::size_t>(phase)];
}

// --- the machine

Site::Site(std::uint64_t with_seed)
    : seed(with_seed), random(seed), disk(std::make_shared<journal::SimDisk>(seed)) {
  for (const char* folder : {kStore, "/etc", "/srv", "/etc/systemd/system"})
    files.put_directory(folder, 0755);
  files.set_mode_of(kStore, 0700);
  files.settle();
  for (const char* unit : {"app.service", "web.service"}) units.put(unit);
  boot.bytes[0] = 1;
}

Result<std::unique_ptr<journal::Log>> Site::open_journal() {
  journal::OpenOptions options;
  options.indexes = history::index_names();
  return journal::open_sim_log(disk, options, seed + stores_lost * 0x9E3779B97F4A7C15ULL);
}

void Site::unlock_journal() {
  if (disk->is_locked()) disk->unlock(disk->boot());
}

void Site::lose_store() {
  ++stores_lost;
  files.remove(kStore);
  files.put_directory(kStore, 0700);
  sync_store_name();
  disk = std::make_shared<journal::SimDisk>(random());
}

// Whoever makes a store makes its folder durable; here the journal lies elsewhere.
void Site::sync_store_name() {
  const auto parent = files.open_root("/var/lib");
  DATUM_ASSERT(parent && files.sync(*parent));
}

void Site::cut_power() {
  if (chance(25))
    files.crash_losing_everything();
  else
    files.crash(random());
  disk->crash();
  ++boot.bytes[1];
  units.reboot();
}

// --- one process

Life::Life(Site& site, Order order) : site_(site), order_(std::move(order)), loop_(site.random()) {
  loop_.set_boot_id(site_.boot);
  site_.wall_offset_ns += kBetweenLivesNs;
  loop_.jump_wall(site_.wall_offset_ns);
  content_ = std::make_shared<InlineContents>(order_.manifest);
  for (const auto& fault : order_.faults) {
    calls_left_.push_back(fault.nth);
    begun_.push_back(!waits_for_phase(fault));
  }
  site_.files.set_before_call(
      [this](support::Call call, std::string_view name) { before_call(call, name); });
  site_.units.set_before_call([this](support::UnitCall call, std::string_view name) {
    return at_unit_call(call, name, false);
  });
  site_.units.set_after_call([this](support::UnitCall call, std::string_view name) {
    return at_unit_call(call, name, true);
  });
}

Life::~Life() {
  die();
  site_.files.set_before_call({});
  site_.units.set_before_call({});
  site_.units.set_after_call({});
}

// A call that changes something counts for deaths; every call for failures.
std::optional<Error> Life::at_unit_call(support::UnitCall call, std::string_view name, bool after) {
  const Error dead(ErrorCode::cancelled, "the process is dead");
  if (died_at_unit_ || ended_) return dead;
  const bool changes = call != support::UnitCall::query;
  if (!after && changes && order_.on_unit_call) order_.on_unit_call(call, name);
  if (after && changes && order_.on_unit_done) order_.on_unit_done(call, name);
  for (std::size_t i = 0; i < order_.faults.size(); ++i) {
    const auto& fault = order_.faults[i];
    const bool dies = fault.kind == FaultKind::unit_death && changes;
    if (!dies && fault.kind != FaultKind::unit_fails) continue;
    if (!begun_[i] || fault.after != after) continue;
    if (calls_left_[i] == 0 || --calls_left_[i] > 0) continue;
    if (!dies) {
      strike(fault.kind);
      return Error(ErrorCode::timed_out, "the service manager did not answer in time");
    }
    died_at_unit_ = true;
    return dead;
  }
  return {};
}

bool Life::all_durable() const {
  return store_.history->healthy() && store_.history->durable() == store_.history->state().seq;
}

Phase Life::phase() const {
  if (!has_store() || !conductor_) return Phase::opening;
  if (!recovered_) return Phase::recovery;
  const auto& pass = state().pass;
  if (!pass) return report_ ? Phase::ending : Phase::observing;
  if (pass->open.empty()) return pass->waves == 0 ? Phase::observing : Phase::recording;
  return all_durable() ? Phase::applying : Phase::announcing;
}

void Life::strike(FaultKind kind) {
  if (order_.on_strike) order_.on_strike(kind);
}

void Life::before_call(support::Call call, std::string_view name) {
  if (ended_) return;
  if (order_.on_call) order_.on_call(call, name);
  for (std::size_t i = 0; i < order_.faults.size(); ++i) {
    const auto& fault = order_.faults[i];
    if (!begun_[i] || fault.kind != FaultKind::call_fails || fault.call != call) continue;
    if (calls_left_[i] == 0) continue;
    if (--calls_left_[i] > 0) continue;
    site_.files.fail_call(call, 1, fault.sys_errno);
    strike(fault.kind);
  }
}

Status Life::open() {
  auto log = site_.open_journal();
  if (!log) return fail(std::move(log).error());
  auto history = history::History::open(loop_, std::move(*log));
  if (!history) return fail(std::move(history).error());
  engine::StoreBinding binding{"/", "sim", "local", order_.version, {}};
  binding.fill_random = [this](MutableByteView out) {
    for (auto& byte : out) byte = static_cast<std::byte>(site_.random());
  };
  binding.witness = site_.witness;
  DATUM_ASSIGN(store_,
               engine::open_store_over(loop_, site_.files, kStore, std::move(*history), binding));
  DATUM_ASSIGN(root_, site_.files.open_root("/"));
  accounts_ = os::read_accounts(site_.files, root_);
  make_conductor();
  return {};
}

void Life::make_conductor() {
  machine_ = std::make_shared<resource::Machine>();
  machine_->files = &site_.files;
  machine_->root = &root_;
  machine_->root_path = "/";
  machine_->accounts = accounts_.get();
  machine_->units = &site_.units;
  machine_->content = content_.get();
  machine_->sensitive_key = store_.sensitive_key;
  conductor_ = std::make_unique<engine::Conductor>(loop_, store_, machine_);
}

engine::PassRequest Life::make_request() {
  engine::PassRequest request;
  request.manifest = order_.manifest;
  request.content = content_;
  request.version = order_.version;
  request.limits.allowed = 100;
  request.retry = order_.retry;
  request.crash_point = order_.crash_point;
  request.read_terms = [this] {
    core::ModeTerms terms;
    terms.argument = order_.mode;
    terms.held = held_;
    return terms;
  };
  return request;
}

bool Life::decide_orphans() {
  core::DecideOrphans decide;
  decide.decision = core::OrphanDecision::remove;
  for (const auto& [target, owned] : state().orphans) decide.targets.push_back(target);
  const auto decided = store_.history->execute(decide);
  if (!decided) report_.emplace(fail(decided.error()));
  return decided.has_value();
}

loop::Task<bool> Life::live() {
  auto request = make_request();
  auto recovering = conductor_->recover(request.read_terms, request.manifest);
  auto recovered = co_await recovering;
  recovered_ = true;
  if (!recovered) {
    report_.emplace(fail(std::move(recovered).error()));
    co_return false;
  }
  if (order_.decides && !decide_orphans()) co_return false;
  if (order_.pushed) {
    const auto bytes = codec::encode_manifest(*request.manifest, *content_);
    DATUM_ASSERT(bytes && store_.blobs->put(*bytes));
    request.declaration.manifest = crypto::sha256(*bytes);
  }
  if (order_.undo != 0) {
    auto preparing = engine::prepare_undoing(loop_, store_, order_.undo);
    auto undoing = co_await preparing;
    if (!undoing) {
      report_.emplace(fail(std::move(undoing).error()));
      co_return false;
    }
    request.manifest = (*undoing)->manifest;
    request.content = (*undoing)->content;
    machine_->content = request.content.get();
    request.undoing = std::move(*undoing);
  }
  auto running = conductor_->run(std::move(request));
  report_.emplace(co_await running);
  co_return true;
}

// Faults that lie in wait from the start.
void Life::plant() {
  for (const auto& fault : order_.faults) {
    if (waits_for_phase(fault)) continue;
    plant_in_journal(fault);
    if (ends_process(fault.kind) && fault.kind != FaultKind::unit_death && fault.after_changes != 0)
      site_.files.stop_at_change(fault.after_changes);
  }
}

void Life::plant_in_journal(const Fault& fault) {
  journal::SimFaults faults;
  if (fault.kind == FaultKind::journal_write) {
    faults.fail_write = fault.nth;
    faults.write_errno = fault.sys_errno;
  } else if (fault.kind == FaultKind::journal_sync) {
    faults.fail_sync = fault.nth;
  } else {
    if (fault.kind == FaultKind::journal_full)
      site_.disk->set_capacity(site_.disk->contents().size() + fault.nth * 512);
    return;
  }
  site_.disk->set_faults(faults);
}

// Those whose step has come, and those whose phase has.
void Life::begin_due(std::uint64_t step) {
  for (std::size_t i = 0; i < order_.faults.size(); ++i) {
    const auto& fault = order_.faults[i];
    if (!waits_for_phase(fault)) {
      if (fault.after_steps == step) strike_now(fault);
      continue;
    }
    if (begun_[i] || phase() != *fault.phase) continue;
    begun_[i] = true;
    plant_in_journal(fault);
    if (fault.kind == FaultKind::kill || fault.kind == FaultKind::power_cut) {
      if (fault.after_changes != 0)
        site_.files.stop_at_change(fault.after_changes);
      else
        is_struck_dead_ = true;
    }
    strike_now(fault);
  }
}

void Life::strike_now(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::hold:
      held_ = true;
      break;
    case FaultKind::stop:
      if (conductor_) conductor_->stop_request().stop("stopped by signal 15");
      break;
    case FaultKind::clock_jump:
      loop_.jump_wall(fault.by_ns);
      site_.wall_offset_ns += fault.by_ns;
      break;
    case FaultKind::disk_full:
      site_.files.set_free_bytes("/", fault.nth * 4096);
      break;
    case FaultKind::foreign_writer:
      if (order_.on_foreign_writer) order_.on_foreign_writer();
      break;
    default:
      return;
  }
  strike(fault.kind);
}

bool Life::is_dead(std::uint64_t step) {
  for (const auto& fault : order_.faults) {
    if (fault.kind == FaultKind::unit_death && died_at_unit_) {
      died_ = true;
      power_cut_ = fault.power;
      strike(fault.kind);
      return true;
    }
    if (!ends_process(fault.kind) || fault.kind == FaultKind::unit_death) continue;
    const bool due = waits_for_phase(fault) ? is_struck_dead_
                                            : fault.after_changes == 0 && step >= fault.after_steps;
    if (!due && !(fault.after_changes != 0 && site_.files.stopped())) continue;
    died_ = true;
    power_cut_ = fault.kind == FaultKind::power_cut;
    strike(fault.kind);
    return true;
  }
  // Stopped by a crash point of a test.
  died_ = died_ || site_.files.stopped();
  return died_;
}

void Life::notice_journal() {
  if (journal_failed_ || !has_store() || store_.history->healthy()) return;
  journal_failed_ = true;
  for (const auto& fault : order_.faults)
    if (fault.kind == FaultKind::journal_write || fault.kind == FaultKind::journal_sync ||
        fault.kind == FaultKind::journal_full)
      strike(fault.kind);
}

// Steps the loop until nothing is left to do or the process is dead. False if it hangs.
bool Life::drive() {
  for (std::uint64_t step = 0; step < kMaxSteps; ++step) {
    begin_due(step);
    if (is_dead(step)) return true;
    if (ended_ || !loop_.step()) return report_.has_value();
    notice_journal();
    if (order_.on_step) order_.on_step();
    if (report_ && !ended_) close();
  }
  return false;
}

// The orderly end, unless it leaves without.
void Life::close() {
  ended_ = !order_.closes || !store_.history->healthy() || state().pass.has_value();
  if (ended_ || !state().open) return;
  const auto closing = store_.history->execute(core::CloseStore{"the command ended"});
  if (!closing) return;
  store_.history->close([this](const Status&) { ended_ = true; });
}

std::string Life::run() {
  plant();
  const auto opened = open();
  if (!opened) {
    if (!is_dead(0)) notice_journal();
    return order_.faults.empty() ? "it does not start: " + opened.error().message() : "";
  }
  task_.emplace(live());
  loop_.post([this] { task_->start(); });
  if (!drive()) return "the pass hangs";
  if (report_ && !*report_ && order_.faults.empty() && !died_)
    return "a pass without a fault failed: " + report_->error().message();
  return {};
}

// What a process takes with it, and what its end leaves on the machine.
void Life::die() {
  ended_ = true;
  loop_.kill();
  task_.reset();
  conductor_.reset();
  machine_.reset();
  root_ = {};
  store_.blobs.reset();
  store_.history.reset();
  site_.disk->set_faults({});
  site_.disk->set_capacity(std::uint64_t{1} << 30);
  site_.files.set_free_bytes("/", std::uint64_t{1} << 40);
  if (power_cut_) {
    site_.cut_power();
  } else {
    site_.files.end_process();
    site_.unlock_journal();
  }
  site_.files.stop_at_change(0);
  site_.files.forget_faults();
}

}  // namespace datum::simulation
