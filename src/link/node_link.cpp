// One connection after the other: connect, greet, be up, end, wait.
#include "datum/link/node_link.hpp"

#include <algorithm>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/link/backoff.hpp"
#include "datum/link/connection.hpp"
#include "datum/link/journal_feed.hpp"

namespace datum::link {

struct NodeLink::Impl {
  Impl(loop::Loop& its_loop, loop::Network& its_network, NodeSide& its_side,
       std::function<std::uint64_t()> its_random)
      : loop(its_loop),
        network(its_network),
        side(its_side),
        random(std::move(its_random)),
        retry(its_loop.make_timer()),
        beat(its_loop.make_timer()),
        silence(its_loop.make_timer()),
        lost(its_loop.make_timer()),
        pace(its_loop.make_timer()),
        farewell(its_loop.make_timer()) {}

  // connecting
  void begin_round();
  void try_next();
  void failed(const std::string& why, std::int64_t not_before_ns);
  void wait(std::int64_t not_before_ns);
  void connected(std::unique_ptr<loop::Stream> stream);
  // talking
  void greet();
  void take(core::LinkMessage message);
  void welcomed(const core::Welcome& welcome);
  void ended(const LinkEnd& end);
  void drop(const std::string& why, std::int64_t not_before_ns);
  void heard();
  void send_heartbeat();
  void send_parts();
  void part_read(std::uint64_t of_connection, NodeSide::Part part);
  void watch_for_loss();
  [[nodiscard]] Status send(const core::LinkMessage& message);

  loop::Loop& loop;
  loop::Network& network;
  NodeSide& side;
  std::function<std::uint64_t()> random;
  std::unique_ptr<loop::Timer> retry, beat, silence, lost, pace, farewell;

