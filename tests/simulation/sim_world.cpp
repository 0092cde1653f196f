#include "sim_world.hpp"

#include <algorithm>
#include <limits>

#include "datum/history/events.hpp"

namespace datum::simulation {

namespace {

constexpr Seq kNever = std::numeric_limits<Seq>::max();

std::string describe(const Order& order) {
  std::string text(core::to_string(order.mode));
  text += " version " + order.version + (order.closes ? "" : ", leaves without closing");
  for (const auto& fault : order.faults) {
    text += ", " + std::string(to_string(fault.kind));
    if (fault.phase) text += " in " + std::string(to_string(*fault.phase));
    if (fault.kind == FaultKind::call_fails)
      text += " " + std::string(support::to_string(fault.call)) + " " + std::to_string(fault.nth) +
              " errno " + std::to_string(fault.sys_errno);
    else
      text += " steps " + std::to_string(fault.after_steps) + " changes " +
              std::to_string(fault.after_changes) + " nth " + std::to_string(fault.nth);
  }
  return text;
}

}  // namespace

World::World(std::uint64_t seed) : site_(seed), manifest_(draw_manifest(site_)) {
  for (const auto& unit : unit_names())
    site_.units.at(unit).reads = [this, unit] { note_read(unit); };
}

void World::violate(const std::string& what) {
  violations_.push_back("life " + std::to_string(counts_.lives) + ": " + what);
}

Fault World::draw_fault(FaultKind kind) {
  static constexpr int kErrnos[] = {5, 28, 30, 12, 13};  // EIO ENOSPC EROFS ENOMEM EACCES
  constexpr std::uint64_t kCalls = static_cast<std::uint64_t>(support::Call::space) + 1;
  Fault fault;
  fault.kind = kind;
  if (site_.chance(70)) fault.phase = static_cast<Phase>(site_.draw(kPhases));
  fault.after_steps = 1 + site_.draw(35);
  if (site_.chance(60)) fault.after_changes = 1 + site_.draw(fault.phase ? 6 : 60);
  fault.call = static_cast<support::Call>(site_.draw(kCalls));
  fault.nth = 1 + site_.draw(site_.chance(50) ? 4 : 30);
  if (fault.phase) fault.nth = 1 + site_.draw(3);
  if (fault.phase == Phase::opening) {
    fault.after_steps = 1;
    fault.after_changes = 1 + site_.draw(3);
  }
  fault.sys_errno = kErrnos[site_.draw(std::size(kErrnos))];
  fault.by_ns = (static_cast<std::int64_t>(site_.draw(3)) - 1) * 400LL * 24 * 3600 * kNsPerSecond;
  fault.after = site_.chance(50);
  fault.power = site_.chance(40);
  if (kind == FaultKind::unit_death || kind == FaultKind::unit_fails) fault.nth = 1 + site_.draw(8);
  if (kind == FaultKind::journal_write && fault.sys_errno != 5) fault.sys_errno = 28;
  return fault;
}

Order World::draw_order() {
  Order order;
  order.manifest = manifest_;
  order.mode = site_.chance(25) ? core::Mode::observe : core::Mode::enforce;
  if (site_.chance(8)) version_ = version_ == "1" ? "2" : "1";
  order.version = version_;
  order.retry = site_.chance(10);
  order.closes = site_.chance(70);
  const auto count = site_.chance(20) ? 0 : 1 + site_.draw(3);
  bool dies = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto fault = draw_fault(static_cast<FaultKind>(site_.draw(kFaultKinds)));
    const bool deadly = fault.kind == FaultKind::kill || fault.kind == FaultKind::power_cut ||
                        fault.kind == FaultKind::unit_death;
    if (deadly && dies) fault = draw_fault(FaultKind::call_fails);
    dies = dies || deadly;
    order.faults.push_back(fault);
  }
  return order;
}

void World::write_as_foreigner(bool in_pass) {
  // While the journal has an open pass, what is put there whole may pass for that pass's own work.
  foreigner_.write(site_, *manifest_, !in_pass && !state_.pass);
  ++counts_.seen["foreign writer"];
  touched_in_pass_ = touched_in_pass_ || in_pass;
  for (const auto& path : foreigner_.written()) touched_[path] = in_pass ? kNever : state_.seq;
  tree_ = describe_tree(site_);
  note_contents(true);
}

void World::before_life() {
  if (site_.chance(40)) manifest_ = draw_manifest(site_);
  if (site_.chance(30)) write_as_foreigner(false);
  if (!site_.chance(3)) return;
  ++counts_.seen["store lost"];
  // A later one than this store's own would have the orphans that are undecided in it too.
  if (!state_.store.empty())
    site_.witness = std::make_shared<const core::Witness>(
        core::make_witness(state_, {state_.store, state_.seq, {}}));
  site_.lose_store();
  remembered_.reset();
  touched_.clear();
  forget_debts();
  state_ = {};
  story_.emplace_back("the store is lost");
}

void World::watch(Order& order) {
  order.on_call = [this](support::Call call, std::string_view name) { check_call(call, name); };
  order.on_step = [this] { check_step(); };
  watch_units(order);
  order.on_foreign_writer = [this] { write_as_foreigner(true); };
  order.on_strike = [this](FaultKind kind) {
    const auto phase = static_cast<std::size_t>(life_->phase());
    ++counts_.hits[static_cast<std::size_t>(kind)][phase];
  };
}

