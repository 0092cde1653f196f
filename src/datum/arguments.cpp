// The table of commands and flags, and what a wrong word is answered with.
#include "arguments.hpp"

#include <iostream>

#include "command_builder.hpp"
#include "datum/text/terminal.hpp"
#include "nearest.hpp"

namespace datum::program {

namespace {

// CLI11 goes one level deep; here every command is described with its flags, `journal list` too.
class WholeHelp final : public CLI::Formatter {
 public:
  std::string make_expanded(const CLI::App* command) const override {
    auto text = CLI::Formatter::make_expanded(command);
    for (const auto* below : command->get_subcommands([](const CLI::App*) { return true; })) {
      auto part = CLI::Formatter::make_expanded(below);
      text += "\n" + command->get_name() + " " + part;
    }
    return text;
  }
};

// Keeps the builders alive as long as the parser: their callbacks refer to them.
using Commands = std::vector<std::unique_ptr<Command>>;

Command& add(Commands& commands, CLI::App& parent, Arguments& arguments, Verb verb,
             const std::string& name, const std::string& summary) {
  commands.push_back(std::make_unique<Command>(parent, arguments, verb, name, summary));
  return *commands.back();
}

void add_fleet_verbs(Commands& commands, CLI::App& app, Arguments& arguments) {
  auto& init = add(commands, app, arguments, Verb::init, "init",
                   "write a small fleet into a new or empty folder");
  init.app().add_option("DIR", arguments.folder, "the folder")->required();
  init.with_host();
  add(commands, app, arguments, Verb::validate, "validate", "check a fleet for all its hosts")
      .with_all_hosts(true)
      .with_json();
  auto& render =
      add(commands, app, arguments, Verb::render, "render", "show or compile a host's manifest");
  render.with_fleet(true).with_json();
  render.app()
      .add_option("--output", arguments.output, "write a self-contained compiled manifest")
      ->type_name("FILE")
      ->check(kNotEmpty);
  auto& explain = add(commands, app, arguments, Verb::explain, "explain",
                      "say where a resource's fields come from");
  explain.with_fleet(true).with_json();
  explain.app().add_option("REFERENCE", arguments.reference, "Type[name]")->required();
  auto& affected = add(commands, app, arguments, Verb::affected, "affected",
                       "list the hosts that a change reaches");
  affected.with_all_hosts(true).with_json();
  auto* base = affected.app().add_option("--base", arguments.base, "the fleet before the change");
  base->type_name("DIR")->check(kNotEmpty);
  affected.app().add_option("FILE", arguments.files, "changed files of the fleet")->excludes(base);
  add(commands, app, arguments, Verb::schema, "schema", "print a JSON Schema of the documents");
}

void add_pass_verbs(Commands& commands, CLI::App& app, Arguments& arguments) {
  add(commands, app, arguments, Verb::observe, "observe",
      "look, record, and report drift; change nothing")
      .with_fleet(false)
      .with_manifest()
      .with_machine()
      .with_final()
      .with_report();
  add(commands, app, arguments, Verb::diff, "diff", "show how the machine differs; record nothing")
      .with_fleet(false)
      .with_manifest()
      .with_machine()
      .with_final()
      .with_report();
  auto& plan = add(commands, app, arguments, Verb::plan, "plan",
                   "show what reconcile would do; record nothing");
  plan.with_fleet(false).with_manifest().with_machine().with_removals().with_report();
  plan.app()
      .add_option("--out", arguments.plan_out, "save the plan for reconcile --plan")
      ->type_name("FILE")
      ->check(kNotEmpty);
  auto& reconcile =
      add(commands, app, arguments, Verb::reconcile, "reconcile", "one pass in the host's mode");
  reconcile.with_fleet(false).with_manifest().with_machine().with_removals().with_report();
  reconcile.with_mode();
  reconcile.app().add_flag("--retry", arguments.retry, "let quarantined actions run again");
  reconcile.app()
      .add_option("--plan", arguments.plan_in, "do exactly this saved plan")
      ->type_name("FILE")
      ->check(kNotEmpty);
}

void add_acknowledge(Command& command, Arguments& arguments) {
  auto& app = command.app();
  app.add_option("TARGET", arguments.target, "a path, family:name, or Type[name]")->required();
  auto* until = app.add_option("--until", arguments.until, "when it ends: 2h, 7d, or RFC 3339");
  until->type_name("TIME")->check(kNotEmpty);
  app.add_option("--reason", arguments.reason, "why, in words")
      ->type_name("WORDS")
      ->check(kNotEmpty);
  app.add_flag("--lift", arguments.lift, "end it now")->excludes(until);
}

void add_revert_verbs(Commands& commands, CLI::App& app, Arguments& arguments) {
  auto& revert = add(commands, app, arguments, Verb::revert, "revert",
                     "put back what a pass changed, in the host's mode");
  revert.with_machine().with_brake().with_report();
  revert.with_mode();
  revert.app()
      .add_option("PASS", arguments.pass, "the number of the pass")
      ->required()
      ->check(kDigits);
  auto& keep = add(commands, app, arguments, Verb::keep, "keep",
                   "only observe a target until something else is declared");
  keep.with_root("the tree the store acts on").with_state().with_json();
  keep.app().add_option("TARGET", arguments.target,
                        "a path, family:name, or Type[name] (default: list what is kept)");
  keep.app().add_flag("--lift", arguments.lift, "end it now");
}

void add_adopt(Commands& commands, CLI::App& top, Arguments& arguments) {
  auto& adopt = add(commands, top, arguments, Verb::adopt, "adopt",
                    "print documents for what is on the machine, or own orphans again");
  auto& app = adopt.with_root("look inside this tree").with_state().app();
  app.add_option("NAME", arguments.files, "an absolute path, or Type[name]");
  auto* print = app.add_flag("--print", arguments.print,
                             "print them, or write them with --into; change nothing");
  app.add_option("--into", arguments.into, "write them as a layer into this new folder")
      ->type_name("DIR")
      ->check(kNotEmpty);
  app.add_flag("--orphans", arguments.orphans, "all that a lost store owned and nothing declares")
      ->excludes(print);
  auto& remove = add(commands, top, arguments, Verb::remove, "remove",
                     "remove orphans of a lost store, in a pass in the host's mode");
  remove.with_machine().with_brake().with_report();
  remove.with_mode();
  remove.app().add_option("TARGET", arguments.files, "a path, family:name, or Type[name]");
  remove.app().add_flag("--orphans", arguments.orphans,
                        "all that a lost store owned and nothing declares");
}

void add_store_verbs(Commands& commands, CLI::App& app, Arguments& arguments) {
  const auto rooted = [&](Command& command) -> Command& {
    return command.with_root("the tree the store acts on").with_state();
  };
  rooted(
      add(commands, app, arguments, Verb::status, "status", "the host's condition, from its store"))
      .with_report();
  auto& owned = rooted(add(commands, app, arguments, Verb::owned, "owned",
                           "what Datum created or adopted, and what is there now"));
  owned.with_report();
  owned.app().add_flag("--orphans", arguments.orphans,
                       "what a lost store owned and nobody decided about");
  auto& history = rooted(add(commands, app, arguments, Verb::history, "history",
                             "everything recorded about one target, and what else "
                             "happened when it drifted"));
  history.with_json();
  history.app()
      .add_option("TARGET", arguments.target, "a path, family:name, or Type[name]")
      ->required();
  add_acknowledge(rooted(add(commands, app, arguments, Verb::acknowledge, "ack",
                             "say that a drift is known: who, why and until when"))
                      .with_json(),
                  arguments);
}

void add_export_verbs(Commands& commands, Arguments& arguments, CLI::App& journal) {
  auto& to_file = add(commands, journal, arguments, Verb::journal_export, "export",
                      "write records and plans into one self-checking file");
  to_file.with_journal().with_json();
  to_file.app().add_option("FILE", arguments.output, "the new file")->required()->check(kNotEmpty);
  to_file.app()
      .add_option("--from", arguments.from, "first sequence")
      ->type_name("SEQ")
      ->check(kDigits);
  to_file.app().add_option("--to", arguments.to, "last sequence")->type_name("SEQ")->check(kDigits);
  auto* redact = to_file.app().add_flag("--redact", arguments.redact,
                                        "leave out values, messages, output and names of people");
  to_file.app()
      .add_flag("--content", arguments.content, "with old content of files")
      ->excludes(redact);
  auto& from_file = add(commands, journal, arguments, Verb::journal_import, "import",
                        "make a store that is only read from an export");
  from_file.app().add_option("FILE", arguments.output, "the export")->required()->check(kNotEmpty);
  from_file.app()
      .add_option("--state", arguments.state, "the new store's folder")
      ->type_name("DIR")
      ->check(kNotEmpty)
      ->required();
  from_file.with_json();
}

void add_journal_verbs(Commands& commands, Arguments& arguments, CLI::App& journal) {
  auto& list = add(commands, journal, arguments, Verb::journal_list, "list", "records, one a line");
  list.with_journal().with_filter().with_json();
  list.app()
      .add_option("--pass", arguments.pass, "only this pass")
      ->type_name("N")
      ->check(kFromOne);
  list.app()
      .add_option("--target", arguments.target, "only about this target")
      ->type_name("TARGET");
  list.app()
      .add_option("--from", arguments.from, "first sequence")
      ->type_name("SEQ")
      ->check(kDigits);
  list.app()
      .add_option("--limit", arguments.limit, "the newest N of them")
      ->type_name("N")
      ->check(kFromOne);
  auto& show = add(commands, journal, arguments, Verb::journal_show, "show", "one record, whole");
  show.with_journal().with_json();
  show.app().add_option("SEQ", arguments.seq, "its sequence")->required()->check(kDigits);
  auto& tail = add(commands, journal, arguments, Verb::journal_tail, "tail", "the newest records");
  tail.with_journal().with_filter().with_json();
  tail.app().add_flag("-f,--follow", arguments.follow, "go on with every new one");
  tail.app()
      .add_option("-n,--lines", arguments.lines, "how many to begin with (default: 10)")
      ->type_name("N")
      ->check(kDigits);
  add(commands, journal, arguments, Verb::journal_verify, "verify",
      "check envelope, chain, indexes, checkpoint, archive, and that no blob is missing or damaged")
      .with_journal()
      .with_json();
  add_export_verbs(commands, arguments, journal);
}

void add_replay_verbs(Commands& commands, CLI::App& app, Arguments& arguments) {
  auto& replay = add(commands, app, arguments, Verb::replay, "replay",
                     "what the journal said at one of its records");
  replay.with_journal().with_report();
  replay.app()
      .add_option("PROJECTION", arguments.projection,
                  "lifecycle, owned, status, drift, passes or notifications")
      ->required();
  auto* at =
      replay.app().add_option("--at", arguments.at, "a record, or a time (default: the newest)");
  at->type_name("PLACE")->check(kNotEmpty);
  replay.app()
      .add_option("--as", arguments.as_mode, "how the last pass there would have gone in that mode")
      ->type_name("MODE")
      ->check(CLI::IsMember({"observe", "enforce"}));
  replay.app()
      .add_option("--diff", arguments.diff, "what differs between two places")
      ->type_name("A B")
      ->expected(2)
      ->check(kNotEmpty)
      ->excludes(at);
  auto& postmortem = add(commands, app, arguments, Verb::postmortem, "postmortem",
                         "what happened in a pass, and why");
  postmortem.with_journal().with_report();
  postmortem.app().add_option("PASS", arguments.pass_name, "its number, or last (default)");
  postmortem.app()
      .add_option("--html", arguments.html, "write it as one page")
      ->type_name("FILE")
      ->check(kNotEmpty);
}

void add_upkeep_verbs(Commands& commands, Arguments& arguments, CLI::App& journal) {
  auto& archive = add(commands, journal, arguments, Verb::journal_archive, "archive",
                      "move old records into files beside the journal");
  archive.with_machine().with_json();
  archive.app()
      .add_option("--through", arguments.through, "all records up to this one, due or not")
      ->type_name("SEQ")
      ->check(kDigits);
  add(commands, journal, arguments, Verb::journal_stat, "stat", "how large the store is")
      .with_machine()
      .with_json();
  add(commands, journal, arguments, Verb::journal_set_aside, "set-aside",
      "move a damaged store out of the way")
      .with_machine()
      .with_json();
}

void add_selftest_verbs(Commands& commands, Arguments& arguments, CLI::App& selftest) {
  auto& crash = add(commands, selftest, arguments, Verb::selftest_crash_recovery, "crash-recovery",
                    "end passes at every step, in a scratch folder, and check what is left");
  crash.app()
      .add_option("--rounds", arguments.rounds, "how many passes are ended (default: 150)")
      ->type_name("N")
      ->check(kDigits);
  crash.app()
      .add_option("--dir", arguments.folder, "make the scratch folder in this one")
      ->type_name("DIR")
      ->check(kNotEmpty);
  crash.app()
      .add_option_function<std::uint64_t>(
          "--seed", [&arguments](const std::uint64_t& seed) { arguments.seed = seed; },
          "repeat the run of this seed")
      ->type_name("S")
      ->check(kDigits);
  crash.with_json();
}

void add_host_verbs(Commands& commands, CLI::App& app, Arguments& arguments, CLI::App& config) {
  auto& hold = add(commands, app, arguments, Verb::hold, "hold",
                   "keep this machine as it is, for a while or until it is lifted");
  hold.with_machine().with_json();
  auto* duration = hold.app().add_option("--for", arguments.hold_for, "how long: 30m, 2h, 7d");
  duration->type_name("DURATION")->check(kNotEmpty);
  auto* reason = hold.app().add_option("--reason", arguments.reason, "why, in words");
  reason->type_name("WORDS")->check(kNotEmpty);
  auto* now = hold.app().add_flag("--now", arguments.hold_now,
                                  "a pass that runs begins no other action of its wave either");
  hold.app()
      .add_flag("--lift", arguments.lift, "end it now")
      ->excludes(duration)
      ->excludes(reason)
      ->excludes(now);
  auto& mode = add(commands, app, arguments, Verb::mode, "mode",
                   "set the mode in agent.yaml, after showing what it would do");
  mode.with_machine();
  mode.app()
      .add_option("MODE", arguments.mode_word, "observe or enforce")
      ->required()
      ->check(CLI::IsMember({"observe", "enforce"}));
  add(commands, config, arguments, Verb::config_check, "check",
      "each value of agent.yaml, and where it comes from")
      .with_machine()
      .with_json();
}

void add_mesh_verbs(Commands& commands, CLI::App& top, Arguments& arguments) {
  auto& enrol = add(commands, top, arguments, Verb::enrol, "enrol",
                    "make this machine a node of a control plane");
  auto& app = enrol.with_machine().app();
  auto* token =
      app.add_option("TOKEN", arguments.token, "what the control plane made")->check(kNotEmpty);
  app.add_option("--from-file", arguments.token_file, "read the token from there; - is the input")
      ->type_name("FILE")
      ->check(kNotEmpty)
      ->excludes(token);
  app.add_option("--control", arguments.controls,
                 "where the control plane is (default: control in agent.yaml)")
      ->type_name("ADDRESS")
      ->check(kNotEmpty)
      ->expected(1)
      ->take_all();
  app.add_option("--name", arguments.wanted_name, "the node's name (default: this machine's)")
      ->type_name("NAME")
      ->check(kNotEmpty);
  app.add_flag("--new-key", arguments.new_key, "with a key that it did not have before");
  app.add_flag("--once", arguments.once, "do not wait for a person's decision");
  auto& image = add(commands, top, arguments, Verb::prepare_image, "prepare-image",
                    "make this machine one to copy others from");
  image.with_machine().with_json();
  image.app().add_flag("--discard-journal", arguments.discard_journal,
                       "delete its history instead of setting it aside");
}

// A word that is no command, with the one that was perhaps meant; nothing to say if it is one.
std::string find_wrong_word(const CLI::App& app, const std::string& path, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  const std::string word = argv[1];
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() != word) {
      names.push_back(command->get_name());
      continue;
    }
    if (command->get_subcommands([](const CLI::App*) { return true; }).empty()) return {};
    return find_wrong_word(*command, path + " " + word, argc - 1, argv + 1);
  }
  const auto near = find_nearest(word, names);
  return path + ": there is no command \"" + text::escape(word) + "\"" +
         (near.empty() ? "" : "; did you mean " + near + "?") + "\n`" + path +
         " --help` lists the commands.\n";
}

}  // namespace

