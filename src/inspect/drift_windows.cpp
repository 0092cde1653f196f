// From the events of one target to the windows in which it left its declared state.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "datum/inspect/attribution.hpp"

namespace datum::inspect {

namespace {

using history::StoredEvent;

// A clock that is slewed drifts apart from the other one by less.
constexpr std::int64_t kClockJumpNs = 2 * kNsPerSecond;

// How the last state before a drift became known.
struct Good {
  Seq seq = 0;
  PassId pass = 0;
  core::EventPlace from;  // no later than the look that found it good
};

// How a pass began; nothing where an archive took that record.
struct Start {
  core::EventPlace place;
  Digest manifest;
};
Result<std::optional<Start>> find_start(journal::Reader& reader, PassId pass) {
  const auto stored = history::read_event(reader, pass);
  if (!stored && stored.error().code() == ErrorCode::not_found) return std::optional<Start>();
  if (!stored) return fail(stored.error());
  const auto* started = std::get_if<core::PassStarted>(&stored->event);
  if (started == nullptr) return std::optional<Start>();
  return std::optional<Start>({stored->place, started->declaration.manifest});
}

// What the records between two of a target say of it.
struct Between {
  PassId finished = 0;     // the last pass that finished, 0 if none did
  bool forgotten = false;  // no document declared it for a while
  bool missing = false;    // some of them are not in the archive any more
};

// Few targets of a long list are in the index, so the records themselves are asked.
bool is_forgotten(const core::Event& event, const model::Target& target) {
  const auto* forgotten = std::get_if<core::ResourcesForgotten>(&event);
  return forgotten != nullptr && std::find(forgotten->targets.begin(), forgotten->targets.end(),
                                           target) != forgotten->targets.end();
}

// Newest first, down to `after`; a record of another kind is not even decoded.
Result<Between> look_between(journal::Reader& reader, const model::Target& target, Seq after,
                             Seq before) {
  Between between;
  Status status;
  Seq expected = before - 1;
  const auto visit = [&](const journal::Record& record) {
    between.missing = record.seq != expected--;
    if (record.seq <= after || between.missing) return journal::Visit::stop;
    const auto kind = static_cast<core::EventKind>(record.kind);
    const bool wanted = (kind == core::EventKind::pass_finished && between.finished == 0) ||
                        kind == core::EventKind::resources_forgotten;
    if (!wanted) return journal::Visit::go_on;
    const auto stored = history::decode(record);
    if (!stored) {
      status = fail(stored.error());
      return journal::Visit::stop;
    }
    if (const auto* finished = std::get_if<core::PassFinished>(&stored->event))
      between.finished = finished->pass;
    between.forgotten = between.forgotten || is_forgotten(stored->event, target);
    return between.forgotten ? journal::Visit::stop : journal::Visit::go_on;
  };
  if (before > after + 1) DATUM_TRY(reader.scan_back(before - 1, visit));
  DATUM_TRY(status);
  return between;
}

class Windows {
 public:
  explicit Windows(journal::Reader& reader) : reader_(reader) {}

  Status take(const StoredEvent& stored) {
    const auto& event = stored.event;
    if (const auto* observed = std::get_if<core::ResourceObserved>(&event))
      return take_observed(stored, *observed);
    if (const auto* done = std::get_if<core::ActionSucceeded>(&event))
      return take_done(stored, *done);
    if (std::holds_alternative<core::ResourcesForgotten>(event))
      good_.reset();
    else if (is_own_act(event))
      own_.push_back(stored.place.seq);
    return {};
  }
  std::vector<DriftWindow> done() { return std::move(windows_); }

 private:
  static bool is_own_act(const core::Event& event) {
    return std::holds_alternative<core::ActionFailed>(event) ||
           std::holds_alternative<core::ActionRecovered>(event) ||
           std::holds_alternative<core::ActionTimedOut>(event) ||
           std::holds_alternative<core::ActionStillRunning>(event);
  }

  Status take_observed(const StoredEvent& stored, const core::ResourceObserved& observed) {
    switch (observed.condition) {
      case core::Condition::converged: {
        DATUM_ASSIGN(const auto start, find_start(reader_, observed.pass));
        good_.reset();
        if (start) set_good({stored.place.seq, observed.pass, start->place});
        return {};
      }
      case core::Condition::unknown:
        // Nothing is known from here on; a drift that is seen later began after the last good look.
        if (good_ && unseen_since_ == 0) unseen_since_ = stored.place.seq;
        return {};
      case core::Condition::drifted:
        if (good_) DATUM_TRY(add(stored, observed));
        good_.reset();
        return {};
      case core::Condition::skipped:
        good_.reset();
        return {};
    }
    return {};
  }

