// The table of commands and flags.
#include "arguments.hpp"

#include <algorithm>
#include <iostream>

#include "datum/config/quantity.hpp"
#include "datum/program/command_line.hpp"

namespace datum::control {
namespace {

using program::kNotEmpty;

const CLI::Validator kDuration(
    [](std::string& value) {
      return config::find_duration_ns(value) ? std::string()
                                             : value + " is no duration: 30s, 45m, 2h, 7d";
    },
    "");
const CLI::Validator kFact(
    [](std::string& value) {
      const auto at = value.find('=');
      return at == std::string::npos || at == 0 ? value + " is not NAME=VALUE" : std::string();
    },
    "");

class CommandTable {
 public:
  CommandTable(CLI::App& app, Arguments& arguments) : app_(app), arguments_(arguments) {}

  void add_all() {
    add_server();
    add_tokens();
    add_nodes();
    add_orders();
    add_desired();
    add_backups();
  }

 private:
  // A command that asks the server one thing.
  CLI::App& add_asking(CLI::App& parent, LocalVerb verb, const std::string& path,
                       const std::string& summary) {
    auto& command = add(parent, Task::ask, path, summary);
    command.callback([this, verb, path] {
      if (parsed_below_) return;
      parsed_below_ = true;
      arguments_.task = Task::ask;
      arguments_.request.verb = verb;
      arguments_.request.command_line = "datum-control " + path;
    });
    with_socket(command);
    command.add_flag("--json", arguments_.request.json, "print JSON");
    return command;
  }
  CLI::App& add(CLI::App& parent, Task task, const std::string& path, const std::string& summary) {
    const auto name = path.substr(path.rfind(' ') + 1);
    auto& command = *parent.add_subcommand(name, summary);
    command.callback([this, task, path] {
      if (parsed_below_) return;
      parsed_below_ = true;
      arguments_.task = task;
      arguments_.request.command_line = "datum-control " + path;
    });
    return command;
  }
  void with_socket(CLI::App& command) {
    command
        .add_option("--socket", arguments_.socket,
                    "socket of the server (default: /run/datum-control/control.sock)")
        ->type_name("PATH")
        ->check(kNotEmpty);
  }
  void with_state(CLI::App& command) {
    command.add_option("--state", arguments_.state, "store (default: /var/lib/datum-control)")
        ->type_name("DIR")
        ->check(kNotEmpty);
  }
  void with_target(CLI::App& command, const std::string& name, const std::string& meaning) {
    command.add_option(name, arguments_.request.target, meaning)->required()->check(kNotEmpty);
  }
  void with_reason(CLI::App& command, bool required) {
    auto* option = command.add_option("--reason", arguments_.request.reason, "why, for the record");
    option->type_name("TEXT")->check(kNotEmpty);
    if (required) option->required();
  }

