// One sub-command of the table in arguments.cpp, built flag by flag, for that one file.
#pragma once

#include <string>

#include "arguments.hpp"
#include "datum/program/command_line.hpp"

namespace datum::program {

// CLI11 reads "-1" into an unsigned number.
inline const CLI::Validator kDigits(
    [](std::string& value) {
      const bool digits = !value.empty() && value.size() <= 19 &&
                          value.find_first_not_of("0123456789") == std::string::npos;
      return digits ? std::string() : value + " is not a whole number";
    },
    "");
// Of numbers that mean "all" or "none" inside where they were not given.
inline const CLI::Validator kFromOne(
    [](std::string& value) {
      if (auto problem = kDigits(value); !problem.empty()) return problem;
      const bool is_zero = value.find_first_not_of('0') == std::string::npos;
      return is_zero ? value + ": the first is 1" : std::string();
    },
    "");

// Builds one sub-command: each `with_…` adds a group of flags that several verbs share.
class Command {
 public:
  Command(CLI::App& parent, Arguments& arguments, Verb verb, const std::string& name,
          const std::string& summary)
      : app_(*parent.add_subcommand(name, summary)), arguments_(arguments) {
    app_.callback([&arguments, verb, name] {
      arguments.verb = verb;
      arguments.command_line = "datum " + name;
    });
  }

  Command& with_fleet(bool required) { return with_all_hosts(required).with_host(); }
  Command& with_all_hosts(bool required) {
    auto* option =
        app_.add_option("--fleet", arguments_.fleet, "folder of the desired-state documents");
    option->type_name("DIR")->check(kNotEmpty);
    if (required) option->required();
    return with_profile();
  }
  Command& with_host() {
    app_.add_option("--host", arguments_.host, "host in the fleet (default: this machine's name)")
        ->type_name("NAME")
        ->check(kNotEmpty);
    return *this;
  }
  Command& with_profile() {
    app_.add_option("--profile", arguments_.profile, "facts of the machine, as a YAML mapping")
        ->type_name("FILE")
        ->check(kNotEmpty);
    return *this;
  }
  Command& with_manifest() {
    app_.add_option("--manifest", arguments_.manifest, "compiled manifest, instead of --fleet")
        ->type_name("FILE")
        ->check(kNotEmpty)
        ->excludes(app_.get_option("--fleet"));
    return *this;
  }
  Command& with_root(const std::string& meaning) {
    app_.add_option_function<std::string>(
            "--root",
            [this](const std::string& value) {
              arguments_.root = value;
              arguments_.root_given = true;
            },
            meaning)
        ->type_name("DIR")
        ->check(kNotEmpty);
    return *this;
  }
  Command& with_machine() {
    with_root("act inside this tree");
    app_.add_option("--config", arguments_.config,
                    "configuration (default: etc/datum under the root)")
        ->type_name("DIR")
        ->check(kNotEmpty);
    return with_state();
  }
  Command& with_state() {
    app_.add_option("--state", arguments_.state, "store (default: var/lib/datum under the root)")
        ->type_name("DIR")
        ->check(kNotEmpty);
    return *this;
  }
  Command& with_json() {
    app_.add_flag("--json", arguments_.json, "print JSON");
    return *this;
  }
  Command& with_report() {
    app_.add_flag("--all", arguments_.all, "fold nothing");
    app_.add_option_function<std::string>(
            "--colour", [this](const std::string& value) { set_colour(value); },
            "auto, always or never (default: auto)")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    return with_json();
  }
  Command& with_brake() {
    app_.add_option("--allow-removals", arguments_.allow_removals,
                    "let this pass remove up to N targets that nobody declared absent")
        ->type_name("N")
        ->check(kDigits);
    return *this;
  }
  Command& with_removals() { return with_brake().with_final(); }
  Command& with_mode() {
    app_.add_option("--mode", arguments_.mode, "observe or enforce, for this pass")
        ->type_name("MODE")
        ->check(CLI::IsMember({"observe", "enforce"}));
    return *this;
  }
  Command& with_final() {
    app_.add_flag("--final", arguments_.final, "accept an empty manifest");
    return *this;
  }
  Command& with_journal() {
    app_.add_option("--journal", arguments_.journal,
                    "read this copy or export instead of the store")
        ->type_name("PATH")
        ->check(kNotEmpty);
    with_root("the tree the store acts on");
    return with_state();
  }
  Command& with_filter() {
    app_.add_option("--kind", arguments_.kind, "only events of this kind")
        ->type_name("NAME")
        ->check(kNotEmpty);
    app_.add_option("--since", arguments_.since, "not before this time, or this long ago")
        ->type_name("TIME")
        ->check(kNotEmpty);
    app_.add_option("--until", arguments_.until, "not after this time, or this long ago")
        ->type_name("TIME")
        ->check(kNotEmpty);
    return *this;
  }
  [[nodiscard]] CLI::App& app() { return app_; }

 private:
  void set_colour(const std::string& value) {
    arguments_.colour = value == "always"  ? Colour::always
                        : value == "never" ? Colour::never
                                           : Colour::automatic;
  }

  CLI::App& app_;
  Arguments& arguments_;
};

}  // namespace datum::program
