// Waves: what all kinds of them have in common, and the wave of file actions.
//
// One wave of file actions (File, Directory, Symlink, purge, removals) in the order of design §5:
// prove space → keep old content (blobs durable) → [announcement, by the engine] → stage all temp
// files → sync → rename all → sync each touched folder once → observe again. Each step is one call
// that blocks and belongs on a pool thread; the engine appends to the journal between them. The
// steps only go forward. Temp names are derived from store, pass and ordinal, so that recovery can
// find and remove them. A wave over more than 256 folders goes through the steps after the
// announcement in pieces, so that it never holds more descriptors than that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "datum/blobs/blob_store.hpp"
#include "datum/core/decide.hpp"
#include "datum/os/packages.hpp"
#include "datum/resource/observer.hpp"

namespace datum::resource {

// Points at which a test or the self-test may end the process or inject a failure, in this order
// for each action: "stage", "staged", "sync", "rename", ("aside" between two renames,) "renamed",
// "sync-folder", "folder-synced", "observe"; for a unit: "reload-manager", "unit-files", "job",
// "job-ended", "observe"; for a delivery, with its place among them: "deliver", "delivered". Passed
// down, never global.
using CrashPoint = std::function<void(const char* point, std::uint32_t ordinal)>;

// Runs a validator to its end (a file's `validate`). Called on the thread of the wave; whoever
// supplies it hands the child to the loop and waits.
using RunChild = os::RunChild;

// Bytes on disk of the old content that the journal names, archived records included. Slow: it
// reads them all.
using MeasureKept = std::function<Result<std::uint64_t>()>;

struct WaveOptions {
  Id128 store;
  PassId pass = 0;
  // Above it one sync per file system, where errors are reported.
  std::uint32_t file_sync_threshold = 64;
  CrashPoint crash_point;  // empty in the service
  // Once it is stopped, actions whose target was not changed yet are skipped.
  loop::StopFlag stop = {};
  RunChild run_child;            // without one, files with a validator that is a program fail
  loop::Clock* clock = nullptr;  // borrowed; for the duration of each action, 0 without one
  // Asked at most once, where all blobs together leave no room for old content; without it all of
  // them count as such.
  MeasureKept measure_kept;
  // Packages that the package manager was cut off with may be brought to an end: the journal says
  // that Datum began with them, or agent.yaml allows it.
  bool finish_interrupted = false;
  // A version of the service that did not run here: it is not installed again.
  std::optional<core::RolledBack> rolled_back = std::nullopt;
};

// What was seen and kept before the announcement.
struct Prepared {
  std::uint32_t ordinal = 0;
  core::Found before = core::Found::absent;
  Digest old_content;     // blob; zero if there is none or it is not kept
  bool not_kept = false;  // too large, or the limit for all is reached
  std::uint64_t old_size = 0;
  std::string not_kept_reason;
  // Of what was there, and its attributes as a blob (zero if it has none); no traces where one of
  // the two could not be read.
  std::optional<core::Traces> traces = std::nullopt;
  Digest attributes = {};
};

// One step of a wave that a tool does which changes the machine and has a life of its own.
struct ToolStep {
  std::string what;  // for people: "apt-get install"
  os::Tool tool;     // nothing to run: only `pause_ns` is to pass
  std::int64_t limit_ns = 0;
  std::int64_t pause_ns = 0;
};
// How that ended. Neither ended nor still running: nobody knows it.
struct ToolStepEnd {
  std::string unit;            // the name under which it ran
  std::optional<Error> error;  // it did not begin, or its end could not be asked for
  bool still_running = false;  // past its limit, and not killed
  bool succeeded = false;
  std::string how;     // it ended, in words; empty for a success
  std::string output;  // bounded
};

// The steps of any wave, in this order. Each blocks and belongs on a pool thread; the engine
// appends to the journal between them.
class Wave {
 public:
  virtual ~Wave() = default;
  // Before the announcement: proves that there is room and keeps what will be replaced, durably. An
  // error means that nothing of the wave may be begun.
  [[nodiscard]] virtual Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) = 0;
  // After the announcement is durable, before `act`: what a tool is to do next, until nothing is
  // left. The engine runs it and tells its end before it asks again. May block (it simulates).
  [[nodiscard]] virtual bool uses_tools() const { return false; }
  [[nodiscard]] virtual std::optional<ToolStep> next_step() { return {}; }
  virtual void end_step(ToolStepEnd end) { static_cast<void>(end); }
  // No further step may begin.
  virtual void cancel(std::string reason) { static_cast<void>(reason); }
  // After the announcement is durable. Returns for how long things are left alone before they are
  // looked at once more (nanoseconds; 0: not at all).
  [[nodiscard]] virtual std::int64_t act() = 0;
  // One result for each action. Never fails as a whole.
  [[nodiscard]] virtual std::vector<core::ActionResult> finish() = 0;
};
// Whether waves of this family have steps that tools do.
[[nodiscard]] constexpr bool is_done_by_tools(model::TargetFamily family) {
  return family == model::TargetFamily::package || family == model::TargetFamily::mount;
}
// The wave for these actions, which core put together: all of one kind.
[[nodiscard]] std::shared_ptr<Wave> make_wave(std::shared_ptr<const Machine> machine,
                                              std::shared_ptr<const Declared> declared,
                                              std::shared_ptr<const core::Plan> plan,
                                              std::vector<std::uint32_t> ordinals,
                                              WaveOptions options);

