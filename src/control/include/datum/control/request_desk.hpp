// Answers what commands ask of the running control plane: reads the State, or decides, records, and
// says so once that is durable. Who asks is known by the socket. Loop thread only.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "datum/blobs/blob_store.hpp"
#include "datum/control/ledger.hpp"
#include "datum/control/link_server.hpp"
#include "datum/control/local_request.hpp"
#include "datum/control/node_journals.hpp"
#include "datum/control/report.hpp"

namespace datum::control {

struct Answer {
  std::string output, errors;
  int exit_code = 0;
};
// Done, and what was asked about is not as it should be: a script may branch on it.
inline constexpr int kUnmetExit = 2;
// What a push says beside manifests.
struct PushTerms {
  std::uint32_t allowed_removals = 0;
  std::int64_t revert_unless_linked_ns = 0;
};
using Reply = std::function<void(Answer)>;

class RequestDesk {
 public:
  // All are borrowed.
  RequestDesk(loop::Loop& loop, Ledger& ledger, LinkServer& links, const NodeJournals& journals,
              const Keyring& keys, blobs::BlobStore& blobs, LinkSettings settings);
  // A report that is being read ends; nobody is answered any more.
  ~RequestDesk();
  RequestDesk(const RequestDesk&) = delete;
  RequestDesk& operator=(const RequestDesk&) = delete;

  // `by` is the caller. `reply` is called once, at once or later. What a push names was put into
  // the blobs, and is durable.
  void answer(const LocalRequest& request, const core::Actor& by, const Reply& reply);
  // What metrics_report says now.
  [[nodiscard]] std::string metrics() const { return metrics_report(view_of({})); }
  // Whether a push in stages goes on; to be called every few seconds.
  void tick();

 private:
  [[nodiscard]] View view_of(const LocalRequest& request) const;
  void show_node(const LocalRequest& request, const Reply& reply);
  void create_token(const LocalRequest& request, const core::Actor& by, const Reply& reply);
  void end_node(const LocalRequest& request, const core::Actor& by, const Reply& reply);
  void push(const LocalRequest& request, const core::Actor& by, const Reply& reply);
  [[nodiscard]] Result<Events> make_push(const LocalRequest& request, const core::Actor& by) const;
  [[nodiscard]] core::control::DeclarationReleased release(const core::control::PushBegun& begun,
                                                           const PushedManifest& pushed,
                                                           const PushTerms& terms) const;
  void order(const LocalRequest& request, const core::Actor& by, const Reply& reply);
  [[nodiscard]] Result<Events> make_order(const LocalRequest& request, const core::Actor& by) const;
  void show_silent(const LocalRequest& request, const Reply& reply);
  void show_drift(const LocalRequest& request, const Reply& reply);
  void show_orders(const LocalRequest& request, const Reply& reply);
  void steer_push(const LocalRequest& request, const core::Actor& by, const Reply& reply);
  // The events of the stage, and whom it releases to.
  [[nodiscard]] Events begin_stage(std::uint32_t stage, std::vector<std::string>& nodes) const;
  // Records, and replies `done()` after that is durable.
  void record(const Result<Events>& events, const Reply& reply, std::function<Answer()> done);

  loop::Loop& loop_;
  Ledger& ledger_;
  LinkServer& links_;
  const NodeJournals& journals_;
  const Keyring& keys_;
  blobs::BlobStore& blobs_;
  const LinkSettings settings_;
  const WallNs began_;
  bool is_reading_drift_ = false;
  // Of a job on the pool, which may outlive this.
  std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace datum::control