  void add_server() {
    auto& serve = add(app_, Task::serve, "serve", "be the control plane of a mesh");
    with_state(serve);
    serve.add_option("--listen", arguments_.listen, "where nodes connect (default: [::]:7600)")
        ->type_name("ADDRESS:PORT")
        ->check(kNotEmpty);
    with_socket(serve);
    serve
        .add_option_function<std::string>(
            "--mesh",
            [this](const std::string& value) {
              arguments_.mesh = value;
              arguments_.mesh_given = true;
            },
            "name of the mesh, at the first start (default: main)")
        ->type_name("NAME")
        ->check(kNotEmpty);
    serve.add_option("--heartbeat", arguments_.heartbeat, "of the nodes (default: 60s)")
        ->type_name("DURATION")
        ->check(kDuration);
    serve.add_option("--admin-group", arguments_.admin_group, "whose members may ask for anything")
        ->type_name("GROUP")
        ->check(kNotEmpty);
    serve.add_option("--read-group", arguments_.read_group, "whose members may ask what is known")
        ->type_name("GROUP")
        ->check(kNotEmpty);
    serve.add_option("--metrics", arguments_.metrics, "write a file for node_exporter")
        ->type_name("FILE")
        ->check(kNotEmpty);
    auto& status = add_asking(app_, LocalVerb::status, "status", "say how many hosts match");
    with_labels(status);
    status.add_option("--silent", arguments_.silent, "only who has been silent for so long")
        ->type_name("DURATION")
        ->check(kDuration);
    auto& drift =
        add_asking(app_, LocalVerb::drift, "drift", "say which resource drifts on how many nodes");
    with_labels(drift);
  }
  void add_tokens() {
    auto& token = *app_.add_subcommand("token", "tokens with which machines become nodes");
    token.require_subcommand(1);
    auto& create =
        add_asking(token, LocalVerb::token_create, "token create", "make a token and print it");
    create.add_option("--names", arguments_.request.names, "only for names like this (default: *)")
        ->type_name("GLOB")
        ->check(kNotEmpty);
    create.add_option("--ttl", arguments_.ttl, "how long it is good (default: 1h)")
        ->type_name("DURATION")
        ->check(kDuration);
    create.add_flag("--multi", arguments_.request.multi, "for any number of machines");
    create.add_flag("--by-hand", arguments_.request.by_hand, "a person accepts each machine");
    create.add_option("--require", arguments_.required, "a fact of the machine's profile")
        ->type_name("NAME=VALUE")
        ->check(kFact);
    create.add_option("--label", arguments_.labels, "a label that its nodes get")
        ->type_name("NAME=VALUE")
        ->check(kFact);
    add_asking(token, LocalVerb::token_list, "token list", "list all tokens, never their secrets");
    auto& withdraw = add_asking(token, LocalVerb::token_withdraw, "token withdraw",
                                "let a token be good for nobody any more");
    with_target(withdraw, "TOKEN", "its id, as in the list");
  }
  void add_nodes() {
    auto& nodes = add_asking(app_, LocalVerb::nodes, "nodes", "list nodes, and machines that wait");
    nodes.require_subcommand(0, 1);
    with_labels(nodes);
    auto& accept = add_asking(nodes, LocalVerb::accept, "nodes accept", "let a machine become one");
    with_target(accept, "NODE", "its name, or the beginning of its key's fingerprint");
    with_reason(accept, false);
    auto& refuse = add_asking(nodes, LocalVerb::refuse, "nodes refuse", "do not");
    with_target(refuse, "NODE", "its name, or the beginning of its key's fingerprint");
    with_reason(refuse, false);
    auto& forget = add_asking(nodes, LocalVerb::forget, "nodes forget",
                              "free the name and the key of a node that is gone");
    with_target(forget, "NODE", "its name");
    auto& node = add_asking(app_, LocalVerb::node, "node", "say all that is known of a node");
    with_target(node, "NODE", "its name");
    auto& revoke = add_asking(app_, LocalVerb::revoke, "revoke", "let a node in no more");
    with_target(revoke, "NODE", "its name");
    with_reason(revoke, true);
  }
  CLI::Option& with_labels(CLI::App& command) {
    auto* option = command.add_option("--label", arguments_.labels,
                                      "nodes that have this label, or all of several");
    return *option->type_name("NAME=VALUE")->check(kFact);
  }
  void with_chosen(CLI::App& command) {
    auto* names =
        command.add_option("NODE", arguments_.request.nodes, "their names")->check(kNotEmpty);
    auto* all = command.add_flag("--all", arguments_.request.all, "all that are enrolled");
    with_labels(command).excludes(names)->excludes(all);
    all->excludes(names);
  }
  void add_orders() {
    auto& hold =
        add_asking(app_, LocalVerb::hold, "hold", "keep machines as they are, for a while");
    with_chosen(hold);
    hold.add_option("--for", arguments_.hold_for, "how long (default: until it is lifted)")
        ->type_name("DURATION")
        ->check(kDuration);
    with_reason(hold, true);
    auto& lift = add_asking(app_, LocalVerb::lift, "lift", "end such a hold, by a signed order");
    with_chosen(lift);
    with_reason(lift, false);
    auto& orders = add_asking(app_, LocalVerb::orders, "orders",
                              "say who has not acknowledged a hold or lift");
    orders.add_flag("--all", arguments_.request.all, "say who has, too");
  }
  void add_desired() {
    auto& push = add(app_, Task::push, "push", "release a fleet's manifests to their nodes");
    push.require_subcommand(0, 1);
    push.add_option("--fleet", arguments_.fleet, "folder of the desired-state documents")
        ->type_name("DIR")
        ->check(kNotEmpty);
    push.add_option("--revision", arguments_.request.revision,
                    "revision for the record (default: the fleet's own)")
        ->type_name("TEXT")
        ->check(kNotEmpty);
    push.add_option("--hosts", arguments_.hosts, "only these (default: all that are enrolled)")
        ->type_name("NAME")
        ->check(kNotEmpty);
    push.add_option("--allow-removals", arguments_.request.allow_removals,
                    "let nodes remove up to N targets that nobody declared absent")
        ->type_name("N");
    push.add_option("--stages", arguments_.request.stages,
                    "how many have it after each stage (default: all at once)")
        ->type_name("1,10%")
        ->check(kNotEmpty);
    push.add_option("--soak", arguments_.soak, "how long each stage is watched (default: 0s)")
        ->type_name("DURATION")
        ->check(kDuration);
    push.add_option("--revert-unless-linked", arguments_.revert_unless_linked,
                    "nodes undo it where no link comes back for so long after it")
        ->type_name("DURATION")
        ->check(kDuration);
    with_socket(push);
    push.add_flag("--json", arguments_.request.json, "print JSON");
    add_asking(push, LocalVerb::push_resume, "push resume",
               "go on to the next stage, whoever is not ready");
    auto& abort = add_asking(push, LocalVerb::push_abort, "push abort", "release nothing more");
    with_reason(abort, true);
    auto& journal = add(app_, Task::journal, "journal", "read what a node's journal says");
    with_target(journal, "NODE", "its name");
    with_state(journal);
    journal.add_option("--output", arguments_.output, "write it as an export")
        ->type_name("FILE")
        ->check(kNotEmpty);
    journal.add_flag("--json", arguments_.request.json, "print JSON");
    auto& history = add(app_, Task::history, "history", "list what was decided and happened here");
    history.add_option("NODE", arguments_.request.target, "only what is about this node")
        ->check(kNotEmpty);
    with_state(history);
    history.add_flag("--json", arguments_.request.json, "print JSON");
  }

