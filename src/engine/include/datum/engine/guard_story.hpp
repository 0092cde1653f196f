// What the journal says of a declaration that may have to be undone: which of its passes changed
// something, what has been undone of them and what could not be, and how that was told. Nothing
// that is told of an undoing rests on anything else. Pure but for the reading.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/history/events.hpp"

namespace datum::engine {

struct GuardStory {
  // Passes of the declaration that changed something and that no reverting pass undid to its end,
  // newest first; also such that died.
  std::vector<PassId> to_undo;
  bool is_begun = false;    // the service has begun to undo one of them
  PassId ended_by = 0;      // the last reverting pass of them that ended; 0: none did
  bool has_undone = false;  // something was put back, or was as before already
  // "File[x] (path /x): why", of each target that a reverting pass did not put back.
  std::vector<std::string> not_undone;
  std::string told;  // the record that ended it, in words; empty: there is none
  // The first pass that finished in enforce; 0: none did. Who knows of it upstream has heard.
  Seq finished_at = 0;
  bool linked_since = false;  // a link was made after that
  Seq changed_at = 0;         // the newest record of a change, or of one that may have been
  // Its time counts from here: the end of the first pass at which something was changed, or where
  // none has ended the start of the first that changed something.
  std::optional<WallNs> from;
  bool is_finished = false;  // it is that end
};

// Takes the records of a journal in their order.
class GuardReader {
 public:
  explicit GuardReader(core::DeclarationId id) : id_(std::move(id)) {}
  void take(const history::StoredEvent& stored);
  [[nodiscard]] GuardStory finish() &&;

 private:
  void note_change();
  void end_pass(bool is_finished);
  void not_undone(const model::Target& target, const model::Reference& reference,
                  const std::string& why);

  void tell(const core::PassStarted& event);
  void tell(const core::ActionsAnnounced& event);
  void tell(const core::ActionSucceeded& event);
  void tell(const core::ActionRecovered& event);
  void tell(const core::ActionFailed& event);
  void tell(const core::ActionBlocked& event);
  void tell(const core::ActionSkipped& event);
  void tell(const core::PassReverted& event);
  void tell(const core::PassFinished& event);
  void tell(const core::PassInterrupted& event);
  void tell(const core::LinkUp& event);
  void tell(const core::DeclarationRejected& event);
  template <class Other>
  void tell(const Other&) {}

  core::DeclarationId id_;
  GuardStory story_;
  core::EventPlace place_;
  struct Pass {
    PassId id = 0;
    WallNs began;
    PassId reverts = 0;
    Seq announced_at = 0;
    std::map<std::string, std::string> not_undone;  // by target
  };
  std::optional<Pass> pass_;                 // that runs, and concerns the declaration
  std::map<PassId, bool> changed_;           // passes that changed something; whether undone
  std::map<PassId, bool> passes_;            // of the declaration
  std::map<std::string, std::string> left_;  // by target, of all reverting passes that ended
};

// `since`: nothing of the declaration lies at it or below.
[[nodiscard]] Result<GuardStory> read_guard_story(journal::Reader& reader,
                                                  const core::DeclarationId& id, Seq since);

// What is told of it where it has ended: that it was reverted, or could not be, and what stays, by
// name. `lost`: passes of which nothing can be undone any more, in words.
[[nodiscard]] std::string describe_undoing(const GuardStory& story, std::int64_t within_ns,
                                           const std::vector<std::string>& lost);

}  // namespace datum::engine
