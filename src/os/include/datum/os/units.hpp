// The machine's service manager: what its units are, and asking it to start, stop, reload, enable
// or mask one, or to run a tool as a service of its own. Words of states are systemd's own, so that
// a later version's new word is shown and not misread. Every call blocks up to its limit and may
// come from any thread; calls of several threads wait for each other. Limits are nanoseconds of a
// clock that does not count suspend: the manager sleeps with the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/base/time.hpp"

namespace datum::os {

// An answer of the manager itself takes milliseconds; it reads its unit files before one.
inline constexpr std::int64_t kUnitCallNs = 25 * kNsPerSecond;

// What the manager says of one unit. Of a name that no file and no process stands behind
// `load_state` is "not-found".
struct Unit {
  std::string name;                // as it was asked for
  std::string id;                  // the canonical name: an alias leads to another one
  std::vector<std::string> names;  // the canonical one and its aliases, sorted
  std::string load_state;  // loaded, not-found, masked, bad-setting, error; of a template: template
  std::string active_state;   // active, reloading, inactive, failed, activating, deactivating
  std::string sub_state;      // running, exited, dead, auto-restart, …
  std::string file_state;     // of the canonical name: enabled, static, masked, …; empty: no file
  std::string fragment_path;  // of the unit file; empty: none
  std::string invocation;     // 32 hexadecimal digits, new with each start; empty: never started
  std::string result;         // of a service: success, exit-code, signal, timeout, …
  std::string reload_result;  // of a service's last reload
  std::uint64_t state_changed_us = 0;   // clock that does not count suspend, of this boot
  std::uint64_t active_entered_us = 0;  // the same clock
  std::int32_t exit_code = 0;           // CLD_* of the main process; 0: it has not ended
  std::int32_t exit_status = 0;         // exit status or signal
  bool can_reload = false;
  bool needs_daemon_reload = false;           // its files changed since the manager read them
  bool has_job = false;                       // a start, stop or reload of it is under way
  std::vector<std::string> stopped_with;      // what its stop or restart ends too, directly
  std::vector<std::string> stopped_by_start;  // what its start ends, directly
  std::string problem;  // the manager refused to speak of it: why; all else is empty
};

enum class UnitJob : std::uint8_t { start, stop, restart, reload };
[[nodiscard]] std::string_view to_string(UnitJob job);

enum class UnitFileChange : std::uint8_t { enable, disable, mask, unmask };
[[nodiscard]] std::string_view to_string(UnitFileChange change);

// A tool in a cgroup of its own, whose life does not hang on whoever asked for it. Its end can be
// read from `query` under its name until `forget`.
struct TransientService {
  std::string name;                      // "datum-….service"
  std::string description;               // one line
  std::vector<std::string> argv;         // argv[0] is an absolute path; no shell
  std::vector<std::string> environment;  // "KEY=value", beside what the manager itself gives
  std::string output_path;               // of an existing file; standard output and error go there
};

class Units {
 public:
  virtual ~Units() = default;

  // Why there is no manager that could be asked (none runs here, its library is missing), in words;
  // nothing if there is one. Asked anew by every call.
  [[nodiscard]] virtual std::optional<std::string> find_absence() = 0;

  // One for each name, in their order; nothing on the machine changes. `unavailable`: no manager,
  // or it closed the connection; `timed_out`.
  [[nodiscard]] virtual Result<std::vector<Unit>> query(std::span<const std::string> names,
                                                        std::int64_t limit_ns) = 0;

  // Asks for a job and waits for its end: "done", or the manager's word for how it failed. An error
  // means that it was refused (`not_found`, `conflict` for a masked one, `permission_denied`), or
  // that its end was not seen (`timed_out`, `unavailable`): it may still go on.
  [[nodiscard]] virtual Result<std::string> run_job(const std::string& name, UnitJob job,
                                                    std::int64_t limit_ns) = 0;

  // Lasting, not for this boot alone. Links that are in the way are replaced, files never. The
  // manager's own view of files follows with `reload_manager`.
  [[nodiscard]] virtual Status change_file(const std::string& name, UnitFileChange change,
                                           std::int64_t limit_ns) = 0;

  // The manager reads all unit files again.
  [[nodiscard]] virtual Status reload_manager(std::int64_t limit_ns) = 0;

  // Returns when the program runs, or with why it could not be started. `already_exists`: a unit of
  // that name is loaded.
  [[nodiscard]] virtual Status start_transient(const TransientService& service,
                                               std::int64_t limit_ns) = 0;
  // The manager forgets an ended transient service. `conflict` while it runs. No error if it is not
  // known.
  [[nodiscard]] virtual Status forget(const std::string& name, std::int64_t limit_ns) = 0;
};

// "foo@.service": has files and no processes.
[[nodiscard]] bool is_unit_template(std::string_view name);
// Whether its main process has not ended yet, as far as the manager knows.
[[nodiscard]] bool is_running_tool(const Unit& unit);
// "main process ended with status 3", or with a signal, or what result the service had.
[[nodiscard]] std::string describe_end(const Unit& unit);

}  // namespace datum::os
