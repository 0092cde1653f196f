// The journal of a round, read as a stranger would: without a lock that keeps anybody out, without
// writing, every record of it verified.
#include <variant>

#include "datum/history/events.hpp"
#include "datum/history/open.hpp"
#include "datum/selftest/oracle.hpp"

namespace datum::selftest {
namespace {

// The path of a target below the root; empty for one that is none.
std::string path_of(const model::Target& target) {
  if (target.family != model::TargetFamily::path || target.name.size() < 2) return {};
  return std::string(std::string_view(target.name).substr(1));
}

class Reading {
 public:
  explicit Reading(Claims& claims) : claims_(claims) {}

  void operator()(const core::ActionsAnnounced& event) {
    for (const auto& action : event.actions) {
      const auto path = path_of(action.target);
      if (claims_.effects.contains(path)) claims_.repeated.insert(path);
      claims_.announced.insert(path);
    }
  }
  void operator()(const core::ActionSucceeded& event) { ++claims_.effects[path_of(event.target)]; }
  void operator()(const core::ActionRecovered& event) {
    if (event.outcome == core::RecoveredOutcome::took_effect)
      ++claims_.effects[path_of(event.target)];
    if (event.outcome == core::RecoveredOutcome::untellable)
      claims_.untellable.insert(path_of(event.target));
  }
  void operator()(const core::OwnershipRemoved& event) {
    ++claims_.removals[path_of(event.target)];
  }
  void operator()(const core::PassFinished&) { ++claims_.passes_finished; }
  void operator()(const core::NotificationRaised&) { ++claims_.heard; }
  void operator()(const core::DeliveryStarted&) { ++claims_.deliveries; }
  void operator()(const core::NotificationDelivered& event) {
    ++claims_.delivered;
    if (event.repeated) ++claims_.doubtful;
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  Claims& claims_;
};

void check_acknowledged(journal::Log& log, Seq head, const std::vector<Acknowledged>& acknowledged,
                        Violations& violations) {
  for (const auto& one : acknowledged) {
    const auto name = "record " + std::to_string(one.seq);
    if (one.seq > head) {
      violations.push_back(name + " was said to be durable, and the journal ends at " +
                           std::to_string(head));
      return;
    }
    Digest hash;
    const auto read = log.read(one.seq, [&hash](const journal::Record& record) {
      hash = journal::hash_of(record);
      return journal::Visit::stop;
    });
    if (!read)
      violations.push_back(name + " was said to be durable: " + read.error().message());
    else if (hash != one.hash)
      violations.push_back(name + " is not the one that was said to be durable");
  }
}

Status read_all(journal::Log& log, Seq from, Claims& claims) {
  Reading reading(claims);
  DATUM_TRY(
      history::scan_events(log, from, [&reading, &claims](const history::StoredEvent& stored) {
        std::visit(reading, stored.event);
        // The manifest of a local pass stays where it came from; what else is named lies in the
        // store.
        const auto* const started = std::get_if<core::PassStarted>(&stored.event);
        for (const auto& blob : core::blobs_of(stored.event))
          if (started == nullptr || blob != started->declaration.manifest)
            claims.blobs.insert(blob);
        return journal::Visit::go_on;
      }));
  DATUM_ASSIGN(const auto state, history::fold(log, 0, true));
  for (const auto& [target, owned] : state.owned)
    if (const auto path = path_of(target); !path.empty()) claims.owned.insert(path);
  claims.is_pending = !state.pending.empty();
  claims.has_leftovers = !state.leftovers.empty();
  return {};
}

}  // namespace

Claims read_claims(const std::string& store, Seq from,
                   const std::vector<Acknowledged>& acknowledged, Violations& violations) {
  Claims claims;
  const auto log = history::open_for_verify(store);
  if (!log) {
    // A process may die before there is a journal; then nothing can have been said to be durable.
    if (log.error().code() == ErrorCode::not_found && acknowledged.empty()) return claims;
    violations.push_back("the store does not open: " + log.error().message());
    return claims;
  }
  const auto verified = history::verify(**log);
  if (!verified) {
    violations.push_back("the journal cannot be verified: " + verified.error().message());
    return claims;
  }
  if (!verified->sound) violations.push_back("the journal is not sound: " + verified->problem);
  claims.head = verified->head.seq;
  check_acknowledged(**log, claims.head, acknowledged, violations);
  const auto read = read_all(**log, from, claims);
  if (!read) violations.push_back("the journal cannot be read: " + read.error().message());
  return claims;
}

}  // namespace datum::selftest