  std::vector<loop::Address> addresses;
  std::optional<wire::TlsContext> context;  // none: stopped
  std::size_t trying = 0;                   // of addresses
  std::uint32_t failures = 0;               // rounds in a row, and connections that did not last
  std::string problem = "not begun";
  std::unique_ptr<loop::Connecting> connecting;
  std::unique_ptr<Connection> connection;
  std::unique_ptr<Connection> leaving;  // has said goodbye, and is given the time to be heard
  std::uint64_t connections = 0;        // so far: names the present one
  bool is_up = false;
  BootNs up_since;
  std::int64_t heartbeat_ns = kUsualHeartbeatNs;
  std::int64_t return_within_ns = 0;  // asked for by the last answer
  JournalFeed feed;
  bool is_reading = false;  // a part
  bool is_pausing = false;  // between two parts
};

void NodeLink::Impl::begin_round() {
  trying = 0;
  try_next();
}

void NodeLink::Impl::try_next() {
  connecting = network.connect(addresses[trying], kConnectWithinNs, [this](auto result) {
    if (result) return connected(std::move(*result));
    failed(result.error().message(), 0);
  });
}

// The next address at once, and after the last of them a while without any.
void NodeLink::Impl::failed(const std::string& why, std::int64_t not_before_ns) {
  problem = why;
  if (not_before_ns == 0 && ++trying < addresses.size()) return try_next();
  ++failures;
  wait(not_before_ns);
}

void NodeLink::Impl::wait(std::int64_t not_before_ns) {
  const Retry next{failures, return_within_ns, not_before_ns, side.most_wait_ns()};
  retry->start(wait_before_retry(next, random()), 0, [this] { begin_round(); });
}

void NodeLink::Impl::connected(std::unique_ptr<loop::Stream> stream) {
  const auto own = ++connections;
  connection = std::make_unique<Connection>(loop, std::move(stream), *context);
  const auto is_present = [this, own] { return own == connections; };
  connection->start({[this, is_present] {
                       if (is_present()) greet();
                     },
                     [this, is_present](core::LinkMessage message) {
                       if (is_present()) take(std::move(message));
                     },
                     [this, is_present](const LinkEnd& end) {
                       if (is_present()) ended(end);
                     },
                     [this, is_present] {
                       if (!is_present() || !is_up) return;
                       send_parts();
                       side.drained();
                     }});
}

void NodeLink::Impl::greet() {
  side.hello([this, own = connections](core::Hello hello) {
    // A connection that cannot take its first message tells so by its end.
    if (own == connections && connection) static_cast<void>(connection->send(std::move(hello)));
  });
}

void NodeLink::Impl::take(core::LinkMessage message) {
  heard();
  if (const auto* welcome = std::get_if<core::Welcome>(&message)) return welcomed(*welcome);
  if (std::holds_alternative<core::EnrolmentGrant>(message))
    return side.received(std::move(message));
  const auto kind = core::kind_of(message);
  const auto refuse = [this, kind](const char* why) {
    connection->close(core::LinkCause::protocol, std::string(core::to_string(kind)) + why);
  };
  if (!is_up) return refuse(" came before the welcome");
  switch (kind) {
    case core::LinkKind::journal_kept: {
      const auto& kept = std::get<core::JournalKept>(message);
      const auto through = kept.through;
      return_within_ns = std::max<std::int64_t>(kept.return_within_ns, 0);
      feed.kept(through);
      side.kept(through);
      return send_parts();
    }
    case core::LinkKind::declaration:
    case core::LinkKind::blob_part:
    case core::LinkKind::order:
      return side.received(std::move(message));
    default:
      return refuse(" is nothing that a control plane says to its node");
  }
}

void NodeLink::Impl::welcomed(const core::Welcome& welcome) {
  if (welcome.version == 0)
    return connection->close(core::LinkCause::version, "a welcome without a version");
  if (welcome.heartbeat_ns > 0)
    heartbeat_ns = std::clamp(welcome.heartbeat_ns, kLeastHeartbeatNs, kMostHeartbeatNs);
  connection->let_in();
  if (!std::exchange(is_up, true)) {
    up_since = loop.clock().boot_now();
    problem.clear();
    lost->stop();
    feed.begin(welcome.journal_kept);
    const auto of_connection = connections;
    side.up(connection->peer(), welcome);
    if (of_connection != connections || !is_up) return;  // it was stopped, or begun anew
  }
  heard();
  beat->start(heartbeat_ns, heartbeat_ns, [this] {
    feed.beat();
    send_heartbeat();
    send_parts();
  });
  send_heartbeat();
  send_parts();
}

// Whatever comes says that the other end is there.
void NodeLink::Impl::heard() {
  silence->start(kSilentHeartbeats * heartbeat_ns, 0, [this] {
    drop("nothing was heard for " + std::to_string(kSilentHeartbeats) +
             " heartbeats: the way broke without a word",
         0);
  });
}

void NodeLink::Impl::ended(const LinkEnd& end) {
  const auto copy = end;
  std::int64_t not_before_ns = 0;
  if (copy.by_peer) {
    not_before_ns = std::max<std::int64_t>(copy.goodbye.not_before_ns, 0);
    const auto cause = copy.goodbye.cause;
    if (cause == core::LinkCause::revoked || cause == core::LinkCause::retired ||
        cause == core::LinkCause::clone || cause == core::LinkCause::version)
      not_before_ns = std::max(not_before_ns, kDecidedBackoffNs);
    const auto of_connection = connections;
    side.goodbye(copy.goodbye);
    if (of_connection != connections || !connection) return;
  }
  auto why = connection->peer() + ": " + copy.why;
  if (copy.by_peer)
    why = connection->peer() + " ends it (" + std::string(core::to_string(copy.goodbye.cause)) +
          "): " + copy.why;
  drop(why, not_before_ns);
}

void NodeLink::Impl::drop(const std::string& why, std::int64_t not_before_ns) {
  connection.reset();
  beat->stop();
  silence->stop();
  pace->stop();
  is_pausing = is_reading = false;
  if (!std::exchange(is_up, false)) return failed(why, not_before_ns);
  problem = why;
  // One that lasted was no failure; what follows it is the first.
  if (loop.clock().boot_now().ns - up_since.ns >= kLastedNs) failures = 0;
  ++failures;
  wait(not_before_ns);
  watch_for_loss();
  side.down(why);
}

void NodeLink::Impl::watch_for_loss() {
  lost->start(kLostHeartbeats * heartbeat_ns, 0, [this] { side.lost(problem); });
}

Status NodeLink::Impl::send(const core::LinkMessage& message) {
  if (!is_up || !connection) return fail(ErrorCode::unavailable, "there is no link: " + problem);
  return connection->send(message);
}

void NodeLink::Impl::send_heartbeat() {
  if (!is_up) return;
  auto heartbeat = side.heartbeat();
  // Too much that waits already ends the connection by itself.
  if (heartbeat && is_up) static_cast<void>(connection->send(*heartbeat));
}

void NodeLink::Impl::send_parts() {
  if (!is_up || is_reading || is_pausing || !feed.may_send() || !connection->has_room()) return;
  is_reading = true;
  side.read_journal(feed.next(), [this, of_connection = connections](NodeSide::Part part) {
    part_read(of_connection, std::move(part));
  });
}

void NodeLink::Impl::part_read(std::uint64_t of_connection, NodeSide::Part part) {
  if (of_connection != connections || !std::exchange(is_reading, false) || !is_up) return;
  // An error of the disk is told by whoever owns it; the next heartbeat tries again.
  if (!part || !*part || (*part)->count == 0) return;
  const auto first = (*part)->first;
  if (first != feed.next()) return send_parts();  // what is kept has moved meanwhile
  const auto count = (*part)->count;
  if (!connection->send(std::move(**part))) return;
  feed.sent(first, count);
  is_pausing = true;
  pace->start(kPartEveryNs, 0, [this] {
    is_pausing = false;
    send_parts();
  });
}

NodeLink::NodeLink(loop::Loop& loop, loop::Network& network, NodeSide& side,
                   std::function<std::uint64_t()> random)
    : impl_(std::make_unique<Impl>(loop, network, side, std::move(random))) {}
NodeLink::~NodeLink() = default;

void NodeLink::start(std::vector<loop::Address> addresses, wire::TlsContext context) {
  DATUM_ASSERT(!addresses.empty());
  stop(core::LinkCause::stopping, "begins anew");
  auto& impl = *impl_;
  impl.addresses = std::move(addresses);
  impl.context.emplace(std::move(context));
  impl.failures = 0;
  impl.problem = "connects to " + loop::to_string(impl.addresses.front());
  impl.watch_for_loss();
  impl.retry->start(0, 0, [&impl] { impl.begin_round(); });
}

void NodeLink::stop(core::LinkCause cause, const std::string& why) {
  auto& impl = *impl_;
  for (auto* timer : {&impl.retry, &impl.beat, &impl.silence, &impl.lost, &impl.pace})
    (*timer)->stop();
  impl.connecting.reset();
  constexpr std::int64_t kFarewellNs = kNsPerSecond;
  if (impl.connection && impl.is_up) {
    impl.connection->close(cause, why);
    impl.leaving = std::move(impl.connection);
    impl.farewell->start(kFarewellNs, 0, [&impl] { impl.leaving.reset(); });
  }
  impl.connection.reset();
  ++impl.connections;
  impl.is_up = impl.is_reading = impl.is_pausing = false;
  impl.context.reset();
  impl.problem = why;
}

bool NodeLink::is_up() const {
  return impl_->is_up;
}
bool NodeLink::is_started() const {
  return impl_->context.has_value();
}
const std::string& NodeLink::problem() const {
  return impl_->problem;
}
Seq NodeLink::kept() const {
  return impl_->feed.kept();
}
std::int64_t NodeLink::heartbeat_ns() const {
  return impl_->heartbeat_ns;
}
Status NodeLink::send(const core::LinkMessage& message) {
  return impl_->send(message);
}
void NodeLink::set_reading(bool reading) {
  if (impl_->connection) impl_->connection->set_reading(reading);
}
void NodeLink::report() {
  impl_->send_heartbeat();
}
void NodeLink::journal_grew() {
  impl_->send_parts();
}

}  // namespace datum::link
