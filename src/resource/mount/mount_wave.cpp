#include "mount_wave.hpp"

#include <algorithm>

#include "../show.hpp"
#include "../sight.hpp"
#include "../sysctl/kernel.hpp"
#include "mount_facts.hpp"

namespace datum::resource {

namespace {

using model::Field;

// A disk answers in seconds; a server that does not is waited for as long as mount.nfs does itself.
constexpr std::int64_t kMountNs = 150 * kNsPerSecond;

}  // namespace

ToolStep MountWave::step(const char* tool, std::vector<std::string> arguments) const {
  ToolStep made;
  made.what = tool;
  made.tool.argv.push_back(std::string("/usr/bin/") + tool);
  for (auto& one : arguments) made.tool.argv.push_back(std::move(one));
  made.tool.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "HOME=/root",
                           "TERM=dumb"};
  made.limit_ns = kMountNs;
  return made;
}

void MountWave::edit() {
  edited_ = edit_file();
  edited_error_ = edited_->error.has_value();
  if (edited_error_) error_ = edited_->error;
  if (edited_->skipped) skipped_ = edited_->message;
  if (!going() || machine_->units == nullptr || !is_live(*machine_)) return;
  // Its generator makes a unit of each line; without it an old one could mount the old line again.
  if (machine_->units->find_absence()) return;
  if (auto read = machine_->units->reload_manager(os::kUnitCallNs); !read)
    error_ = std::move(read).error().context(
        "the line is written, and the service manager did not "
        "read it");
}

// By what is there now: the plan may be a while old.
Status MountWave::decide_steps() {
  Sight sight(machine_, declared_);
  const std::string path = action_.target.name;
  DATUM_ASSIGN(const auto facts, look_at_mount(sight, path));
  const auto state = resource_->text(Field::state);
  const bool unmounts = state == "absent" || state == "unmounted";
  if (unmounts && facts.mounted) steps_.push_back(step("umount", {"--", path}));
  if (state != "mounted") return {};
  const auto wanted = wanted_mount(*resource_);
  if (!facts.mounted) {
    steps_.push_back(step("mount", {"--target", path}));
    return {};
  }
  if (is_mounted_device(sight, wanted.device, *facts.mounted) == false) {
    steps_.push_back(step("umount", {"--", path}));
    steps_.push_back(step("mount", {"--target", path}));
  } else if (wanted.options &&
             restrictions(*wanted.options) != restrictions(facts.mounted->options)) {
    steps_.push_back(step("mount", {"--options", "remount", "--target", path}));
  }
  return {};
}

void MountWave::begin() {
  begun_ = true;
  began_ns_ = now_ns();
  if (resource_ == nullptr) return;
  const auto seen = look_once_more();
  if (seen.found == core::Found::unseen)
    error_ = Error(ErrorCode::conflict, seen.reason.str());
  else if (seen.found != action_.found || seen.drifts != action_.changes)
    skipped_ = "it was changed since it was observed";
  if (going() && !resource_->absent()) edit();
  if (!going() || !is_live(*machine_)) return;
  if (auto decided = decide_steps(); !decided) error_ = std::move(decided).error();
}

std::optional<ToolStep> MountWave::next_step() {
  if (!begun_) begin();
  if (!going() || steps_.empty()) return {};
  auto next = std::move(steps_.front());
  steps_.pop_front();
  acted_ = true;
  crash_point("tool");
  return next;
}

void MountWave::end_step(ToolStepEnd end) {
  crash_point("tool-ended");
  output_ += end.output;
  stepped_ = stepped_ || end.succeeded;
  if (end.succeeded) return;
  if (end.still_running) {
    still_running_ = end.unit;
    error_ = Error(ErrorCode::timed_out,
                   "its tool is past its limit and is not killed: " + end.unit + " goes on");
  } else if (end.error) {
    error_ = end.error;
  } else {
    error_ = Error(ErrorCode::io_error, end.how.empty() ? "nobody knows how it ended" : end.how);
  }
}

void MountWave::cancel(std::string reason) {
  steps_.clear();
  if (!going()) return;
  if (acted_ || edited_)
    error_ = Error(ErrorCode::cancelled, "not ended: " + reason);
  else
    skipped_ = "not begun: " + reason;
}

std::int64_t MountWave::act() {
  if (going() && !edited_) edit();
  return 0;
}

// What the tools said is not believed: fstab and the kernel are looked at once more.
void MountWave::judge(core::ActionResult& result) {
  if (resource_ == nullptr) return;
  result.after = look_once_more();
  result.left = {result.after.found, 0, 0, result.after.content};
  if (result.after.found == core::Found::unseen) {
    error_ = Error(ErrorCode::io_error,
                   "done, and it cannot be seen that it is: " + result.after.reason.str());
    return;
  }
  for (const auto& drift : result.after.drifts) {
    const bool asked = std::any_of(action_.changes.begin(), action_.changes.end(),
                                   [&](const auto& one) { return one.field == drift.field; });
    if (!asked) continue;
    error_ = Error(ErrorCode::conflict,
                   "it did not take effect: " + drift.field + " is " + drift.observed);
    return;
  }
}

std::vector<core::ActionResult> MountWave::finish() {
  core::ActionResult result;
  if (edited_) result = std::move(*edited_);
  result.ordinal = action_.ordinal;
  if (going()) judge(result);
  const bool line_written = edited_.has_value() && !edited_error_ && !result.skipped;
  const bool line_changed = line_written || result.changed;
  result.atomic = false;
  result.duration_ns = now_ns() - began_ns_;
  result.still_running = still_running_;
  result.skipped = !skipped_.empty();
  result.message = skipped_;
  if (error_) {
    if (line_changed || stepped_) note_remains(line_written, result);
    result.output = std::move(output_);
    add_error(line_changed, result);
  }
  return {std::move(result)};
}

}  // namespace datum::resource
