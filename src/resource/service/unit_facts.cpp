#include "unit_facts.hpp"

#include <array>

#include "../show.hpp"
#include "datum/resource/wave.hpp"

namespace datum::resource {

namespace {

using model::Field;

struct FileState {
  std::string_view word;
  Startup startup;
};
// All words of systemctl(1), is-enabled. One that is not here is a later version's: no answer.
constexpr std::array kFileStates{
    FileState{"enabled", Startup::on},
    FileState{"enabled-runtime", Startup::off},
    FileState{"linked", Startup::off},
    FileState{"linked-runtime", Startup::off},
    FileState{"disabled", Startup::off},
    FileState{"masked", Startup::masked},
    FileState{"masked-runtime", Startup::masked},
    FileState{"alias", Startup::no_answer},
    FileState{"static", Startup::no_answer},
    FileState{"indirect", Startup::no_answer},
    FileState{"generated", Startup::no_answer},
    FileState{"transient", Startup::no_answer},
    FileState{kByGenerator, Startup::no_answer},
    FileState{"bad", Startup::no_answer},
    FileState{"", Startup::none},
};

// "false", and why, where the file's state is not simply that.
std::string describe_startup(const os::Unit& unit, bool is_on) {
  const bool plain =
      unit.file_state == "enabled" || unit.file_state == "disabled" || unit.file_state.empty();
  return word_of(is_on) + (plain ? "" : " (" + unit.file_state + ")");
}

class ComparingUnit {
 public:
  ComparingUnit(const model::Resource& service, const os::Unit& unit)
      : service_(service), unit_(unit) {}

  Comparison run() {
    compare_state();
    compare_enabled();
    compare_masked();
    return std::move(result_);
  }

 private:
  void add(std::string_view field, std::string desired, std::string observed) {
    result_.drifts.push_back({std::string(field), std::move(desired), shown(observed)});
  }
  [[nodiscard]] bool wants_masked() const { return service_.flag(Field::masked); }

  // A unit that is not there is neither running nor enabled; where that is not wished it is
  // missing.
  void compare_state() {
    const std::string desired(service_.text(Field::state));
    if (!exists(unit_)) {
      if (desired == "running" || service_.flag(Field::enabled))
        add("state", desired, "no such unit");
      return;
    }
    if (os::is_unit_template(unit_.name)) return;
    const bool runs = is_running(unit_);
    const bool rests = unit_.active_state == "inactive" || unit_.active_state == "failed";
    if (desired == "running" ? runs : rests) return;
    add("state", desired, describe_activity(unit_));
  }

  void compare_enabled() {
    const auto startup = startup_of(unit_.file_state);
    const bool desired = service_.flag(Field::enabled);
    if (startup == Startup::no_answer) {
      result_.warning =
          "whether it is enabled cannot be observed: its unit file is " + shown(unit_.file_state);
      return;
    }
    // While it is masked, what is installed does not show.
    if (startup == Startup::masked && (wants_masked() || !desired)) return;
    const bool is_on = startup == Startup::on;
    if (is_on == desired || !exists(unit_)) return;
    add("enabled", word_of(desired), describe_startup(unit_, is_on));
  }

  void compare_masked() {
    if (service_.find(Field::masked) == nullptr) return;
    const bool lasting = is_masked(unit_) && unit_.file_state != "masked-runtime";
    if (wants_masked() ? lasting : !is_masked(unit_)) return;
    add("masked", word_of(wants_masked()),
        word_of(is_masked(unit_)) + (lasting || !is_masked(unit_) ? "" : " (masked-runtime)"));
  }

  const model::Resource& service_;
  const os::Unit& unit_;
  Comparison result_;
};

}  // namespace

Startup startup_of(std::string_view file_state) {
  for (const auto& known : kFileStates)
    if (known.word == file_state) return known.startup;
  return Startup::no_answer;
}

bool is_masked(const os::Unit& unit) {
  return unit.load_state == "masked" || startup_of(unit.file_state) == Startup::masked;
}

bool exists(const os::Unit& unit) {
  return unit.load_state != "not-found";
}

bool is_running(const os::Unit& unit) {
  return unit.active_state == "active" || unit.active_state == "reloading";
}

std::string describe_activity(const os::Unit& unit) {
  if (is_running(unit)) return "running";
  if (unit.active_state == "inactive") return "stopped";
  if (unit.active_state == "failed") {
    const auto end = os::describe_end(unit);
    return end.empty() ? "failed" : "failed: " + end;
  }
  return unit.active_state + " (" + unit.sub_state + ")";
}

Comparison compare(const model::Resource& service, const os::Unit& unit) {
  return ComparingUnit(service, unit).run();
}

}  // namespace datum::resource
