// The control plane's process of a simulated mesh: production control, codec, link and blobs over a
// simulated loop, network, disk and file system. It dies when it is destroyed; its site outlives
// it. The copies of the nodes' journals lie on the real disk, in a scratch folder.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datum/blobs/blob_store.hpp"
#include "datum/control/request_desk.hpp"
#include "datum/journal/sim_log.hpp"
#include "support/model_files.hpp"
#include "support/scratch_folder.hpp"
#include "support/sim_network.hpp"

namespace datum::simulation {

inline constexpr const char* kPlaneName = "control";
inline constexpr std::uint16_t kPlanePort = 7600;

struct PlaneSite {
  explicit PlaneSite(std::uint64_t seed);

  std::shared_ptr<journal::SimDisk> disk;
  support::ModelFiles files;  // its blobs
  support::ScratchFolder journals{"mesh"};
  std::optional<control::Keyring> keys;  // made at its first start
};

class Plane {
 public:
  // Begins at `now`, with randomness of its own. An error says why it does not start.
  Plane(PlaneSite& site, support::SimNetwork& network, BootNs now, std::uint64_t seed);
  ~Plane();
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  [[nodiscard]] support::SimLoop& loop() { return loop_; }
  [[nodiscard]] Status start();
  // As a command over its socket; `done` at once or later, or never if it dies.
  void ask(const control::LocalRequest& request, const control::Reply& done);
  [[nodiscard]] Result<Digest> put(ByteView content);

  [[nodiscard]] const control::State& state() const { return ledger_->state(); }
  [[nodiscard]] bool is_durable() const {
    return !ledger_->failure() && ledger_->durable() == state().seq;
  }
  [[nodiscard]] bool has_failed() const { return !ledger_ || ledger_->failure().has_value(); }
  [[nodiscard]] bool is_linked(const std::string& node) const { return links_->is_linked(node); }
  [[nodiscard]] const control::Keyring& keys() const { return *site_.keys; }

 private:
  [[nodiscard]] Status open();

  PlaneSite& site_;
  support::SimLoop loop_;
  std::unique_ptr<loop::Network> network_;
  std::unique_ptr<loop::Timer> look_;
  std::unique_ptr<blobs::BlobStore> blobs_;
  std::unique_ptr<control::Ledger> ledger_;
  std::optional<control::NodeJournals> journals_;
  std::optional<control::LinkServer> links_;
  std::optional<control::RequestDesk> desk_;
};

}  // namespace datum::simulation
