// The tree of agent.yaml → settings. One function a key; unknown keys and wrong forms become faults
// with their place.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/config/configuration.hpp"
#include "datum/yaml/yaml.hpp"

namespace datum::config {

class Reader {
 public:
  // Borrowed until `read` has returned. `configuration` holds the defaults.
  Reader(std::string_view file, Configuration& configuration, std::vector<yaml::Diagnostic>& faults)
      : file_(file), out_(configuration), faults_(faults) {}

  void read(const yaml::Node& root);

 private:
  using Take = void (Reader::*)(const yaml::Node& value);
  struct Key {
    std::string_view name;
    Take take;
  };

  // Hands each value of a mapping to its key. A null value is as if the key were not there.
  void read_section(const yaml::Node& node, std::string_view what, std::span<const Key> keys);

  void take_host(const yaml::Node& value);
  void take_reconciliation(const yaml::Node& value);
  void take_mode(const yaml::Node& value);
  void take_interval(const yaml::Node& value);
  void take_pass_limit(const yaml::Node& value);
  void take_trust(const yaml::Node& value);
  void take_strict_paths(const yaml::Node& value);
  void take_observe(const yaml::Node& value);
  void take_protect(const yaml::Node& value);
  void take_secrets(const yaml::Node& value);
  void take_backend(const yaml::Node& value);
  void take_secrets_path(const yaml::Node& value);
  void take_journal(const yaml::Node& value);
  void take_archive_above(const yaml::Node& value);
  void take_archive_after(const yaml::Node& value);
  void take_removals(const yaml::Node& value);
  void take_removals_max(const yaml::Node& value);
  void take_orphans(const yaml::Node& value);
  void take_packages(const yaml::Node& value);
  void take_finish_interrupted(const yaml::Node& value);
  void take_windows(const yaml::Node& value);
  void take_window(const yaml::Node& value, Window& window);
  void take_days(const yaml::Node& value, Window& window);
  void take_day(const yaml::Node& value, Window& window);
  void take_control(const yaml::Node& value);
  void take_source(const yaml::Node& value);
  void take_metrics(const yaml::Node& value);
  void take_state(const yaml::Node& value);

  // Values of a form that several keys share; nullopt after a fault was added.
  [[nodiscard]] std::optional<std::string> take_text(const yaml::Node& value);
  [[nodiscard]] std::optional<std::string> take_path(const yaml::Node& value);
  [[nodiscard]] std::optional<std::int64_t> take_duration(const yaml::Node& value);
  [[nodiscard]] std::optional<std::uint16_t> take_time_of_day(const yaml::Node& value);
  [[nodiscard]] std::vector<std::string> take_globs(const yaml::Node& value);

  [[nodiscard]] Origin origin(const yaml::Node& value) const;
  void add_fault(const yaml::Node& value, std::string message, std::string hint = {});

  std::string_view file_;
  Configuration& out_;
  std::vector<yaml::Diagnostic>& faults_;
};

}  // namespace datum::config