void World::run(Order order) {
  ++counts_.lives;
  story_.push_back(std::to_string(counts_.lives) + ": " + describe(order));
  watch(order);
  touched_in_pass_ = false;
  place_reads();
  remembered_.reset();
  tree_ = describe_tree(site_);
  contents_ = read_contents();
  {
    Life life(site_, std::move(order));
    life_ = &life;
    if (const auto wrong = life.run(); !wrong.empty()) violate(wrong);
    check_end(life);
    life_ = nullptr;
  }
  // What changed since is not Datum's doing: what was not synced went with the power.
  contents_ = read_contents();
  check_journal();
  for (auto& [path, seq] : touched_)
    if (seq == kNever) seq = state_.seq;
}

// While the process still has its memory.
void World::check_end(const Life& life) {
  counts_.steps += life.steps();
  if (!life.has_store()) return;
  const auto& state = life.state();
  if (life.died() && state.pass && !state.pass->open.empty()) ++counts_.deaths_in_wave;
  if (life.all_durable()) remembered_ = state;
  const auto& report = life.report();
  if (life.order().mode == core::Mode::enforce) drop_debts(*life.order().manifest);
  if (!report || !*report || !life.all_durable() || touched_in_pass_) return;
  ++counts_.seen["passes ended"];
  if ((*report)->status.condition != core::Condition::converged) return;
  if (state.loss) violate("said to be converged, and a lost store is undecided");
  ++counts_.seen["passes converged"];
  const auto difference = find_difference(site_, *life.order().manifest);
  if (!difference.empty()) violate("said to be converged: " + difference);
  check_debts(*life.order().manifest);
}

void World::live_once() {
  before_life();
  run(draw_order());
  if (!violations_.empty() || !site_.chance(8)) return;
  ++counts_.seen["power cut between lives"];
  story_.emplace_back("power cut");
  site_.cut_power();
  check_journal();
}

void World::heal_and_demand() {
  Order order;
  order.manifest = manifest_;
  order.version = version_;
  order.retry = true;
  order.decides = true;
  run(order);
  run(order);
  if (state_.loss || !state_.orphans.empty()) violate("the loss of a store has no end");
  const auto left = leftovers();
  if (!left.empty()) violate("left behind: " + left.front());
  const auto difference = find_difference(site_, *manifest_);
  if (!difference.empty()) violate("not converged: " + difference);
  check_debts(*manifest_);
  const auto before = state_.seq;
  const auto tree = describe_tree(site_);
  run(order);
  if (describe_tree(site_) != tree) violate("a converged pass changed the tree");
  if (state_.seq > before + 4)
    violate("a converged pass appended " + std::to_string(state_.seq - before) + " records");
}

// Files of this store's own actions. What a lost store left, nobody knows of.
std::vector<std::string> World::leftovers() {
  std::vector<std::string> found;
  const auto prefix = "/.datum-" + state_.store.hex().substr(0, 16);
  for (const auto& path : site_.files.paths())
    if (path.find(prefix) != std::string::npos) found.push_back(path);
  return found;
}

void World::count_events() {
  auto log = site_.open_journal();
  if (!log) return violate("the journal does not open: " + log.error().message());
  const auto scanned = history::scan_events(**log, 1, [&](const history::StoredEvent& stored) {
    if (const auto* recovered = std::get_if<core::ActionRecovered>(&stored.event))
      ++counts_.seen["recovered: " + std::string(core::to_string(recovered->outcome)) +
                     (recovered->temporary_left ? ", file left" : "")];
    else if (const auto* quarantined = std::get_if<core::ActionQuarantined>(&stored.event))
      ++counts_.seen[quarantined->deaths == 0 ? "quarantine lifted" : "quarantined"];
    else if (const auto* cut = std::get_if<core::PassInterrupted>(&stored.event))
      ++counts_.seen["interrupted: " + std::string(core::to_string(cut->cause))];
    else if (std::holds_alternative<core::ActionSucceeded>(stored.event))
      ++counts_.seen["actions succeeded"];
    else if (std::holds_alternative<core::ActionFailed>(stored.event))
      ++counts_.seen["actions failed"];
    else if (std::holds_alternative<core::ActionSkipped>(stored.event))
      ++counts_.seen["actions skipped"];
    else if (const auto* delivered = std::get_if<core::NotificationDelivered>(&stored.event))
      ++counts_.seen[delivered->repeated ? "notifications delivered, marked repeated"
                                         : "notifications delivered"];
    else if (std::holds_alternative<core::DeliveryFailed>(stored.event))
      ++counts_.seen["deliveries failed"];
    else if (std::holds_alternative<core::NotificationDropped>(stored.event))
      ++counts_.seen["notifications dropped"];
    else if (std::holds_alternative<core::ActionToolAdopted>(stored.event))
      ++counts_.seen["jobs adopted"];
    else if (std::holds_alternative<core::ActionStillRunning>(stored.event))
      ++counts_.seen["jobs left running"];
    return journal::Visit::go_on;
  });
  if (!scanned) violate("the journal cannot be read: " + scanned.error().message());
  log->reset();
  site_.unlock_journal();
}

}  // namespace datum::simulation
