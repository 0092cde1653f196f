// A host as a node of a mesh: its identity, its link, the declarations that come over it, and what
// goes up: heartbeats and the journal. Whatever it says rests on what is durable. It runs no pass
// and accepts no declaration by itself: it tells the host that one waits.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "datum/engine/declaration_taker.hpp"
#include "datum/engine/identity.hpp"
#include "datum/engine/store.hpp"
#include "datum/link/link_notes.hpp"
#include "datum/link/node_link.hpp"
#include "datum/loop/network.hpp"

namespace datum::engine {

// A line for its host's log.
struct MeshWords {
  enum class Weight : std::uint8_t { notice, warning, error };
  Weight weight = Weight::notice;
  std::string text;
  std::string event, address;  // for whoever filters; mostly empty
};

// What it asks of its host, on the loop.
struct MeshHost {
  std::function<core::HostStatus()> status;
  std::function<core::Mode()> mode;
  std::function<void(const core::Command&)> record;  // if it can be
  std::function<void()> changed;                     // something for the host to look at
  std::function<void()> reconnected;  // after it was disconnected, or its hold was lifted
  std::function<void(const MeshWords&)> tell;
  // All of these may be empty. What is kept upstream: all up to there.
  std::function<void(Seq through)> kept;
  // While something depends on being heard upstream: the longest that it may wait between two
  // tries.
  std::function<std::int64_t()> most_wait;
  // The version that the host makes room for; empty: none.
  std::function<std::string()> upgrading;
  // Whether the accepted declaration was undone since, in words; empty: it is being undone.
  std::function<std::optional<std::string>()> reverted;
};

// What it stands on. All are borrowed but the network, and outlive it.
struct MeshGround {
  loop::Loop& loop;
  os::Files& files;
  Store& store;
  std::unique_ptr<loop::Network> network;
  std::string version;  // of this program
};

class MeshNode final : public link::NodeSide {
 public:
  // Null where the machine is no node. Blocks on the disk. `addresses`: of agent.yaml; none: those
  // that it was enrolled at.
  [[nodiscard]] static Result<std::unique_ptr<MeshNode>> open(
      MeshGround ground, MeshHost host, const std::vector<std::string>& addresses);
  ~MeshNode() override;

  // Begins to connect. Once.
  void start();
  [[nodiscard]] const NodeIdentity& identity() const { return *identity_; }
  [[nodiscard]] bool is_up() const { return link_.is_up(); }
  // For people: what the link is doing.
  [[nodiscard]] std::string words() const;

  // A pass ended, or something else is to be told before the next heartbeat.
  void report();
  // It finished for the accepted declaration.
  void applied(PassId pass);

  // It was undone, and that is durable: told now and with each link.
  void tell_reverted();

  // Upkeep of the store may not run beside blobs that come.
  [[nodiscard]] bool is_fetching() const { return declarations_.is_fetching(); }
  // An order comes before the pass that it may be about.
  [[nodiscard]] bool has_stored() const {
    return !is_quiet_ && !awaits_order_ && !is_obeying_ && declarations_.has_stored();
  }
  [[nodiscard]] loop::Task<Status> accept() { return declarations_.accept(); }

  // Nobody reads the journal or puts blobs until `go_on`: for whoever archives, or reopens it.
  [[nodiscard]] loop::Task<bool> be_quiet();
  void go_on();
  void say_goodbye(const std::string& why);

 private:
  MeshNode(MeshGround ground, MeshHost host, std::shared_ptr<const NodeIdentity> identity,
           crypto::PrivateKey key, std::vector<loop::Address> addresses);

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
  std::int64_t most_wait_ns() override { return host_.most_wait ? host_.most_wait() : 0; }

  void note(const std::vector<core::Command>& commands);
  void trouble(const std::string& words);
  void notice(std::string text) const;
  void warn(std::string text) const;
  void complain(std::string text) const;
  [[nodiscard]] std::optional<std::string> reverted() const;
  void arm_notes();
  void renew(const core::EnrolmentGrant& grant);
  void obey(const core::PushedOrder& pushed);
  [[nodiscard]] loop::Task<bool> obey_next();
  // Calls back once nothing of the journal is on its way to the disk; false: it cannot be read now.
  void when_settled(std::function<void(bool)> then);
  // Of the accepted declaration, if it is of this mesh: another one counts for itself.
  [[nodiscard]] core::Generation accepted_here() const;
  [[nodiscard]] core::Hello hello_of(const journal::Head& head) const;

  loop::Loop& loop_;
  os::Files& files_;
  Store& store_;
  const std::string version_;
  MeshHost host_;
  std::shared_ptr<const NodeIdentity> identity_;
  crypto::PrivateKey key_;
  std::vector<loop::Address> addresses_;
  std::unique_ptr<loop::Network> network_;
  std::unique_ptr<loop::Worker> reader_;
  link::NodeLink link_;
  DeclarationTaker declarations_;
  link::LinkNotes notes_;
  std::unique_ptr<loop::Timer> note_timer_, again_timer_;
  std::optional<core::PushedDeclaration> waiting_;  // came while nothing could be put
  std::deque<core::Signed> orders_;                 // not carried out yet, oldest first
  std::optional<loop::Task<bool>> obeying_;
  bool is_obeying_ = false;
  bool awaits_order_ = false;     // the welcome named one that has not come yet
  bool reconnect_waits_ = false;  // a pass for the link that is back, until it was carried out
  std::string told_problem_;
  int reads_ = 0;
  bool is_quiet_ = false;
  bool must_reconnect_ = false;  // what was pushed is asked for again with the next connection
  bool report_waits_ = false;
  std::function<void(bool)> when_read_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace datum::engine
