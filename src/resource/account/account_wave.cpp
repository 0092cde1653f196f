#include "account_wave.hpp"

#include <algorithm>

#include "../action_wave.hpp"
#include "../observation_digest.hpp"
#include "../path_facts.hpp"
#include "../show.hpp"
#include "../wave_run.hpp"
#include "account_facts.hpp"
#include "account_tools.hpp"

namespace datum::resource {

namespace {

// A tool takes milliseconds; it waits 15 s for whoever holds the lock of the files, twice at most.
constexpr std::int64_t kToolNs = 60 * kNsPerSecond;
constexpr std::size_t kAccountOutputLimit = 16 * 1024;  // design §2

loop::ChildOptions options_of(const ToolRun& run) {
  loop::ChildOptions child;
  child.argv = run.argv;
  child.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/root",
                       "TERM=dumb"};
  child.input = run.input;
  child.output_limit = kAccountOutputLimit;
  child.timeout_ns = kToolNs;
  return child;
}

// The tools say nothing of what they read; should one ever, it does not get further than this.
std::string redacted(std::string text, const std::string& secret) {
  if (secret.empty()) return text;
  for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
    text.replace(at, secret.size(), kRedacted);
  return text;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

Status judge(Sight& sight, const ToolRun& run, const loop::ChildResult& ended,
             const std::string& output) {
  const std::string tool = run.argv.front().substr(run.argv.front().rfind('/') + 1);
  if (ended.timed_out)
    return fail(ErrorCode::timed_out, tool + " did not end within 60 seconds and was killed");
  if (ended.signal != 0)
    return fail(ErrorCode::io_error, tool + " died of signal " + std::to_string(ended.signal));
  if (ended.exit_status == 0) return {};
  auto words = tool + " ended with status " + std::to_string(ended.exit_status);
  if (const auto line = last_line(output); !line.empty()) words += ": " + shown(line);
  if (output.find("already exists") != std::string::npos)
    words +=
        "; if /etc/passwd and /etc/group do not have it, another source of names than the "
        "local files does";
  if (output.find("cannot lock") == std::string::npos) return fail(ErrorCode::io_error, words);
  const auto holder = find_lock_holder(sight);
  return fail(ErrorCode::busy, words + (holder.empty() ? "" : "; " + holder + " holds it"));
}

bool declares_group(const model::Manifest& manifest, const std::string& name) {
  const model::Target target{model::TargetFamily::group, name};
  return std::any_of(manifest.resources.begin(), manifest.resources.end(),
                     [&](const auto& one) { return one->target == target && !one->absent(); });
}

}  // namespace

AccountWave::AccountWave(WaveBasis basis)
    : ActionWave(std::move(basis)), works_(make_works<Work>(*declared_, *plan_, ordinals_)) {}

Result<std::vector<Prepared>> AccountWave::prepare(blobs::BlobStore& /*store*/) {
  return prepare_without_content(works_);
}

std::int64_t AccountWave::act() {
  for (auto& work : works_) {
    work.began_ns = now_ns();
    if (auto changed = change(work); !changed) work.error = std::move(changed).error();
  }
  return 0;
}

// Nothing is left to remove.
Result<bool> AccountWave::is_gone(const Work& work) {
  if (!removes(work.action->kind)) return false;
  const auto seen = Observer(machine_, declared_).observe_leaving(work.action->target, {});
  if (seen.found == core::Found::unseen) return fail(ErrorCode::conflict, seen.reason);
  return seen.found == core::Found::absent;
}

// In words, if the account is not what the plan saw; empty if it is.
Result<std::string> AccountWave::find_change(const Work& work) {
  const std::string changed = "it was changed since it was observed";
  Observer observer(machine_, declared_);
  const auto& action = *work.action;
  if (work.resource == nullptr) {
    const auto seen = observer.observe_leaving(action.target, {});
    if (seen.found == core::Found::unseen) return fail(ErrorCode::conflict, seen.reason);
    const auto* left = declared_->find_owned(action.target);
    const bool same =
        seen.found == action.found && left != nullptr && left->content == seen.content;
    return same ? std::string() : changed;
  }
  const auto seen = observer.observe(*work.resource);
  if (seen.found == core::Found::unseen) return fail(ErrorCode::conflict, seen.reason);
  return seen.found == action.found && seen.drifts == action.changes ? std::string() : changed;
}

Status AccountWave::change(Work& work) {
  if (!options_.run_child)
    return fail(ErrorCode::unavailable, "no program can be run here: nothing was changed");
  if (work.resource == nullptr && !removes(work.action->kind))
    return fail(ErrorCode::invalid_argument, "it is not in the manifest of this pass");
  // userdel may have taken the group already, or whoever wants it gone too.
  DATUM_ASSIGN(const bool gone, is_gone(work));
  if (gone) return {};
  DATUM_ASSIGN(work.skipped, find_change(work));
  return work.skipped.empty() ? run_tools(work) : Status{};
}

Status AccountWave::run_tools(Work& work) {
  Sight sight(machine_, declared_);
  DATUM_ASSIGN(const auto* book, sight.accounts());
  const std::string name = work.action->target.name;
  AccountJob job{*work.action, work.resource, *book, machine_->root_path, {}, false};
  job.group_is_declared = declares_group(*declared_->manifest, name);
  const auto secret =
      work.resource == nullptr ? "" : work.resource->text(model::Field::password_ref);
  if (!secret.empty() && !removes(work.action->kind)) {
    DATUM_ASSIGN(job.hash, sight.password_hash(secret));
  }
  const auto run = [&](const ToolRun& tool) -> Status {
    crash_point("tool", work.action->ordinal);
    work.began = true;
    auto ended = options_.run_child(options_of(tool));
    crash_point("tool-ended", work.action->ordinal);
    if (!ended) return fail(std::move(ended).error().context(tool.argv.front()));
    const auto output = redacted(ended->output, job.hash);
    work.output += output;
    DATUM_TRY(judge(sight, tool, *ended, output));
    work.changed = true;
    return {};
  };
  for (const auto& tool : tools_for(job)) DATUM_TRY(run(tool));
  const auto* group = book->find_group(name);
  const bool took_group = removes(work.action->kind) && group != nullptr && job.group_is_declared &&
                          work.action->target.family == model::TargetFamily::user;
  if (!took_group) return {};
  Sight after(machine_, declared_);
  DATUM_ASSIGN(const auto* now, after.accounts());
  return now->find_group(name) != nullptr ? Status{} : run(remake_group(job, group->gid));
}

// A tool that says that it succeeded is not believed: the files are read again.
void AccountWave::describe(Work& work, core::ActionResult& result) {
  Observer observer(machine_, declared_);
  if (work.resource == nullptr) {
    const auto seen = observer.observe_leaving(work.action->target, {});
    result.left.found = seen.found;
    if (seen.found != core::Found::absent)
      work.error = Error(ErrorCode::conflict, "it did not take effect: it is still there");
    result.after.reference = work.action->reference;
    result.after.target = work.action->target;
    result.after.condition = core::Condition::converged;
    result.after.found = core::Found::absent;
    result.after.digest = digest_observation(result.after);
    return;
  }
  result.after = observer.observe(*work.resource);
  result.left = {result.after.found, 0, 0, result.after.content};
  if (result.after.found == core::Found::unseen) {
    work.error = Error(ErrorCode::io_error,
                       "done, and it cannot be seen that it is: " + result.after.reason.str());
    return;
  }
  for (const auto& drift : result.after.drifts) {
    const bool asked = std::any_of(work.action->changes.begin(), work.action->changes.end(),
                                   [&](const auto& one) { return one.field == drift.field; });
    if (!asked) continue;
    const bool number = drift.field == "uid" || drift.field == "gid";
    work.error =
        Error(ErrorCode::conflict, (number ? "not corrected: " : "it did not take effect: ") +
                                       drift.field + " is " + drift.observed +
                                       (number ? ", and a number in use is never changed" : ""));
    return;
  }
}

// A tool that failed may have done something, or one before it.
void AccountWave::note_change(const Work& work, core::ActionResult& result) {
  result.changed = work.began;
  if (!work.began) return;
  Observer observer(machine_, declared_);
  if (work.resource == nullptr) {
    if (work.changed)
      result.remains = remains_of(observer.observe_leaving(work.action->target, {}));
    return;
  }
  const auto seen = observer.observe(*work.resource);
  // Who is to be told of a change is told also where it may be somebody else's.
  result.changed = seen.found != work.action->found || seen.drifts != work.action->changes;
  if (!work.changed) return;
  result.remains = remains_of(seen);
  // The first one makes it.
  if (result.remains) result.remains->made = work.action->kind == core::ActionKind::create;
}

std::vector<core::ActionResult> AccountWave::finish() {
  std::vector<core::ActionResult> results;
  for (auto& work : works_) {
    core::ActionResult result;
    result.ordinal = work.action->ordinal;
    crash_point("observe", work.action->ordinal);
    if (!work.error && work.skipped.empty()) describe(work, result);
    result.atomic = false;
    result.duration_ns = now_ns() - work.began_ns;
    result.output = std::move(work.output);
    if (work.error) {
      note_change(work, result);
      result.failure = digest_failure(*work.error);
      result.message = work.error->message();
      result.error = std::move(work.error);
    } else if (!work.skipped.empty()) {
      result.skipped = true;
      result.message = work.skipped;
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace datum::resource
