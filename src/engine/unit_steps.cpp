#include "unit_steps.hpp"

#include <functional>

namespace datum::engine {

namespace {

// How often a job that somebody began is looked at: jobs take from milliseconds to minutes.
constexpr std::int64_t kJobPollNs = 200 * kNsPerMs;

Result<os::Unit> query_one(os::Units* units, const std::string& name) {
  if (units == nullptr) return fail(ErrorCode::unavailable, "no service manager is asked here");
  const std::vector<std::string> names{name};
  DATUM_ASSIGN(auto seen, units->query(names, os::kUnitCallNs));
  if (!seen.front().problem.empty()) return fail(ErrorCode::io_error, seen.front().problem);
  return std::move(seen.front());
}

UnitAsked failed(Error error) {
  UnitAsked asked;
  asked.end_unseen = error.code() == ErrorCode::timed_out || error.code() == ErrorCode::unavailable;
  asked.error = std::move(error);
  return asked;
}

}  // namespace

loop::Task<Result<os::Unit>> look_at_unit(loop::Loop& loop, const resource::Machine& machine,
                                          model::Target unit) {
  std::function<Result<os::Unit>()> work = [units = machine.units, name = unit.name.str()] {
    return query_one(units, name);
  };
  auto looking = loop::run_on<Result<os::Unit>>(loop.pool(), std::move(work));
  co_return co_await looking;
}

loop::Task<Result<os::Unit>> wait_for_unit(loop::Loop& loop, const resource::Machine& machine,
                                           model::Target unit) {
  const auto began = loop.clock().boot_now();
  for (;;) {
    auto looking = look_at_unit(loop, machine, unit);
    auto seen = co_await looking;
    const bool late = loop.clock().boot_now().ns - began.ns > resource::kUnitJobNs;
    if (!seen || !seen->has_job || late) co_return seen;
    auto sleeping = loop::sleep_for(loop, kJobPollNs);
    co_await sleeping;
  }
}

UnitAsked notify_unit(os::Units& units, const std::string& unit, bool restart) {
  // Until the job nothing is asked of the unit itself: these failures are certain.
  const auto before = query_one(&units, unit);
  if (!before) return {before.error(), false, {}};
  if (before->needs_daemon_reload)
    if (auto read = units.reload_manager(os::kUnitCallNs); !read)
      return {std::move(read).error(), false, {}};
  const auto job = restart ? os::UnitJob::restart : os::UnitJob::reload;
  if (auto own = resource::refuse_own_end(units, unit, job); !own)
    return {std::move(own).error(), false, {}};
  auto ended = units.run_job(unit, job, resource::kUnitJobNs);
  const std::string what(os::to_string(job));
  if (!ended) return failed(std::move(ended).error().context(what));
  const auto after = query_one(&units, unit);
  if (*ended != "done") {
    const auto why = after ? os::describe_end(*after) : std::string();
    return failed(Error(ErrorCode::io_error, "its " + what + " job ended as " + *ended +
                                                 (why.empty() ? "" : ": " + why)));
  }
  UnitAsked asked;
  if (after) asked.invocation = after->invocation;
  return asked;
}

std::optional<Error> find_early_end(const UnitAsked& asked, const Result<os::Unit>& now) {
  if (!now) return {};  // its job was done, and nothing is known against it
  const bool lives = resource::is_running(*now) && now->invocation == asked.invocation;
  if (lives) return {};
  const auto end = os::describe_end(*now);
  return Error(ErrorCode::io_error, "it was restarted and ended soon after" +
                                        (end.empty() ? std::string() : ": " + end));
}

}  // namespace datum::engine
