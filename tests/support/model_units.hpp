// A modelled service manager: os::Units in memory. It outlives the processes that ask it, as the
// real one does, and forgets what runs when the machine goes down. Tests set its scene, plant
// refusals and lost answers, and count what it was made to do. Any thread may call it.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/os/units.hpp"

namespace datum::support {

enum class UnitCall : std::uint8_t { query, job, change_file, reload_manager, transient, forget };

struct ModelUnit {
  std::string id;
  std::vector<std::string> aliases;
  std::string file_state = "disabled";  // as if it were not masked
  bool masked = false;
  bool can_reload = true;
  bool runs = false;
  bool failed = false;
  bool starts_badly = false;   // its start job fails
  bool dies_at_once = false;   // its start job is done, and then it ends
  bool reloads_badly = false;  // its reload job fails
  bool is_fresh = false;       // started, and not looked at since
  bool is_between = false;     // somebody else's job is under way
  std::uint64_t starts = 0, stops = 0, reloads = 0;
  std::string invocation;
  std::string reload_result = "success";
  std::uint64_t state_changed_us = 0;
  bool stale = false;  // its files changed since the manager read them
  std::vector<std::string> stopped_with, stopped_by_start;
  std::function<void()> reads;  // it reads its configuration: at each start and reload that works
};

class ModelUnits final : public os::Units {
 public:
  // --- the scene
  ModelUnit& put(const std::string& id);  // a unit with a file; replaces one of that name
  void take(const std::string& id);  // its file goes; what runs goes on in systemd, here it ends
  [[nodiscard]] ModelUnit& at(const std::string& name);  // by any of its names; it must exist
  void set_absent(std::optional<std::string> why) { absent_ = std::move(why); }
  // The machine goes down and comes up again: what is enabled runs anew, nothing else does.
  void reboot();
  // Somebody else starts it if it rests, and stops it if it runs.
  void toggle(const std::string& name);
  // How long a tool runs, counted in queries of it; then it ends with that status. `output` is
  // appended to the real file that the order names.
  void script_tool(std::string program, int queries, int exit_status, std::string output = {});
  // What a scripted tool does to the world when it is started; its exit status.
  void set_tool_effect(std::function<int(const os::TransientService&)> effect) {
    effect_ = std::move(effect);
  }
  [[nodiscard]] std::uint64_t manager_reloads() const { return manager_reloads_; }
  [[nodiscard]] const std::vector<std::string>& tools_started() const { return tools_started_; }

  // Asked before every call; an error is its answer, and nothing happens.
  using Refuse = std::function<std::optional<Error>(UnitCall, std::string_view name)>;
  void set_before_call(Refuse before) { before_ = std::move(before); }
  // Asked after a call had its effect; an error is what the caller sees of it.
  void set_after_call(Refuse after) { after_ = std::move(after); }

  // --- os::Units
  [[nodiscard]] std::optional<std::string> find_absence() override;
  [[nodiscard]] Result<std::vector<os::Unit>> query(std::span<const std::string> names,
                                                    std::int64_t limit_ns) override;
  [[nodiscard]] Result<std::string> run_job(const std::string& name, os::UnitJob job,
                                            std::int64_t limit_ns) override;
  [[nodiscard]] Status change_file(const std::string& name, os::UnitFileChange change,
                                   std::int64_t limit_ns) override;
  [[nodiscard]] Status reload_manager(std::int64_t limit_ns) override;
  [[nodiscard]] Status start_transient(const os::TransientService& service,
                                       std::int64_t limit_ns) override;
  [[nodiscard]] Status forget(const std::string& name, std::int64_t limit_ns) override;

 private:
  struct Tool {
    int queries_left = 0;
    int exit_status = 0;
  };
  struct ToolScript {
    int queries = 0;
    int exit_status = 0;
    std::string output;
  };
  [[nodiscard]] Status ask(const Refuse& refuse, UnitCall call, std::string_view name) const;
  [[nodiscard]] Status begin(UnitCall call, std::string_view name);
  [[nodiscard]] ModelUnit* find(const std::string& name);
  [[nodiscard]] os::Unit describe(const std::string& name);
  [[nodiscard]] os::Unit describe_tool(const std::string& name, Tool& tool);
  [[nodiscard]] std::string do_job(ModelUnit& unit, os::UnitJob job);
  void start(ModelUnit& unit);
  void touch(ModelUnit& unit) { unit.state_changed_us = ++now_us_; }

  std::recursive_mutex mutex_;  // what a unit reads may ask the model again
  std::map<std::string, ModelUnit> units_;
  std::map<std::string, Tool> tools_;
  std::map<std::string, ToolScript> scripts_;
  std::vector<std::string> tools_started_;
  std::optional<std::string> absent_;
  Refuse before_, after_;
  std::function<int(const os::TransientService&)> effect_;
  std::uint64_t now_us_ = 1'000'000;
  std::uint64_t invocations_ = 0;
  std::uint64_t manager_reloads_ = 0;
};

}  // namespace datum::support
