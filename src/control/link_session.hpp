// One connection of a node, or of a machine that wants to be one: what it may say at which point,
// and what follows. Private to the module; owned by the server.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "datum/base/content.hpp"
#include "datum/control/link_server.hpp"

namespace datum::control {

// A blob on its way to a node.
struct BlobSending {
  Digest blob;
  std::unique_ptr<ByteSource> bytes;
  std::uint64_t offset = 0, size = 0;
};
// The next piece of one, read on the pool: owns what it touches.
struct BlobJob {
  void run();
  [[nodiscard]] Status begin();

  const ContentSource* content = nullptr;
  Digest manifest;         // of the node's newest declaration
  std::set<Digest> named;  // by it; empty: not read yet
  Digest blob;             // to begin with, where nothing is on its way
  std::optional<BlobSending> sending;
  core::BlobPart part;  // what came of it
  std::string problem;  // why the blob is not there; empty: it is
};

class LinkSession : public std::enable_shared_from_this<LinkSession> {
 public:
  LinkSession(LinkServer& server, std::uint64_t id, std::unique_ptr<loop::Stream> stream);

  void start();
  void send_newest();
  void send_order();
  void close(core::LinkCause cause, std::string why, std::int64_t not_before_ns = 0);
  [[nodiscard]] const std::string& peer() const { return connection_->peer(); }
  // Whose turn it was to speak, since when; nothing: this end's.
  [[nodiscard]] std::optional<BootNs> silent_since() const;
  [[nodiscard]] const Id128& boot() const { return boot_; }
  // When the node said anything last.
  [[nodiscard]] BootNs spoke_at() const { return spoke_at_; }

 private:
  // What is taken next.
  enum class Stage : std::uint8_t {
    handshake,
    enrolment,  // showed nothing: its request
    answered,   // got the answer; nothing more
    greeting,   // showed a certificate: its hello
    linked,
    over,
  };
  void established();
  void take(core::LinkMessage message);
  void take_request(core::EnrolmentRequest request);
  void answer_request(const core::EnrolmentRequest& request, const EnrolmentDecision& decision,
                      const Id128& serial);
  void take_hello(core::Hello hello);
  // Closed, where another machine is this node, or may be.
  [[nodiscard]] bool is_alone(const Id128& boot);
  // Closed, where the node has what a restored control plane does not know.
  [[nodiscard]] bool is_known(const core::Generation& accepted);
  void welcome(const core::Hello& hello, const journal::Head& kept);
  // Of a certificate that is over, or nearly: the next one.
  [[nodiscard]] std::string why_not_renewed(const Node& node) const;
  void renew(std::function<void()> after);
  void take_linked(core::LinkMessage message);
  [[nodiscard]] bool may_record();
  void take_part(core::JournalPart part);
  void tell_kept();
  void take_wanted(core::BlobRequest wanted);
  void send_blobs();
  void send_read(BlobJob& job);
  void out_of_turn(const core::LinkMessage& message);
  void send(const core::LinkMessage& message);
  void watch_silence();
  void ended(const link::LinkEnd& end);
  // `then` once all that was queued is durable, if this is still there; a failure ends it.
  void when_durable(std::function<void()> then);
  [[nodiscard]] WallNs now() const { return server_.loop_.clock().wall_now(); }
  [[nodiscard]] crypto::Validity new_validity() const;
  [[nodiscard]] core::EnrolmentGrant make_grant(const Node& node, const crypto::PublicKey& key,
                                                const Id128& serial) const;

  LinkServer& server_;
  const std::uint64_t id_;
  std::unique_ptr<link::Connection> connection_;
  std::unique_ptr<loop::Timer> silence_;
  Stage stage_ = Stage::handshake;
  std::string node_;
  crypto::PublicKey key_;
  bool is_expired_ = false;
  Id128 store_, boot_;
  BootNs spoke_at_;
  core::Generation sent_;      // the newest declaration that went out
  Digest manifest_;            // of it
  std::set<Digest> named_;     // by that manifest, once it was read
  std::uint64_t ordered_ = 0;  // number of the newest order that went out
  int beats_ = 0;              // heartbeats since
  Seq kept_ = 0;               // of the node's journal
  int parts_ = 0;              // of it that are being kept
  static constexpr int kMaxParts = 8;
  static constexpr int kMaxRecords = 20;  // of its status, at once
  int records_left_ = kMaxRecords;
  WallNs refilled_;
  std::deque<Digest> wanted_;
  std::optional<BlobSending> sending_;
  bool is_reading_ = false;
};

}  // namespace datum::control
