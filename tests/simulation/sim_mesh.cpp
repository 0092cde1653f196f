// Time that all loops share, and processes that begin and end in it.
#include "sim_mesh.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace datum::simulation {

std::string_view to_string(MeshFault fault) {
  static constexpr std::string_view kNames[kMeshFaults] = {
      "node killed",    "node's power", "call fails", "journal fails", "disk full",
      "control killed", "its power",    "held back",  "way breaks",    "machine sleeps",
      "clock jump",     "foreigner",    "hold",       "mode",          "store lost"};
  return kNames[static_cast<std::size_t>(fault)];
}

std::string_view to_string(MeshPhase phase) {
  static constexpr std::string_view kNames[kMeshPhases] = {
      "down", "stranger", "unlinked", "taking", "observing", "applying", "idle"};
  return kNames[static_cast<std::size_t>(phase)];
}

MeshWorld::MeshWorld(std::uint64_t seed, std::size_t nodes)
    : seed_(seed),
      random_(seed),
      wires_(random_(), 1),
      network_(wires_, random_()),
      plane_site_(random_()) {
  start_plane();
  for (std::size_t i = 0; i < nodes; ++i) {
    members_.push_back(std::make_unique<Member>());
    auto& member = *members_.back();
    member.site = std::make_unique<NodeSite>("n" + std::to_string(i + 1), random_());
    member.site->mode = chance(80) ? core::Mode::enforce : core::Mode::observe;
    start_node(member);
    if (chance(80)) give_token(member);
  }
}

MeshWorld::~MeshWorld() {
  for (auto& member : members_) member->process.reset();
  plane_.reset();
}

void MeshWorld::violate(const std::string& what) {
  violations_.push_back("at " + std::to_string(now_.ns / kNsPerSecond) + " s: " + what);
}

void MeshWorld::tell(const std::string& what) {
  story_.push_back(std::to_string(now_.ns / kNsPerMs) + " ms: " + what);
}

// --- time

void MeshWorld::later(std::int64_t ns, std::function<void()> call) {
  later_.emplace(now_.ns + ns, std::move(call));
}

void MeshWorld::advance(BootNs to) {
  now_ = to;
  wires_.advance_to(to);
  if (plane_) plane_->loop().advance_to(to);
  for (auto& member : members_)
    if (member->process && member->asleep_until <= to) member->process->loop().advance_to(to);
}

// Of whatever is due first: what was put off, the wires, the control plane, the nodes in order.
bool MeshWorld::step_earliest(BootNs end) {
  enum class Who : std::uint8_t { nobody, world, wires, plane, node };
  auto who = Who::nobody;
  Member* whose = nullptr;
  BootNs at{std::numeric_limits<std::int64_t>::max()};
  const auto offer = [&](std::optional<BootNs> due, Who which, Member* member = nullptr) {
    if (!due || *due >= at) return;
    at = *due;
    who = which;
    whose = member;
  };
  if (!later_.empty()) offer(BootNs{later_.begin()->first}, Who::world);
  offer(wires_.next_due(), Who::wires);
  if (plane_) offer(plane_->loop().next_due(), Who::plane);
  for (auto& member : members_) {
    if (!member->process) continue;
    auto due = member->process->loop().next_due();
    if (due) due = std::max(*due, member->asleep_until);
    offer(due, Who::node, member.get());
  }
  if (who == Who::nobody || at > end) return false;
  advance(std::max(at, now_));
  ++counts_.steps;
  if (who == Who::world) {
    const auto call = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    call();
  } else if (who == Who::wires) {
    wires_.step();
  } else if (who == Who::plane) {
    plane_->loop().step();
  } else {
    whose->process->loop().step();
  }
  // Whoever spoke over the wires did so in a step of theirs: everybody is looked at.
  if (who == Who::plane || who == Who::wires) after_plane_step();
  if (who == Who::node) after_step(*whose);
  if (who == Who::wires)
    for (auto& member : members_) after_step(*member);
  return true;
}

void MeshWorld::run_for(std::int64_t ns) {
  const BootNs end{now_.ns + ns};
  counts_.simulated_s += static_cast<std::uint64_t>(ns / kNsPerSecond);
  while (violations_.empty() && step_earliest(end)) {
  }
  advance(end);
}

// --- nodes

MeshPhase MeshWorld::phase_of(const Member& member) const {
  if (!member.process || !member.process->has_store()) return MeshPhase::down;
  const auto& process = *member.process;
  const auto& state = process.state();
  if (state.pass) return state.pass->open.empty() ? MeshPhase::observing : MeshPhase::applying;
  if (process.is_passing()) return MeshPhase::observing;
  const bool is_node = state.lifecycle == core::NodeLifecycle::enrolled ||
                       state.lifecycle == core::NodeLifecycle::disconnected;
  if (!is_node) return MeshPhase::stranger;
  if (state.stored != state.accepted || process.is_fetching()) return MeshPhase::taking;
  return process.is_linked() ? MeshPhase::idle : MeshPhase::unlinked;
}

void MeshWorld::strike(Member& member, MeshFault fault) {
  const auto phase = phase_of(member);
  ++counts_.hits[static_cast<std::size_t>(fault)][static_cast<std::size_t>(phase)];
  tell(member.site->name + ", " + std::string(to_string(phase)) + ": " +
       std::string(to_string(fault)));
}

