// A Service is what the service manager says of its unit, under its canonical name.
#include "../path_facts.hpp"
#include "../show.hpp"
#include "datum/model/reserved.hpp"
#include "service_observer.hpp"
#include "unit_facts.hpp"
#include "unit_links.hpp"

namespace datum::resource {

std::optional<std::string> find_unit_absence(const Machine& machine) {
  if (machine.root_path != "/") return "not under --root";
  if (machine.units == nullptr) return "no service manager is asked here";
  return machine.units->find_absence();
}

void observe_service(Sight& sight, const model::Resource& resource, core::Observation& seen) {
  const auto asked = sight.units().find(resource.target.name.str());
  if (!asked) return set_unknown(seen, "the service manager cannot be asked", asked.error());
  auto unit = **asked;
  if (!unit.problem.empty()) return set_unknown(seen, shown(unit.problem));
  if (model::is_own_unit(unit.id))
    return set_unknown(seen, "it belongs to Datum itself; not touched");
  if (const auto other = sight.units().other_name(unit); !other.empty() && exists(unit))
    return set_unknown(seen, "the same unit, " + shown(unit.id) + ", is declared as " +
                                 shown(other) + " too; not touched");
  seen.found = exists(unit) ? core::Found::present : core::Found::absent;
  if (unit.file_state == "enabled-runtime" && is_wanted_by_generator(sight, unit.id))
    unit.file_state = kByGenerator;
  auto compared = compare(resource, unit);
  seen.drifts = std::move(compared.drifts);
  seen.warning = std::move(compared.warning);
}

void observe_leaving_unit(Sight& sight, core::LeavingObservation& seen) {
  if (auto why = find_unit_absence(sight.machine())) {
    seen.reason = std::move(*why);
    return;
  }
  const auto asked = sight.units().find(seen.target.name.str());
  if (!asked) {
    seen.reason = asked.error().message();
    return;
  }
  seen.found = exists(**asked) ? core::Found::present : core::Found::absent;
}

}  // namespace datum::resource