  Status take_done(const StoredEvent& stored, const core::ActionSucceeded& done) {
    if (done.kind == core::ActionKind::purge || done.condition != core::Condition::converged) {
      good_.reset();
      return {};
    }
    auto from = stored.place;
    from.wall.ns -= done.duration_ns;
    from.mono.ns -= done.duration_ns;
    set_good({stored.place.seq, done.pass, from});
    return {};
  }

  void set_good(Good good) {
    good_ = good;
    unseen_since_ = 0;
    own_.clear();
  }

  Status add(const StoredEvent& drift, const core::ResourceObserved& observed) {
    DriftWindow window;
    window.drift = drift.place.seq;
    window.good = good_->seq;
    window.to = drift.place.wall;
    auto from = good_->from;
    auto pass = good_->pass;
    const Seq before = unseen_since_ != 0 ? unseen_since_ : window.drift;
    DATUM_ASSIGN(const auto between, look_between(reader_, observed.target, window.good, before));
    if (between.forgotten || between.missing) return {};
    if (between.finished > window.good) {
      DATUM_ASSIGN(const auto start, find_start(reader_, between.finished));
      if (start) {
        from = start->place;
        pass = between.finished;
        window.good_pass = between.finished;
      }
    }
    DATUM_TRY(compare_declarations(pass, observed.pass, window));
    window.from = from.wall;
    if (from.boot == drift.place.boot) {
      const auto jump = (drift.place.wall.ns - from.wall.ns) - (drift.place.mono.ns - from.mono.ns);
      if (std::abs(jump) > kClockJumpNs) window.clock_jump_ns = jump;
    }
    window.own = own_;
    windows_.push_back(std::move(window));
    return {};
  }

  // Where another manifest is declared, the target may be what it was, and no longer what it should
  // be.
  Status compare_declarations(PassId before, PassId after, DriftWindow& window) {
    DATUM_ASSIGN(const auto first, find_start(reader_, before));
    DATUM_ASSIGN(const auto second, find_start(reader_, after));
    window.declaration_changed = first && second && first->manifest != second->manifest;
    return {};
  }

  journal::Reader& reader_;
  std::optional<Good> good_;
  Seq unseen_since_ = 0;
  std::vector<Seq> own_;
  std::vector<DriftWindow> windows_;
};

}  // namespace

Result<std::vector<DriftWindow>> find_drift_windows(journal::Reader& reader,
                                                    std::span<const StoredEvent> events) {
  Windows windows(reader);
  for (const auto& event : events) DATUM_TRY(windows.take(event));
  return windows.done();
}

static bool is_about(const LogEntry& entry, const std::string& package) {
  return !package.empty() &&
         std::find(entry.packages.begin(), entry.packages.end(), package) != entry.packages.end();
}

// A login counts as long as it lasts; one whose end nobody wrote may last still.
static bool is_inside(const LogEntry& entry, WallNs from, WallNs to) {
  if (entry.time > to) return false;
  if (entry.time >= from) return true;
  return entry.source == LogSource::login && (entry.end.ns == 0 || entry.end >= from);
}

template <class Entries>
static std::size_t keep_newest(Entries& entries, std::size_t count) {
  if (entries.size() <= count) return 0;
  const auto left_out = entries.size() - count;
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(left_out));
  return left_out;
}

DriftReport make_drift_report(const DriftWindow& window, const StoredEvent& drift,
                              const LogsRead& logs) {
  DriftReport report;
  report.window = window;
  if (const auto* observed = std::get_if<core::ResourceObserved>(&drift.event))
    report.traces = observed->traces;
  // Logs are by the wall clock: where that was set meanwhile, both of its readings count.
  const auto jump = window.clock_jump_ns;
  // They tell whole seconds: an entry may be of any moment of its second.
  const auto begin = std::min(window.from.ns, window.from.ns + jump);
  const WallNs from{begin - begin % kNsPerSecond};
  const WallNs to{std::max(window.to.ns, window.to.ns - jump)};
  for (const auto& entry : logs.entries) {
    if (is_inside(entry, from, to))
      report.inside.push_back(entry);
    else if (entry.time < from && is_about(entry, logs.owner))
      report.about_owner.push_back(entry);
  }
  const auto by_time = [](const LogEntry& a, const LogEntry& b) { return a.time < b.time; };
  std::stable_sort(report.inside.begin(), report.inside.end(), by_time);
  std::stable_sort(report.about_owner.begin(), report.about_owner.end(), by_time);
  report.left_out = keep_newest(report.inside, kMaxShown);
  static_cast<void>(keep_newest(report.about_owner, kMaxAboutOwner));
  return report;
}

}  // namespace datum::inspect
