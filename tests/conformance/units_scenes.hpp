// The implementations of os::Units that the conformance suite runs over: the model, and the real
// one where DATUM_UNITS=machine says that this is a throw-away machine (tests/e2e/lab_units.py
// does). Each offers what Units itself cannot make: units to ask about.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "datum/os_linux/linux_units.hpp"
#include "support/model_units.hpp"

namespace datum::conformance {

// What a unit of a test is like.
struct UnitKind {
  bool can_reload = true;
  bool installs = true;  // can be enabled
  bool starts_badly = false;
};

class UnitScene {
 public:
  virtual ~UnitScene() = default;
  virtual os::Units& units() = 0;
  virtual void put(const std::string& name, const UnitKind& kind) = 0;
  virtual void add_alias(const std::string& alias, const std::string& name) = 0;
  virtual void change_file(const std::string& name) = 0;  // the manager has not read it again
  [[nodiscard]] virtual int reloads(const std::string& name) = 0;
  // A program that runs a while, and one that ends with 3 at once; each says "tool ran".
  virtual std::string slow_tool() = 0;
  virtual std::string failing_tool() = 0;
  virtual std::string output_file() = 0;
};

class ModelScene final : public UnitScene {
 public:
  os::Units& units() override { return units_; }
  void put(const std::string& name, const UnitKind& kind) override {
    auto& unit = units_.put(name);
    unit.can_reload = kind.can_reload;
    unit.starts_badly = kind.starts_badly;
    if (!kind.installs) unit.file_state = "static";
  }
  void add_alias(const std::string& alias, const std::string& name) override {
    units_.at(name).aliases.push_back(alias);
  }
  void change_file(const std::string& name) override { units_.at(name).stale = true; }
  int reloads(const std::string& name) override {
    return static_cast<int>(units_.at(name).reloads);
  }
  std::string slow_tool() override {
    units_.script_tool("/tool/slow", 3, 0, "tool ran\n");
    return "/tool/slow";
  }
  std::string failing_tool() override {
    units_.script_tool("/tool/failing", 0, 3, "tool ran\n");
    return "/tool/failing";
  }
  std::string output_file() override {
    return (std::filesystem::temp_directory_path() / "datum-units-output").string();
  }

 private:
  support::ModelUnits units_;
};

// Writes into the machine's own folders; the machine is thrown away.
class MachineScene final : public UnitScene {
 public:
  MachineScene() : units_(os_linux::make_units()) {}
  os::Units& units() override { return *units_; }
  void put(const std::string& name, const UnitKind& kind) override {
    std::string text = "[Unit]\nDescription=of a test\n[Service]\nExecStart=";
    text += kind.starts_badly ? "/bin/false\nType=oneshot\n" : "/bin/sleep infinity\n";
    if (kind.can_reload) text += "ExecReload=/bin/sh -c 'echo once >> /run/reloads-%n'\n";
    if (kind.installs) text += "[Install]\nWantedBy=multi-user.target\n";
    write(folder() + name, text);
    std::filesystem::remove("/run/reloads-" + name);
    static_cast<void>(units_->reload_manager(os::kUnitCallNs));
  }
  void add_alias(const std::string& alias, const std::string& name) override {
    std::filesystem::remove(folder() + alias);
    std::filesystem::create_symlink(folder() + name, folder() + alias);
    static_cast<void>(units_->reload_manager(os::kUnitCallNs));
  }
  void change_file(const std::string& name) override {
    std::ofstream(folder() + name, std::ios::app) << "# changed\n";
    // The manager compares times; a file of another second differs for certain.
    const auto later = std::filesystem::last_write_time(folder() + name) + std::chrono::seconds(7);
    std::filesystem::last_write_time(folder() + name, later);
  }
  int reloads(const std::string& name) override {
    std::ifstream in("/run/reloads-" + name);
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  }
  std::string slow_tool() override { return tool("/run/slow-tool", "sleep 1\n"); }
  std::string failing_tool() override { return tool("/run/failing-tool", "exit 3\n"); }
  std::string output_file() override { return "/run/datum-units-output"; }

 private:
  static std::string folder() {
    return "/usr/lib/systemd/system/";
  }  // in /etc nothing can be masked
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static std::string tool(const std::string& path, const std::string& rest) {
    write(path, "#!/bin/sh\necho tool ran\n" + rest);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return path;
  }

  std::unique_ptr<os::Units> units_;
};

inline std::unique_ptr<UnitScene> make_scene() {
  const char* where = std::getenv("DATUM_UNITS");
  if (where != nullptr && std::string_view(where) == "machine")
    return std::make_unique<MachineScene>();
  return std::make_unique<ModelScene>();
}

}  // namespace datum::conformance
