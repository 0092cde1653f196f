// The judge of a round. It knows what the tree held before and what was declared, keeps what the
// process said to be durable, walks the tree by itself, and reads the journal only to compare what
// it claims with that. Nothing of resource's or engine's looking is used. Each violation is a
// sentence for people; none means that all held.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/os/files.hpp"
#include "datum/selftest/scenario.hpp"

namespace datum::selftest {

using Violations = std::vector<std::string>;

// A record that the process said to be durable: the hash of its chain covers all before it.
struct Acknowledged {
  Seq seq = 0;
  Digest hash;
};

// What the journal claims about the round, by path below the root.
struct Claims {
  std::set<std::string> announced;
  // How often an action's effect was claimed: a success, or found by recovery to have happened.
  std::map<std::string, std::uint32_t> effects;
  std::map<std::string, std::uint32_t> removals;  // of ownership
  std::set<std::string> repeated;                 // announced again after its effect was claimed
  std::set<std::string> untellable;
  std::uint32_t passes_finished = 0;
  std::uint32_t heard = 0;       // notifications raised for the unit
  std::uint32_t deliveries = 0;  // of these, deliveries that were announced
  std::uint32_t delivered = 0;   // and that were told
  std::uint32_t doubtful = 0;    // of these, marked as perhaps repeated
  bool is_pending = false;       // one is, at the head
  bool has_leftovers = false;    // the journal still knows of temp files, at the head
  std::set<std::string> owned;   // at the head
  std::set<Digest> blobs;        // that the round's records name
  Seq head = 0;
};

// Before and after a round, as the self-test knows them.
struct Expected {
  Tree before;
  Tree after;
  std::set<std::string> strays;  // lay there before, and go
  // A step of this round failed instead of ending the process: its action may stay without a claim.
  bool has_failure = false;
  // How often the unit was reloaded in this round, by its own story.
  std::uint64_t reloads = 0;
};

// Everything below `root`. An entry that is neither file, folder nor link is `unsupported`.
[[nodiscard]] Result<Tree> read_tree(const std::string& root);

// Reads the journal of `store` without writing a byte: it opens, verifies, holds every one of
// `acknowledged`, and what it says from record `from` on. Violations are appended.
[[nodiscard]] Claims read_claims(const std::string& store, Seq from,
                                 const std::vector<Acknowledged>& acknowledged,
                                 Violations& violations);

// Right after the end of a process: every name holds all of the old or all of the new, what changed
// was announced, what is claimed is there.
[[nodiscard]] Violations judge_cut(const Expected& expected, const Tree& seen,
                                   const Claims& claims);
// After the pass that followed: exactly what is declared, nothing of Datum's beside it, each change
// claimed once and none repeated, each removal once, ownership as declared.
[[nodiscard]] Violations judge_end(const Expected& expected, const Tree& seen,
                                   const Claims& claims);

// Every blob that a claim rests on lies in the store.
[[nodiscard]] Violations find_missing_blobs(os::Files& files, const std::string& store,
                                            const Claims& claims);

// Looks for secrets where none may be. `mark` is in every secret; `old` are whole contents that the
// machine held before: only these, and only in a blob that its name says nothing of, may be kept.
// Files of blobs in `known` were looked at before and are passed over; new ones are added.
[[nodiscard]] Violations find_secrets(os::Files& files, const std::string& store,
                                      std::string_view mark, const std::set<std::string>& old,
                                      std::set<std::string>& known);
// The same for what a process printed.
[[nodiscard]] Violations find_secrets_in(std::string_view printed, std::string_view mark);

}  // namespace datum::selftest
