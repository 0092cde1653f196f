#include "datum/selftest/kept_unit.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "datum/selftest/scenario.hpp"

namespace datum::selftest {
namespace {

constexpr std::uint64_t kStepUs =
    1'000'000;  // between two changes of its state, so that each shows

class KeptUnit final : public os::Units {
 public:
  explicit KeptUnit(std::string story) : story_(std::move(story)) {}

  std::optional<std::string> find_absence() override { return std::nullopt; }

  Result<std::vector<os::Unit>> query(std::span<const std::string> names, std::int64_t) override {
    std::vector<os::Unit> units;
    units.reserve(names.size());
    for (const auto& name : names) units.push_back(look(name));
    return units;
  }

  Result<std::string> run_job(const std::string& name, os::UnitJob job, std::int64_t) override {
    if (name != kUnit || job != os::UnitJob::reload)
      return fail(ErrorCode::refused, name + ": the self-test's unit is only ever reloaded");
    std::ofstream story(story_, std::ios::binary | std::ios::app);
    story << "reload\n";
    story.close();
    if (!story) return fail(ErrorCode::io_error, story_ + ": cannot be written");
    return std::string("done");
  }

  Status change_file(const std::string& name, os::UnitFileChange, std::int64_t) override {
    return refuse(name);
  }
  Status reload_manager(std::int64_t) override { return {}; }
  Status start_transient(const os::TransientService& service, std::int64_t) override {
    return refuse(service.name);
  }
  Status forget(const std::string&, std::int64_t) override { return {}; }

 private:
  static Status refuse(const std::string& name) {
    return fail(ErrorCode::refused, name + ": not in the self-test");
  }

  [[nodiscard]] os::Unit look(const std::string& name) const {
    os::Unit unit;
    unit.name = name;
    unit.id = name;
    unit.names = {name};
    unit.load_state = "not-found";
    unit.active_state = "inactive";
    unit.sub_state = "dead";
    if (name != kUnit) return unit;
    unit.load_state = "loaded";
    unit.active_state = "active";
    unit.sub_state = "running";
    unit.file_state = "enabled";
    unit.fragment_path = "/etc/systemd/system/" + name;
    unit.invocation = "5e1f7e57000000000000000000000001";
    unit.result = "success";
    unit.reload_result = "success";
    unit.active_entered_us = kStepUs;
    unit.state_changed_us = kStepUs * (1 + count_reloads(story_));
    unit.can_reload = true;
    return unit;
  }

  std::string story_;
};

}  // namespace

std::unique_ptr<os::Units> make_kept_unit(std::string story) {
  return std::make_unique<KeptUnit>(std::move(story));
}

std::uint64_t count_reloads(const std::string& story) {
  std::ifstream file(story, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace datum::selftest
