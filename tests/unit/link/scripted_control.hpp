// A control plane that follows a script, for tests of a node's end of the link: it welcomes, keeps
// what comes of the journal, answers heartbeats, and can be told to do worse.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "datum/link/connection.hpp"
#include "mesh.hpp"

namespace datum::test {

class ScriptedControl {
 public:
  ScriptedControl(loop::Loop& loop, loop::Network& network, const MeshScene& mesh)
      : loop_(loop), network_(network), mesh_(mesh) {}

  void listen(const loop::Address& address) {
    auto made = network_.listen(
        address, [this](std::unique_ptr<loop::Stream> stream) { accept(std::move(stream)); });
    REQUIRE(made);
    port = (*made)->port();
    listener_ = std::move(*made);
  }
  // Nobody answers any more, and open connections are gone without a word.
  void die() {
    listener_.reset();
    sessions_.clear();
    ended_.clear();
  }
  void send(const core::LinkMessage& message) {
    for (auto& session : sessions_)
      if (session.is_known) static_cast<void>(session.connection->send(message));
  }
  void close_all(core::LinkCause cause, std::int64_t not_before_ns = 0) {
    for (auto& session : sessions_) session.connection->close(cause, "the script", not_before_ns);
  }
  [[nodiscard]] std::size_t known_sessions() const {
    std::size_t count = 0;
    for (const auto& session : sessions_)
      if (session.is_known) ++count;
    return count;
  }

  std::uint16_t port = 0;
  core::Welcome welcome{core::kLinkVersion, "test", "prod", "web-1", {}, {}, 0, 10 * kNsPerSecond};
  Seq kept = 0;
  std::int64_t return_within_ns = 0;
  bool answers_heartbeats = true;
  bool takes_parts = true;
  std::vector<core::Hello> hellos;
  std::vector<core::LinkMessage> messages;  // all but hellos
  std::vector<std::int64_t> accepted_at_ns;
  std::size_t heartbeats = 0;
  // Instead of the usual answer where it returns true.
  std::function<bool(link::Connection&, const core::LinkMessage&)> script;

 private:
  struct Session {
    std::unique_ptr<link::Connection> connection;
    bool is_known = false;
  };

  void accept(std::unique_ptr<loop::Stream> stream) {
    accepted_at_ns.push_back(loop_.clock().boot_now().ns);
    sessions_.emplace_back();
    const auto session = std::prev(sessions_.end());
    session->connection =
        std::make_unique<link::Connection>(loop_, std::move(stream), mesh_.serving);
    session->connection->start(
        {[] {}, [this, session](const core::LinkMessage& message) { take(*session, message); },
         // Its goodbye may still be on the way: destroying it would cut that off.
         [this, session](const link::LinkEnd&) {
           session->is_known = false;
           ended_.splice(ended_.end(), sessions_, session);
         }});
  }

  void take(Session& session, const core::LinkMessage& message) {
    if (script && script(*session.connection, message)) return;
    auto& connection = *session.connection;
    if (const auto* hello = std::get_if<core::Hello>(&message)) {
      hellos.push_back(*hello);
      connection.let_in();
      session.is_known = true;
      welcome.journal_kept = kept;
      return static_cast<void>(connection.send(welcome));
    }
    messages.push_back(message);
    if (std::holds_alternative<core::Heartbeat>(message)) {
      ++heartbeats;
      if (answers_heartbeats)
        static_cast<void>(connection.send(core::JournalKept{kept, return_within_ns}));
    }
    const auto* part = std::get_if<core::JournalPart>(&message);
    if (part == nullptr || !takes_parts) return;
    if (part->first == kept + 1) kept += part->count;
    static_cast<void>(connection.send(core::JournalKept{kept, return_within_ns}));
  }

  loop::Loop& loop_;
  loop::Network& network_;
  const MeshScene& mesh_;
  std::unique_ptr<loop::Listener> listener_;
  std::list<Session> sessions_, ended_;
};

}  // namespace datum::test
