// What is owed to units and told of them: no unit is asked for anything before that is announced,
// none at all in observe or while recovery looks; whatever Datum changed in the files of a unit has
// been read by it once the host is said to be converged; and no delivery is told that did not
// happen, or denied that did.
#include <algorithm>

#include "datum/history/events.hpp"
#include "sim_world.hpp"

namespace datum::simulation {

namespace {

model::Target target_of(const std::string& unit) {
  return {model::TargetFamily::unit, unit};
}

const model::Resource* find_service(const model::Manifest& manifest, const std::string& unit) {
  for (const auto& resource : manifest.resources)
    if (resource->target == target_of(unit)) return resource.get();
  return nullptr;
}

bool names(const model::Manifest& manifest, const model::Resource& service,
           const std::string& path) {
  const auto is_it = [&](const model::Reference& reference) {
    const auto* cause = manifest.find(reference);
    return cause != nullptr && cause->target.name == path;
  };
  return std::any_of(service.reload_on.begin(), service.reload_on.end(), is_it) ||
         std::any_of(service.restart_on.begin(), service.restart_on.end(), is_it);
}

bool has_between(const std::vector<Seq>& seqs, Seq from, Seq to) {
  return std::any_of(seqs.begin(), seqs.end(), [&](Seq seq) { return seq >= from && seq <= to; });
}

}  // namespace

void World::watch_units(Order& order) {
  order.on_unit_call = [this](support::UnitCall call, std::string_view name) {
    check_unit_call(call, std::string(name));
  };
  order.on_unit_done = [this](support::UnitCall call, std::string_view name) {
    const std::string unit(name);
    if (life_ == nullptr || call != support::UnitCall::job) return;
    const auto& pending = life_->state().pending;
    const auto owed = pending.find(target_of(unit));
    if (owed != pending.end() && owed->second.started) asked_[unit].push_back(life_->state().seq);
  };
}

void World::check_unit_call(support::UnitCall call, const std::string& name) {
  if (life_ == nullptr || !life_->has_store()) return;
  const auto& state = life_->state();
  const auto what = "a call to change " + (name.empty() ? "the manager's view" : name);
  if (life_->order().mode == core::Mode::observe) violate(what + " in observe");
  if (!life_->all_durable()) violate(what + " before its announcement is durable");
  if (life_->phase() == Phase::recovery) violate(what + " while recovery looks");
  const auto concerns = [&](const model::Target& target) {
    return target.family == model::TargetFamily::unit &&
           (call == support::UnitCall::reload_manager || target.name == name);
  };
  bool announced = false;
  if (state.pass)
    for (const auto& [ordinal, action] : state.pass->open)
      announced = announced || concerns(action.target);
  for (const auto& [unit, pending] : state.pending)
    announced = announced || (pending.started && concerns(unit));
  if (!announced) violate(what + " without an announcement");
}

World::Contents World::read_contents() {
  Contents contents;
  for (const auto& unit : unit_names())
    for (const auto& path : paths_read_by(unit)) contents[path] = site_.files.find_content(path);
  return contents;
}

// What Datum changed under a declaration that says who is to be told of it.
void World::note_contents(bool foreign) {
  auto now = read_contents();
  for (const auto& [path, content] : now) {
    if (contents_[path] == content) continue;
    for (const auto& unit : unit_names()) {
      const auto* service = find_service(*manifest_, unit);
      if (foreign)
        owed_.erase({unit, path});
      else if (service != nullptr && names(*manifest_, *service, path))
        owed_.insert({unit, path});
    }
  }
  contents_ = std::move(now);
}

void World::note_read(const std::string& unit) {
  last_read_[unit] = read_contents();
  std::erase_if(owed_, [&](const auto& debt) { return debt.first == unit; });
  // After the end of a life its newest record is not known yet.
  reads_[unit].push_back(life_ != nullptr && life_->has_store() ? life_->state().seq : 0);
}

void World::forget_debts() {
  owed_.clear();
  reads_.clear();
  asked_.clear();
}

// Nobody is owed anything who is not declared to run any more.
void World::drop_debts(const model::Manifest& manifest) {
  for (const auto& unit : unit_names()) {
    const auto* service = find_service(manifest, unit);
    if (service != nullptr && service->text(model::Field::state) == "running") continue;
    std::erase_if(owed_, [&](const auto& debt) { return debt.first == unit; });
  }
}

void World::check_debts(const model::Manifest& manifest) {
  for (const auto& [unit, path] : owed_) {
    const auto* service = find_service(manifest, unit);
    if (service == nullptr || service->observe_only) continue;
    const auto& read = last_read_[unit][path];
    const auto content = site_.files.find_content(path);
    if (read != content)
      violate("a notification was lost: " + unit + " has not read " + path + ": \"" +
              content.value_or("nothing") + "\", but \"" + read.value_or("nothing") + "\"");
  }
}

// The newest record is known: what was read since the last one is placed there, as is what was read
// while records came that are lost.
void World::place_reads() {
  for (auto& [unit, seqs] : reads_)
    for (auto& seq : seqs)
      if (seq == 0 || seq > state_.seq) seq = state_.seq;
}

void World::check_deliveries(journal::Log& log) {
  place_reads();
  std::map<model::Target, Seq> open;
  const auto judge = [&](const history::StoredEvent& stored) {
    const auto seq = stored.place.seq;
    if (const auto* started = std::get_if<core::DeliveryStarted>(&stored.event)) {
      open[started->unit] = seq;
    } else if (const auto* told = std::get_if<core::NotificationDelivered>(&stored.event)) {
      const auto unit = told->unit.name.str();
      if (!has_between(reads_[unit], open[told->unit], seq))
        violate("told as delivered, and it did not happen: " + unit + " at " + std::to_string(seq));
    } else if (const auto* failed = std::get_if<core::DeliveryFailed>(&stored.event)) {
      const auto unit = failed->unit.name.str();
      // A restarted unit that somebody stops at once has failed, and is told anew when it runs.
      const bool denied = failed->message == "the host ended before the unit was asked";
      if (denied && has_between(asked_[unit], open[failed->unit], seq))
        violate("told as not delivered, and it happened: " + unit + " at " + std::to_string(seq) +
                ": " + failed->message);
    }
    return journal::Visit::go_on;
  };
  const auto scanned = history::scan_events(log, 1, judge);
  if (!scanned) violate("the journal cannot be read: " + scanned.error().message());
}

}  // namespace datum::simulation
