// A node of a mesh: production core, history, engine, resource, blobs and link over a modelled
// machine, on any loop and over any network. The shell around them is the service's without its
// unit: it opens the store, enrols with the token that lies there, accepts what was pushed and runs
// a pass at each beat. A process of a simulated mesh is one on a loop of its own; it dies when it
// is destroyed, and its site outlives it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/engine/enrolment.hpp"
#include "datum/engine/mesh_node.hpp"
#include "sim_life.hpp"
#include "support/sim_network.hpp"

namespace datum::simulation {

// A node's machine between two lives.
struct NodeSite : Site {
  NodeSite(std::string its_name, std::uint64_t its_seed)
      : Site(its_seed), name(std::move(its_name)) {}

  std::string name;
  core::Mode mode = core::Mode::enforce;  // of its agent.yaml
  bool held = false;                      // /etc/datum/hold
  std::string token;                      // for `datum enrol`; empty: nobody has given one
};

// Where a node runs, and whom it speaks to.
struct NodeGround {
  loop::Loop& loop;
  std::function<std::unique_ptr<loop::Network>()> make_network;
  std::string control;  // address of the control plane
  std::int64_t beat_ns = 300 * kNsPerSecond;
};

class NodeShell {
 public:
  // What is told while it lives.
  struct Watch {
    std::function<void(support::Call, std::string_view)> on_call;
    std::function<void(const model::Manifest&, const engine::PassReport&)> on_pass;
    std::function<void(const std::string&)> on_failed_pass;
    std::function<void(const core::DeclarationId&)> on_accepted;
  };
  NodeShell(NodeSite& site, NodeGround ground, Watch watch);
  // As a death, if the loop does nothing any more: what the process takes with it, and what its end
  // leaves on the machine.
  ~NodeShell();
  NodeShell(const NodeShell&) = delete;
  NodeShell& operator=(const NodeShell&) = delete;

  [[nodiscard]] Status start();
  // Nothing can be recorded any more, or what ran ended: whoever looks after it starts it again.
  [[nodiscard]] bool has_failed() const;
  [[nodiscard]] bool has_store() const { return store_.history != nullptr; }
  [[nodiscard]] const core::State& state() const { return store_.history->state(); }
  [[nodiscard]] history::History& history() const { return *store_.history; }
  [[nodiscard]] bool is_durable() const {
    return history().healthy() && history().durable() == state().seq;
  }
  [[nodiscard]] bool is_linked() const { return mesh_ && mesh_->is_up(); }
  [[nodiscard]] bool is_fetching() const { return mesh_ && mesh_->is_fetching(); }
  [[nodiscard]] std::string words() const { return mesh_ ? mesh_->words() : "no node"; }
  // The pass that runs may change the machine as far as the host goes.
  [[nodiscard]] bool is_passing() const { return conductor_ != nullptr; }
  [[nodiscard]] core::HostStatus status();
  // What decides its mode at this moment.
  [[nodiscard]] core::ModeTerms terms();
  // agent.yaml, the hold file or the token changed: looked at with the next pass, which is now.
  void look_again();

 private:
  [[nodiscard]] Status open();
  [[nodiscard]] engine::MeshHost mesh_host();
  void begin_mesh();
  void wake();
  [[nodiscard]] loop::Wait<bool> wait_for_work();
  [[nodiscard]] loop::Task<bool> live();
  [[nodiscard]] loop::Task<bool> enrol();
  [[nodiscard]] loop::Task<bool> pass(core::Trigger trigger);
  [[nodiscard]] loop::Task<Status> wait_durable();
  [[nodiscard]] engine::PassRequest make_request(const engine::AcceptedDeclaration& declared,
                                                 core::Trigger trigger);
  void record(const core::Command& command);

  NodeSite& site_;
  const NodeGround ground_;
  loop::Loop& loop_;
  Watch watch_;
  os::Handle root_;
  std::unique_ptr<os::Accounts> accounts_;
  engine::Store store_;
  std::unique_ptr<loop::Network> enrolling_over_;
  std::unique_ptr<engine::MeshNode> mesh_;
  std::unique_ptr<engine::Conductor> conductor_;
  std::unique_ptr<loop::Timer> beat_, enrol_again_;
  std::optional<loop::Task<bool>> task_;
  std::function<void(bool)> wake_;
  std::optional<core::Trigger> due_;
  bool accept_due_ = false;
  bool enrol_due_ = true;
  bool has_asked_ = false;
};

// Its loop begins before it and ends after it.
struct NodeLoop {
  NodeLoop(NodeSite& site, BootNs now);
  support::SimLoop own_loop;
};

class NodeProcess : NodeLoop, public NodeShell {
 public:
  NodeProcess(NodeSite& site, support::SimNetwork& network, BootNs now, Watch watch);
  ~NodeProcess();
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  [[nodiscard]] support::SimLoop& loop() { return own_loop; }
};

}  // namespace datum::simulation