class FileWave final : public Wave {
 public:
  FileWave(std::shared_ptr<const Machine> machine, std::shared_ptr<const Declared> declared,
           std::shared_ptr<const core::Plan> plan, std::vector<std::uint32_t> ordinals,
           WaveOptions options);
  ~FileWave() override;
  [[nodiscard]] Result<std::vector<Prepared>> prepare(blobs::BlobStore& store) override;
  [[nodiscard]] std::int64_t act() override;
  [[nodiscard]] std::vector<core::ActionResult> finish() override;

  // Free space and inodes for temp files of this wave on each touched file system, with a reserve
  // of an eighth of what is free, at most 16 MiB. `no_space` names the folder and what is missing.
  // Where only some of the file systems have no room, the actions there fail in `run` and the
  // others go on.
  [[nodiscard]] Status prove_space();
  // Old content of regular files (and the text of links) that this wave replaces or removes, into
  // `store`, which is synced before this returns. One entry per action of the wave. A file that
  // cannot be read makes its own action fail in `run`; an error here is the store's, and nothing of
  // the wave may be begun. Content of sensitive files is wrapped (kept.hpp).
  [[nodiscard]] Result<std::vector<Prepared>> keep_old(blobs::BlobStore& store);
  // After the announcement is durable. Never fails as a whole: each action has its own result. An
  // object that is not the observed one any more makes the action `skipped`; nothing of it is
  // touched.
  [[nodiscard]] std::vector<core::ActionResult> run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Name of the temp file of an action: begins with ".datum-", at most 60 bytes. What else an action
// needs beside it (a folder that makes room, a backup in the making) has this name and a suffix.
[[nodiscard]] std::string temp_name(const Id128& store, PassId pass, std::uint32_t ordinal);

// What a unit says of itself before a restart or reload that is about to be asked for, on one line,
// to be compared after a death (docs/formats/events.md, deliveryStarted).
[[nodiscard]] std::string describe_moment(const os::Unit& unit);
enum class Told : std::uint8_t { happened, did_not, failed, untellable };
// Whether a restart (or reload) that was announced at `moment` happened since, by the unit as it is
// now. `same_boot`: the machine has not gone down meanwhile.
[[nodiscard]] Told tell_delivery(const std::string& moment, bool restart, bool same_boot,
                                 const os::Unit& unit);
// Whether it runs as far as its declaration is concerned: active, or just reloading.
[[nodiscard]] bool is_running(const os::Unit& unit);
// `refused`, with what, where a job of that kind would stop or restart a unit of Datum's own, also
// along a chain of other units (requirements, parts, conflicts). Asks the manager; changes nothing.
[[nodiscard]] Status refuse_own_end(os::Units& units, const std::string& unit, os::UnitJob job);
// How long a started unit is watched, of its declaration or the default; nanoseconds.
[[nodiscard]] std::int64_t settle_ns(const model::Resource& service);
// Longer than the manager's own limits for a stop and a start together (90 s each), so that it ends
// the job and not this.
inline constexpr std::int64_t kUnitJobNs = 300 * kNsPerSecond;

// What a dead process had announced and not ended.
struct DeadWave {
  Id128 store;
  PassId pass = 0;
  std::vector<core::AnnouncedState> actions;
  // By action: digest of the last observation that was recorded of its target, zero if there is
  // none. A target that still looks like that was not changed.
  std::vector<Digest> observed;
};

// After a crash: what became of each action, in their order. Changes nothing; blocks. A temp file
// that is still there proves that the rename did not happen. `declared` is the dead pass's own
// manifest, or nothing: then only what is absent, or has its temp file beside it, can be told, and
// everything else is `untellable`. Names and objects are synced before anything is said of them;
// where that fails, nothing is said to have taken effect, and a temp file counts as left.
[[nodiscard]] std::vector<core::RecoveredAction> recover_actions(const Machine& machine,
                                                                 const Declared& declared,
                                                                 const DeadWave& dead);

// Removes what an action left beside its target: the old thing gets its name back if nothing has
// it, a filled folder the name it was made for. False if something of it still lies there, or may
// come back with a power cut.
[[nodiscard]] bool remove_leftover(const Machine& machine, const Id128& store,
                                   const core::Leftover& leftover);

}  // namespace datum::resource
