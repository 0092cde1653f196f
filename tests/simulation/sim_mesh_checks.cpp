// The questions to a mesh: while it lives, between the lives of its processes, and at the end.
#include <algorithm>

#include "datum/control/orders.hpp"
#include "datum/engine/order_taker.hpp"
#include "datum/history/events.hpp"
#include "datum/journal/copy.hpp"
#include "sim_mesh.hpp"

namespace datum::simulation {
namespace {

constexpr std::int64_t kHealLookNs = 30 * kNsPerSecond;
// The longest wait between two tries is five minutes, twice as long for who was refused; a beat is
// five more; a push in stages may have to be given up first.
constexpr int kHealLooks = 120;

core::Generation generation_of(const std::optional<core::DeclarationId>& id) {
  return id ? core::Generation{id->epoch, id->number} : core::Generation{};
}

std::string text_of(const core::Generation& generation) {
  return std::to_string(generation.epoch) + "." + std::to_string(generation.number);
}

bool is_announced(const core::PassState& pass, std::string_view name) {
  return std::any_of(pass.open.begin(), pass.open.end(), [&](const auto& each) {
    const std::string& path = each.second.target.name;
    return std::string_view(path).substr(path.rfind('/') + 1) == name;
  });
}

}  // namespace

// --- while it lives

// No effect on the tree without an announcement that is durable, and none while the host observes.
void MeshWorld::check_call(Member& member, support::Call call, std::string_view name) {
  if (!member.process || !member.process->has_store() || !support::changes_machine(call)) return;
  const auto path = path_of(name);
  if (!path) return;
  const auto what = member.site->name + ": " + std::string(support::to_string(call)) + " " + *path;
  if (member.pass_mode == core::Mode::observe) violate("a changing call in observe: " + what);
  const auto& state = member.process->state();
  const bool given_back =
      std::any_of(state.leftovers.begin(), state.leftovers.end(),
                  [&](const core::Leftover& left) { return left.target.name.str() == *path; });
  if (given_back) return;
  if (!state.pass || !is_announced(*state.pass, name))
    return violate("an effect without an announcement: " + what);
  if (member.process->history().durable() < member.announced)
    violate("an effect before its announcement is durable: " + what);
}

void MeshWorld::check_pass(Member& member, const model::Manifest& manifest,
                           const engine::PassReport& report) {
  ++counts_.seen["passes"];
  const auto wanted = member.wanted.find(member.accepted.number);
  if (wanted == member.wanted.end() || member.touched_in_pass) return;
  if (wanted->second->digest != manifest.digest)
    return violate(member.site->name + " carries out another manifest than was pushed as " +
                   text_of(member.accepted));
  if (report.status.condition != core::Condition::converged) return;
  ++counts_.seen["passes converged"];
  const auto difference = find_difference(*member.site, *wanted->second);
  if (!difference.empty()) violate(member.site->name + " said to be converged: " + difference);
}

// --- between lives

void MeshWorld::check_journal(Member& member) {
  auto& site = *member.site;
  auto log = site.open_journal();
  if (!log) return violate(site.name + ": the journal does not open: " + log.error().message());
  const auto verified = history::verify(**log);
  if (!verified || !verified->sound)
    violate(site.name + ": verify: " + (verified ? verified->problem : verified.error().message()));
  const auto whole = history::fold(**log, 0, false);
  const auto quick = history::fold(**log, 0, true);
  if (!whole || !quick || !(*whole == *quick))
    return violate(site.name + ": a checkpoint is not what all records add up to");
  if (const auto& then = member.remembered) {
    const auto replayed = history::fold(**log, then->seq, false);
    if (!replayed || !(*replayed == *then))
      violate(site.name + ": what was durable replays to another state than was live");
  }
  const auto accepted = generation_of(whole->accepted);
  const auto stored = std::max(accepted, generation_of(whole->stored));
  if (accepted < member.accepted)
    violate(site.name + " accepted " + text_of(member.accepted) + " and has " + text_of(accepted));
  if (stored < member.acked_stored || accepted < member.acked_accepted)
    violate(site.name + " told the control plane of " + text_of(member.acked_stored) + " and " +
            text_of(member.acked_accepted) + ", and has " + text_of(stored) + " and " +
            text_of(accepted));
  const auto order = engine::read_order_number(site.files, kStore);
  if (!order || *order < member.acked_order)
    violate(site.name + " told the control plane that it carried out order " +
            std::to_string(member.acked_order) + ", and knows " +
            (order ? std::to_string(*order) : order.error().message()));
  member.accepted = accepted;
  log->reset();
  site.unlock_journal();
}

// The live State after a start is what the records add up to, and holds what was answered.
void MeshWorld::check_plane_journal() {
  const auto& state = plane_->state();
  if (state.last < answered_) violate("push " + text_of(answered_) + " was answered and is gone");
  for (const auto& member : members_) {
    const auto* node = state.find_node(member->site->name);
    if (member->is_revoked && (node == nullptr || node->standing == control::Standing::enrolled))
      violate(member->site->name + " was revoked and is so no more");
  }
  if (!plane_remembered_) return;
  for (const auto& [name, before] : plane_remembered_->nodes) {
    const auto* now = state.find_node(name);
    if (now == nullptr || !(*now == before))
      violate("the control plane knows something else of " + name + " than before it died");
  }
  if (plane_remembered_->tokens != state.tokens || plane_remembered_->last != state.last ||
      plane_remembered_->requests != state.requests || plane_remembered_->push != state.push)
    violate("the control plane's state is another than before it died");
}

// What is kept of a node's journal is a beginning of it, record for record.
void MeshWorld::check_copies() {
  for (auto& member : members_) {
    const auto& process = member->process;
    if (!process || !process->has_store() || member->is_lost || member->is_revoked) continue;
    const auto store = process->state().store;
    const auto& name = member->site->name;
    const auto copy = journal::open_copy(
        control::NodeJournals::path_of(plane_site_.journals.path, name, store), store);
    if (!copy) {
      violate(name + ": no journal is kept: " + copy.error().message());
      continue;
    }
    const auto head = (*copy)->read_head();
    const auto reader = process->history().log()->make_reader();
    if (!head || !reader) {
      violate(name + ": its kept journal has no head");
      continue;
    }
    const auto own = (*reader)->read_head();
    if (!own || own->seq != head->seq || !(own->hash == head->hash))
      violate(name + ": " + std::to_string(head->seq) + " records are kept, it has " +
              std::to_string(own ? own->seq : 0));
  }
}

// --- the end

// What is only observed may have drifted, or wait for a restart; everything else is as declared.
core::Condition MeshWorld::expected_condition(const Member& member,
                                              const model::Manifest& manifest) {
  for (const auto& resource : manifest.resources) {
    if (!resource->observe_only) continue;
    const auto& state = member.process->state();
    const auto known = state.resources.find(resource->target);
    const bool has_drifted =
        known != state.resources.end() && known->second.condition == core::Condition::drifted;
    if (has_drifted || state.pending.contains(resource->target)) return core::Condition::drifted;
  }
  return core::Condition::converged;
}

std::string MeshWorld::describe_status(const Member& member, const control::Node& node) {
  const auto& state = member.process->state();
  std::string text = "nothing was reported; ";
  if (node.report)
    text = "reported " + std::string(core::to_string(node.report->condition)) + " with flags " +
           std::to_string(node.report->flags) + "; ";
  const auto own = member.process->status();
  text += "is " + std::string(core::to_string(own.condition)) + " with " +
          std::to_string(own.flags) + ", " + std::to_string(own.leaving) + " leaving; ";
  for (const auto& [target, known] : state.resources)
    if (known.condition != core::Condition::converged)
      text += target.text() + " " + std::string(core::to_string(known.condition)) + ", ";
  for (const auto& [target, failure] : state.failures) text += target.text() + " failed, ";
  for (const auto& [target, kept] : state.kept) text += target.text() + " kept, ";
  for (const auto& [target, deaths] : state.quarantined) text += target.text() + " quarantined, ";
  for (const auto& [unit, pending] : state.pending) text += unit.text() + " pending, ";
  if (!state.leftovers.empty()) text += "leftovers, ";
  if (state.pass) text += "a pass is open, ";
  return text + member.process->words();
}

// Why it is not over yet, in words; empty: it is.
std::string MeshWorld::find_unfinished() {
  if (!is_plane_up()) return "no control plane";
  for (auto& member : members_) {
    const auto& name = member->site->name;
    if (!member->process) return name + " does not run";
    if (member->is_revoked) continue;
    const auto* node = plane_->state().find_node(name);
    if (node == nullptr) return name + " is no node";
    if (!plane_->is_linked(name)) return name + " is not linked: " + member->process->words();
    if (node->newest < answered_) return text_of(answered_) + " was not released to " + name;
    if (control::unanswered_order(*node) != nullptr) return name + " has not answered an order";
    if (node->applied != node->newest)
      return name + " has applied " + text_of(node->applied) + " of " + text_of(node->newest);
    const auto& manifest = *member->wanted.at(node->newest.number);
    if (!node->report || node->report->condition != expected_condition(*member, manifest))
      return name + " is not reported as it is: " + describe_status(*member, *node);
    const auto difference = find_difference(*member->site, manifest);
    if (!difference.empty()) return name + ": " + difference;
    if (!member->process->is_durable()) return name + " has records that are not durable";
  }
  return {};
}

void MeshWorld::heal_and_demand() {
  healing_ = true;
  tell("everything heals");
  later_.clear();
  plane_dies_in_.reset();
  plane_site_.disk->set_faults({});
  start_plane();
  for (auto& member : members_) {
    auto& site = *member->site;
    lift_faults(*member);
    member->armed.reset();
    network_.let_pass(site.name, kPlaneName);
    member->asleep_until = {};
    if (member->process) member->process->loop().jump_wall(-site.wall_offset_ns);
    site.wall_offset_ns = 0;
    site.held = false;
    site.mode = core::Mode::enforce;
    start_node(*member);
  }
  std::string unfinished = "nothing was looked at";
  bool is_pushed = false;
  for (int look = 0; look < kHealLooks && violations_.empty() && !unfinished.empty(); ++look) {
    run_for(kHealLookNs);
    bool all_nodes = is_plane_up();
    for (auto& member : members_) {
      if (member->is_revoked || !is_plane_up()) continue;
      if (member->is_lost) forget(*member);
      const auto* node = plane_->state().find_node(member->site->name);
      all_nodes = all_nodes && node != nullptr && !member->is_lost;
      if (node == nullptr && !member->is_lost) give_token(*member);
      // Whoever gave a hold takes it back, if it was received or not.
      if (node != nullptr && node->order && node->order->kind == core::OrderKind::hold)
        hold_or_lift(*member, true);
      if (member->process) member->process->look_again();
    }
    if (all_nodes && !is_pushed) {
      push("");
      is_pushed = true;
      continue;
    }
    unfinished = is_pushed ? find_unfinished() : "not every node is one";
  }
  if (!violations_.empty()) return;
  if (!unfinished.empty()) return violate("an hour after all faults ended: " + unfinished);
  // What was said last goes up; then nothing is left to do.
  run_for(300 * kNsPerSecond);
  check_copies();
  std::map<std::string, std::string> trees;
  std::map<std::string, Seq> heads;
  for (auto& member : members_) {
    trees[member->site->name] = describe_tree(*member->site);
    heads[member->site->name] = member->process->state().seq;
  }
  const auto plane_head = plane_->state().seq;
  constexpr std::int64_t kQuietNs = 1'200 * kNsPerSecond;
  constexpr Seq kBeats = 5;  // in that time, and each pass tells of its begin and its end
  run_for(kQuietNs);
  for (auto& member : members_) {
    const auto& name = member->site->name;
    if (describe_tree(*member->site) != trees[name])
      violate(name + ": a converged pass changes it");
    const auto grown = member->process->state().seq - heads[name];
    if (grown > kBeats * 4)
      violate(name + " appended " + std::to_string(grown) + " records while nothing happened");
  }
  if (plane_->state().seq > plane_head + members_.size())
    violate("the control plane appended " + std::to_string(plane_->state().seq - plane_head) +
            " records while nothing happened");
}

}  // namespace datum::simulation
