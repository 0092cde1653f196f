// What was asked on the command line, as plain values. The one table of commands and flags is in
// arguments.cpp; docs/reference/commands.md is compared with it by a test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datum/control/local_request.hpp"

namespace datum::control {

inline constexpr const char* kDefaultState = "/var/lib/datum-control";
inline constexpr const char* kDefaultSocket = "/run/datum-control/control.sock";
inline constexpr const char* kDefaultListen = "[::]:7600";

enum class Task : std::uint8_t {
  serve,    // be the server
  ask,      // one request, as it stands
  push,     // resolve a fleet, send it
  journal,  // read a node's journal
  history,  // read the control plane's own
  backup,   // of the store, into a file
  restore,  // a store of such a file
};

struct Arguments {
  Task task = Task::ask;
  LocalRequest request;
  std::string state = kDefaultState;
  std::string socket = kDefaultSocket;
  // serve
  std::string listen = kDefaultListen;
  std::string mesh = "main";
  bool mesh_given = false;
  std::string heartbeat = "60s";
  std::string admin_group, read_group;  // whose members may ask; empty: nobody's
  std::string metrics;                  // a file for Prometheus; empty: none
  // push
  std::string fleet;
  std::vector<std::string> hosts;  // empty: all
  std::string soak = "0s";
  std::string revert_unless_linked;  // empty: never
  std::string silent;                // status: a duration; empty: not asked
  // hold, as written; empty: without end
  std::string hold_for;
  // token create, as written
  std::string ttl = "1h";
  std::vector<std::string> required, labels;
  // journal, backup
  std::string output;
  // backup, restore
  std::string backup, passphrase_file;
};

struct Parsed {
  std::optional<Arguments> arguments;  // nothing: help, version or an error was printed
  int exit_code = 0;
};
[[nodiscard]] Parsed parse_arguments(int argc, char** argv);

}  // namespace datum::control