NodeProcess::Watch MeshWorld::watch(Member& member) {
  NodeProcess::Watch watch;
  watch.on_call = [this, &member](support::Call call, std::string_view name) {
    check_call(member, call, name);
  };
  watch.on_pass = [this, &member](const model::Manifest& manifest,
                                  const engine::PassReport& report) {
    check_pass(member, manifest, report);
  };
  watch.on_failed_pass = [this, &member](const std::string& why) {
    ++counts_.seen["passes that did not run"];
    tell(member.site->name + ": no pass: " + why);
  };
  watch.on_accepted = [this, &member](const core::DeclarationId& id) {
    ++counts_.seen["declarations accepted"];
    const core::Generation generation{id.epoch, id.number};
    if (generation <= member.accepted)
      violate(member.site->name + " accepted a generation that is not newer");
    member.accepted = generation;
    tell(member.site->name + " accepts " + std::to_string(id.number));
  };
  return watch;
}

void MeshWorld::start_node(Member& member) {
  if (member.process) return;
  member.touched_in_pass = false;
  member.waves = 0;
  member.process = std::make_unique<NodeProcess>(*member.site, network_, now_, watch(member));
  if (const auto started = member.process->start(); !started) {
    tell(member.site->name + " does not start: " + started.error().message());
    if (!member.site->files.stopped() && healing_)
      violate(member.site->name + " does not start: " + started.error().message());
    return end_node(member, false);
  }
  if (member.process->has_failed()) return end_node(member, false);
}

// The faults of one life end with it.
void MeshWorld::lift_faults(Member& member) {
  auto& site = *member.site;
  site.disk->set_faults({});
  site.disk->set_capacity(std::uint64_t{1} << 30);
  site.files.set_free_bytes("/", std::uint64_t{1} << 40);
  site.files.stop_at_change(0);
  site.files.forget_faults();
  member.dies_in.reset();
}

void MeshWorld::end_node(Member& member, bool with_power) {
  if (!member.process) return;
  member.remembered.reset();
  if (member.process->has_store() && member.process->is_durable())
    member.remembered = member.process->state();
  if (with_power) network_.vanish(member.site->name);
  member.process.reset();
  if (with_power) member.site->cut_power();
  lift_faults(member);
  check_journal(member);
  if (member.armed && member.armed->second == MeshPhase::down && !healing_)
    later(kNsPerMs, [this, &member] {
      if (member.armed) fault(member, std::exchange(member.armed, std::nullopt)->first);
    });
  ++counts_.seen["lives of nodes"];
  later(static_cast<std::int64_t>(1 + draw(20'000)) * kNsPerMs,
        [this, &member] { start_node(member); });
}

// Whether it died in that step, or cannot go on.
void MeshWorld::after_step(Member& member) {
  if (!member.process) return;
  note_pass(member);
  if (member.armed && phase_of(member) == member.armed->second)
    fault(member, std::exchange(member.armed, std::nullopt)->first);
  if (!member.process) return;
  const bool is_due = member.dies_in && (*member.dies_in)-- == 0;
  if (is_due || member.site->files.stopped()) {
    strike(member, member.with_power ? MeshFault::node_power : MeshFault::node_kill);
    return end_node(member, member.with_power);
  }
  if (member.process->has_failed()) {
    tell(member.site->name + " cannot go on");
    end_node(member, false);
  }
}

// What the questions about a call need: since when what was announced stands in the journal.
void MeshWorld::note_pass(Member& member) {
  if (!member.process->has_store()) return;
  const auto& pass = member.process->state().pass;
  if (!pass) {
    member.waves = 0;
    if (!member.process->is_passing()) {
      member.pass_mode = core::Mode::observe;
      member.touched_in_pass = false;
    }
  } else if (pass->waves != member.waves) {
    member.waves = pass->waves;
    member.announced = member.process->state().seq;
  }
  if (core::host_mode(member.process->terms()).mode == core::Mode::enforce)
    member.pass_mode = core::Mode::enforce;
}

// --- control plane

void MeshWorld::start_plane() {
  if (plane_) return;
  plane_ = std::make_unique<Plane>(plane_site_, network_, now_, random_());
  if (const auto started = plane_->start(); !started) {
    violate("the control plane does not start: " + started.error().message());
    return;
  }
  check_plane_journal();
}

void MeshWorld::end_plane(bool with_power) {
  if (!plane_) return;
  plane_remembered_.reset();
  if (plane_->is_durable()) plane_remembered_ = plane_->state();
  if (with_power) network_.vanish(kPlaneName);
  plane_.reset();
  plane_dies_in_.reset();
  if (with_power) {
    plane_site_.disk->crash();
    plane_site_.files.crash(random_());
  }
  plane_site_.disk->set_faults({});
  ++counts_.seen["lives of the control plane"];
  later(static_cast<std::int64_t>(1 + draw(30'000)) * kNsPerMs, [this] { start_plane(); });
}

void MeshWorld::after_plane_step() {
  if (!plane_) return;
  const bool is_due = plane_dies_in_ && (*plane_dies_in_)-- == 0;
  if (is_due || plane_->has_failed()) {
    tell(is_due ? "the control plane dies" : "the control plane cannot go on");
    return end_plane(plane_with_power_);
  }
  const bool is_durable = plane_->is_durable();
  for (auto& member : members_) {
    // Its link ends within a second.
    const bool is_over = now_.ns - member->revoked_at.ns > kNsPerSecond;
    if (member->is_revoked && is_over && plane_->is_linked(member->site->name))
      violate(member->site->name + " was revoked and is linked");
    const auto* node = plane_->state().find_node(member->site->name);
    if (node == nullptr || member->is_lost || !is_durable) continue;
    member->acked_stored = std::max(member->acked_stored, node->stored);
    member->acked_accepted = std::max(member->acked_accepted, node->accepted);
    if (node->order && node->order->answer && node->order->answer->carried_out)
      member->acked_order = std::max(member->acked_order, node->order->number);
  }
}

}  // namespace datum::simulation
