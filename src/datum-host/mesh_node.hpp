// The service as a node of a mesh: its identity, its link, the declarations that come over it, and
// what goes up: heartbeats and the journal. Whatever it says rests on what is durable. It runs no
// pass and accepts no declaration by itself: it tells the service that one waits.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datum/engine/declaration_taker.hpp"
#include "datum/engine/identity.hpp"
#include "datum/host/link_notes.hpp"
#include "datum/link/node_link.hpp"
#include "datum/program/session.hpp"
#include "log.hpp"

namespace datum::host {

// What it asks of the service, on the loop.
struct MeshHost {
  std::function<core::HostStatus()> status;
  std::function<core::Mode()> mode;
  std::function<void(const core::Command&)> record;  // if it can be
  std::function<void()> changed;                     // something for the service to look at
  std::function<void()> reconnected;                 // after it was disconnected
};

class MeshNode final : public link::NodeSide {
 public:
  // Null where the machine is no node. Blocks on the disk. `addresses`: of agent.yaml; none: those
  // that it was enrolled at. All are borrowed and outlive it.
  [[nodiscard]] static Result<std::unique_ptr<MeshNode>> open(
      program::Session& session, engine::Store& store, Log& log, MeshHost host,
      const std::vector<std::string>& addresses);
  ~MeshNode() override;

  // Begins to connect. Once.
  void start();
  [[nodiscard]] const engine::NodeIdentity& identity() const { return *identity_; }
  [[nodiscard]] bool is_up() const { return link_.is_up(); }
  // For people: what the link is doing.
  [[nodiscard]] std::string words() const;

  // A pass ended, or something else is to be told before the next heartbeat.
  void report();
  // It finished for the accepted declaration.
  void applied(PassId pass);

  // Upkeep of the store may not run beside blobs that come.
  [[nodiscard]] bool is_fetching() const { return declarations_.is_fetching(); }
  [[nodiscard]] bool has_stored() const { return !is_quiet_ && declarations_.has_stored(); }
  [[nodiscard]] loop::Task<Status> accept() { return declarations_.accept(); }

  // Nobody reads the journal or puts blobs until `go_on`: for whoever archives, or reopens it.
  [[nodiscard]] loop::Task<bool> be_quiet();
  void go_on();
  void say_goodbye(const std::string& why);

 private:
  MeshNode(program::Session& session, engine::Store& store, Log& log, MeshHost host,
           std::shared_ptr<const engine::NodeIdentity> identity, crypto::PrivateKey key,
           std::vector<loop::Address> addresses);

  void hello(std::function<void(core::Hello)> done) override;
  std::optional<core::Heartbeat> heartbeat() override;
  void read_journal(Seq from, std::function<void(Part)> done) override;
  void up(const std::string& address, const core::Welcome& welcome) override;
  void down(const std::string& why) override;
  void lost(const std::string& why) override;
  void goodbye(const core::Goodbye& goodbye) override;
  void received(core::LinkMessage message) override;
  void kept(Seq through) override;
  void drained() override {}

  void note(const std::vector<core::Command>& commands);
  void trouble(const std::string& words);
  void arm_notes();
  void renew(const core::EnrolmentGrant& grant);
  void obey(const core::PushedOrder& pushed);
  [[nodiscard]] loop::Task<bool> obey_next();
  // Calls back once nothing of the journal is on its way to the disk; false: it cannot be read now.
  void when_settled(std::function<void(bool)> then);
  [[nodiscard]] core::Hello hello_of(const journal::Head& head) const;

  program::Session& session_;
  engine::Store& store_;
  Log& log_;
  MeshHost host_;
  std::shared_ptr<const engine::NodeIdentity> identity_;
  crypto::PrivateKey key_;
  std::vector<loop::Address> addresses_;
  std::unique_ptr<loop::Network> network_;
  std::unique_ptr<loop::Worker> reader_;
  link::NodeLink link_;
  engine::DeclarationTaker declarations_;
  LinkNotes notes_;
  std::unique_ptr<loop::Timer> note_timer_, again_timer_;
  std::optional<core::PushedDeclaration> waiting_;  // came while nothing could be put
  std::deque<core::Signed> orders_;                 // not carried out yet, oldest first
  std::optional<loop::Task<bool>> obeying_;
  std::string told_problem_;
  int reads_ = 0;
  bool is_quiet_ = false;
  bool must_reconnect_ = false;  // what was pushed is asked for again with the next connection
  bool report_waits_ = false;
  std::function<void(bool)> when_read_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace datum::host
