// One pass as its journal tells it: who began it and why, what was planned, how each action went,
// where and how it was cut off, what was durable then, what recovery found, and which failure
// explains the rest. Values only; the reports over it are in postmortem.hpp. Read-only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datum/base/content.hpp"
#include "datum/core/state.hpp"
#include "datum/history/events.hpp"

namespace datum::inspect {

// One action. A place with sequence 0 means that no record says so.
struct ActionStory {
  std::uint32_t ordinal = 0;
  // Of what was not announced, only the plan tells it; of what was not begun, the target too.
  std::optional<core::ActionKind> kind;
  model::Target target;
  model::Reference reference;
  core::Found before = core::Found::unseen;
  std::vector<core::FieldDrift> changes;  // of the plan
  std::vector<std::uint32_t> after;       // ordinals it had to wait for
  bool privileged = false;
  bool observe_only = false;
  std::uint32_t wave = 0;  // 0: never announced
  core::EventPlace announced;
  core::EventPlace ended;
  core::Phase phase = core::Phase::waiting;
  std::int64_t duration_ns = 0;
  std::string message;  // why it failed, is blocked, was skipped or not begun
  std::string output;   // of a tool
  Seq same_as = 0;      // the record that told the same failure first
  core::Condition condition = core::Condition::converged;  // after a success
  bool atomic = true;
  Digest old_content;    // kept, by this digest
  std::string not_kept;  // why it was not
  std::vector<model::Reference> blocked_by;
  std::optional<core::RecoveredOutcome> recovered;
  core::EventPlace recovered_at;
  bool leftover = false;     // a file of the dead action still lay beside the target
  std::uint32_t deaths = 0;  // quarantined after so many
  // Ordinals from this one to the first cause, its own left out; empty where it is its own.
  std::vector<std::uint32_t> chain;
  std::string documents;  // "layers/web/motd.yaml:3", several where layers add to each other

  // Only what acts has records as an action, so one whose kind is not known acts.
  [[nodiscard]] bool acts() const { return (!kind || core::is_mutating(*kind)) && !observe_only; }
};

struct NotificationStory {
  model::Target unit;
  model::Reference service;
  bool restart = false;
  std::vector<model::Reference> by;
  core::EventPlace raised, started, ended;
  std::string end = "pending";  // delivered, failed, dropped
  std::string message;
  bool repeated = false;
};

// How a pass was cut off, in the order of the records.
struct Interruption {
  core::EventPlace last;      // the last record before the break
  std::string last_kind;      // its event
  std::size_t open = 0;       // actions that were announced and had no end then
  core::EventPlace reopened;  // the store was opened again; 0: the same process ended the pass
  core::LastEnd last_end = core::LastEnd::clean;  // what it said of the run before
  core::EventPlace recorded;                      // the interruption; 0: nobody recorded it yet
  core::Interruption cause = core::Interruption::crash;
  std::string detail;
  PassId followed_by = 0;  // the next pass, if there is one
};

struct PassStory {
  PassId pass = 0;
  std::string host, root;
  Id128 store;
  Seq head = 0;  // of the journal
  core::PassStarted started;
  core::EventPlace began;
  core::EventPlace last;  // its last record
  Digest plan;            // zero: it was empty
  // Why its body could not be read; then `actions` has those that a record names.
  std::string plan_missing;
  std::optional<core::PlanCounts> planned;  // nothing: neither its body nor a record tells
  core::Counts seen;                        // resources as they were before anything was done
  std::vector<ActionStory> actions;         // of the plan, by ordinal; no ordinal twice
  std::vector<NotificationStory> notifications;
  std::map<std::string, std::uint32_t> ownership;  // "created" → how many; also what it kept
  PassId undone_by = 0;                            // the pass that undid it; 0: none did
  std::optional<core::PassFinished> finished;
  std::optional<Interruption> interruption;
  // The action whose end explains the others that did not happen; nothing where none failed.
  std::optional<std::uint32_t> first_failure;
  std::string documents_missing;  // why no document lines are told

  [[nodiscard]] std::size_t count(core::Phase phase) const;
  [[nodiscard]] const ActionStory* find(std::uint32_t ordinal) const;
  // What the plan was to change, what is only observed included. Nothing where that is not known.
  [[nodiscard]] std::optional<std::size_t> changes() const;
  // Of these, how many are not among `actions`: the plan's body would name them. They were not
  // begun, since what is begun is announced before.
  [[nodiscard]] std::optional<std::size_t> untold() const;
};

// `pass` 0: the last one that began. `not_found`: no such pass, or its beginning is archived.
[[nodiscard]] Result<PassStory> tell_pass(journal::Reader& reader, const ContentSource& content,
                                          PassId pass);

}  // namespace datum::inspect