Parsed parse_arguments(int argc, char** argv) {
  Arguments arguments;
  Commands commands;
  CLI::App app("Datum keeps this machine in its declared state and can prove everything it did.",
               "datum");
  begin_table(app);
  app.formatter(std::make_shared<WholeHelp>());
  app.set_help_all_flag("--help-all", "help of every command");
  add_fleet_verbs(commands, app, arguments);
  add_pass_verbs(commands, app, arguments);
  auto& journal = *app.add_subcommand("journal", "read and keep the journal");
  journal.require_subcommand(1);
  add_store_verbs(commands, app, arguments);
  add_revert_verbs(commands, app, arguments);
  add_adopt(commands, app, arguments);
  add_journal_verbs(commands, arguments, journal);
  add_replay_verbs(commands, app, arguments);
  add_upkeep_verbs(commands, arguments, journal);
  auto& config = *app.add_subcommand("config", "read this machine's configuration");
  config.require_subcommand(1);
  add_host_verbs(commands, app, arguments, config);
  add_mesh_verbs(commands, app, arguments);
  auto& selftest = *app.add_subcommand("selftest", "check Datum on this machine and disk");
  selftest.require_subcommand(1);
  add_selftest_verbs(commands, arguments, selftest);
  app.footer("Exit: 0 converged, 2 drifted, 4 unknown, 1 refused or failed, 3 another pass runs.");
  if (const auto wrong = find_wrong_word(app, "datum", argc, argv); !wrong.empty()) {
    std::cerr << wrong;
    return {std::nullopt, 1};
  }
  if (const auto end = parse_words(app, argc, argv)) {
    std::cout << end->output;
    std::cerr << end->errors;
    return {std::nullopt, end->exit_code};
  }
  return {std::move(arguments), 0};
}

}  // namespace datum::program