  void with_passphrase(CLI::App& command) {
    command
        .add_option("--passphrase-file", arguments_.passphrase_file,
                    "whose first line the passphrase is; - is standard input")
        ->type_name("FILE")
        ->required()
        ->check(kNotEmpty);
  }
  void add_backups() {
    auto& backup = add(app_, Task::backup, "backup", "write the store into a file, sealed");
    with_state(backup);
    backup.add_option("--output", arguments_.output, "the file, which is not replaced")
        ->type_name("FILE")
        ->required()
        ->check(kNotEmpty);
    with_passphrase(backup);
    auto& restore = add(app_, Task::restore, "restore", "make a store of a backup");
    restore.add_option("FILE", arguments_.backup, "the backup")->required()->check(kNotEmpty);
    with_state(restore);
    with_passphrase(restore);
  }

  CLI::App& app_;
  Arguments& arguments_;
  // CLI11 calls a command's parents too, innermost first.
  bool parsed_below_ = false;
};

std::vector<core::Fact> facts_of(const std::vector<std::string>& words) {
  std::vector<core::Fact> facts;
  for (const auto& word : words) {
    const auto at = word.find('=');
    facts.push_back({word.substr(0, at), word.substr(at + 1)});
  }
  return facts;
}

}  // namespace

Parsed parse_arguments(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The control plane of a mesh of machines that Datum keeps.", "datum-control");
  program::begin_table(app);
  CommandTable table(app, arguments);
  table.add_all();
  if (const auto end = program::parse_words(app, argc, argv)) {
    std::cout << end->output;
    std::cerr << end->errors;
    return {std::nullopt, end->exit_code};
  }
  if (arguments.task == Task::push && arguments.fleet.empty()) {
    std::cerr << "datum-control push: --fleet is required\n"
                 "`datum-control push --help` says what it takes.\n";
    return {std::nullopt, 1};
  }
  arguments.request.soak_ns = config::find_duration_ns(arguments.soak).value_or(0);
  arguments.request.silent_ns = config::find_duration_ns(arguments.silent).value_or(0);
  arguments.request.for_ns = config::find_duration_ns(arguments.hold_for).value_or(0);
  // None at all is no time: the server says which are.
  if (!arguments.revert_unless_linked.empty())
    arguments.request.revert_unless_linked_ns = std::max<std::int64_t>(
        config::find_duration_ns(arguments.revert_unless_linked).value_or(0), 1);
  arguments.request.ttl_ns = config::find_duration_ns(arguments.ttl).value_or(0);
  arguments.request.required = facts_of(arguments.required);
  arguments.request.labels = facts_of(arguments.labels);
  return {std::move(arguments), 0};
}

}  // namespace datum::control
