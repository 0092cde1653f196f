// What else a unit's job ends, along the chains that the service manager itself follows.
#include <set>
#include <string>
#include <vector>

#include "../show.hpp"
#include "datum/model/reserved.hpp"
#include "datum/resource/wave.hpp"

namespace datum::resource {

namespace {

// A unit that more hang on than this is one of the manager's own targets, which no Service names.
constexpr std::size_t kMostTied = 256;

Result<std::vector<os::Unit>> look_tied(os::Units& units, const std::vector<std::string>& names) {
  return units.query(names, os::kUnitCallNs);
}

}  // namespace

Status refuse_own_end(os::Units& units, const std::string& unit, os::UnitJob job) {
  if (job == os::UnitJob::reload) return {};
  DATUM_ASSIGN(const auto first, look_tied(units, {unit}));
  std::set<std::string> known{unit, first.front().id};
  auto next =
      job == os::UnitJob::start ? first.front().stopped_by_start : first.front().stopped_with;
  if (model::is_own_unit(first.front().id)) next.push_back(first.front().id);
  while (!next.empty() && known.size() < kMostTied) {
    std::vector<std::string> names;
    for (auto& name : next) {
      if (model::is_own_unit(name))
        return fail(ErrorCode::refused, "to " + std::string(to_string(job)) + " it would end " +
                                            name + ", which is Datum's own, so it is not done; " +
                                            shown(unit) + " must not be tied to it");
      if (known.insert(name).second) names.push_back(std::move(name));
    }
    next.clear();
    if (names.empty()) break;
    DATUM_ASSIGN(const auto seen, look_tied(units, names));
    for (const auto& each : seen)
      next.insert(next.end(), each.stopped_with.begin(), each.stopped_with.end());
  }
  return {};
}

}  // namespace datum::resource
