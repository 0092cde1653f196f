#include "support/sim_network.hpp"

#include <algorithm>
#include <array>

#include "datum/base/assert.hpp"

namespace datum::support {

// One side of a connection.
struct SimNetwork::End {
  std::string machine;
  std::string peer;                            // as text
  bool alive = true;                           // its stream is there
  std::shared_ptr<loop::StreamEvents> events;  // once it was started
  bool reading = true;
  Bytes out;  // sent, and not with the peer yet
  bool sending_over = false;
  bool told_end = false;
  bool peer_saw_end = false;
  std::unique_ptr<loop::Timer> timer;  // of the bytes in `out`
};

struct SimNetwork::Connection {
  std::array<End, 2> ends;
  bool broken = false;
};

class SimNetwork::SimStream final : public loop::Stream {
 public:
  SimStream(SimNetwork& network, std::shared_ptr<Connection> connection, int side)
      : network_(network), connection_(std::move(connection)), side_(side) {}
  ~SimStream() override {
    auto& own = end_of();
    own.alive = false;
    own.events.reset();
    own.out.clear();
    network_.kick(connection_);
  }
  void start(loop::StreamEvents events) override {
    DATUM_ASSERT(!end_of().events);
    end_of().events = std::make_shared<loop::StreamEvents>(std::move(events));
    network_.kick(connection_);
  }
  Status send(Bytes bytes) override {
    auto& own = end_of();
    if (own.sending_over || connection_->broken)
      return fail(ErrorCode::unavailable, own.peer + ": the connection has ended");
    if (own.out.size() + bytes.size() > loop::kMaxUnsent)
      return fail(ErrorCode::limit_exceeded, own.peer + " takes nothing");
    own.out.insert(own.out.end(), bytes.begin(), bytes.end());
    network_.kick(connection_);
    return {};
  }
  [[nodiscard]] std::size_t unsent() const override {
    return connection_->ends[static_cast<std::size_t>(side_)].out.size();
  }
  void set_reading(bool reading) override {
    end_of().reading = reading;
    network_.kick(connection_);
  }
  void end() override {
    end_of().sending_over = true;
    network_.kick(connection_);
  }
  [[nodiscard]] const std::string& peer() const override {
    return connection_->ends[static_cast<std::size_t>(side_)].peer;
  }

 private:
  End& end_of() { return connection_->ends[static_cast<std::size_t>(side_)]; }

  SimNetwork& network_;
  std::shared_ptr<Connection> connection_;
  int side_;
};

class SimNetwork::SimListener final : public loop::Listener {
 public:
  SimListener(SimNetwork& network, Place place,
              std::function<void(std::unique_ptr<loop::Stream>)> on_accept)
      : network_(network), place_(std::move(place)), on_accept_(std::move(on_accept)) {
    network_.listeners_[place_] = this;
  }
  ~SimListener() override { network_.listeners_.erase(place_); }
  [[nodiscard]] std::uint16_t port() const override { return place_.second; }
  void accept(std::unique_ptr<loop::Stream> stream) { on_accept_(std::move(stream)); }

 private:
  SimNetwork& network_;
  Place place_;
  std::function<void(std::unique_ptr<loop::Stream>)> on_accept_;
};

class SimNetwork::SimConnecting final : public loop::Connecting {
 public:
  using Done = std::function<void(Result<std::unique_ptr<loop::Stream>>)>;
  SimConnecting(SimNetwork& network, std::string from, loop::Address to, Done done)
      : from_(std::move(from)),
        to_(std::move(to)),
        self_(std::make_shared<SimConnecting*>(this)),
        done_(std::move(done)),
        arrival_(network.loop_.make_timer()),
        limit_(network.loop_.make_timer()) {}
  ~SimConnecting() override = default;
  void finish(Result<std::unique_ptr<loop::Stream>> result) {
    arrival_->stop();
    limit_->stop();
    self_.reset();
    if (const auto call = std::exchange(done_, nullptr)) call(std::move(result));
  }

  std::string from_;
  loop::Address to_;
  std::shared_ptr<SimConnecting*> self_;
  Done done_;
  std::unique_ptr<loop::Timer> arrival_, limit_;
};

class SimNetwork::Machine final : public loop::Network {
 public:
  Machine(SimNetwork& network, std::string name) : network_(network), name_(std::move(name)) {}

  Result<std::unique_ptr<loop::Listener>> listen(
      const loop::Address& address,
      std::function<void(std::unique_ptr<loop::Stream>)> on_accept) override {
    if (address.host != name_ && address.host != "::")
      return fail(ErrorCode::not_found, address.host + " is no address of " + name_);
    const Place place{name_, address.port != 0 ? address.port : network_.next_port_++};
    if (network_.listeners_.contains(place))
      return fail(ErrorCode::busy, "somebody listens on " + loop::to_string(address));
    return std::unique_ptr<loop::Listener>(
        std::make_unique<SimListener>(network_, place, std::move(on_accept)));
  }
  std::unique_ptr<loop::Connecting> connect(const loop::Address& address, std::int64_t timeout_ns,
                                            SimConnecting::Done done) override {
    DATUM_ASSERT(timeout_ns > 0);
    auto attempt = std::make_unique<SimConnecting>(network_, name_, address, std::move(done));
    auto* raw = attempt.get();
    network_.waiting_.push_back(attempt->self_);
    attempt->arrival_->start(network_.random_delay(), 0,
                             [network = &network_, raw] { network->arrive(raw->self_); });
    attempt->limit_->start(timeout_ns, 0, [raw] {
      raw->finish(fail(ErrorCode::timed_out, loop::to_string(raw->to_) + ": no answer in time"));
    });
    return attempt;
  }

 private:
  SimNetwork& network_;
  std::string name_;
};

SimNetwork::SimNetwork(SimLoop& loop, std::uint64_t seed) : loop_(loop), random_(seed) {}
SimNetwork::~SimNetwork() = default;

std::unique_ptr<loop::Network> SimNetwork::machine(const std::string& name) {
  return std::make_unique<Machine>(*this, name);
}

bool SimNetwork::is_held(const std::string& one, const std::string& other) const {
  return held_.contains(std::minmax(one, other));
}

std::int64_t SimNetwork::random_delay() {
  constexpr std::int64_t kMostNs = 5 * kNsPerMs;
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(kMostNs));
}

void SimNetwork::arrive(const std::shared_ptr<SimConnecting*>& attempt) {
  if (!attempt) return;
  auto& asking = **attempt;
  if (is_held(asking.from_, asking.to_.host)) return;  // until let_pass, or the limit
  const auto listener = listeners_.find({asking.to_.host, asking.to_.port});
  const bool is_known = std::any_of(listeners_.begin(), listeners_.end(), [&](const auto& each) {
    return each.first.first == asking.to_.host;
  });
  if (!is_known)
    return asking.finish(fail(ErrorCode::not_found, "nobody knows " + asking.to_.host));
  if (listener == listeners_.end())
    return asking.finish(
        fail(ErrorCode::unavailable, loop::to_string(asking.to_) + ": connection refused"));
  auto connection = std::make_shared<Connection>();
  connection->ends[0].machine = asking.from_;
  connection->ends[0].peer = loop::to_string(asking.to_);
  connection->ends[1].machine = asking.to_.host;
  connection->ends[1].peer = asking.from_ + ":" + std::to_string(next_port_++);
  for (auto& end : connection->ends) end.timer = loop_.make_timer();
  connections_.push_back(connection);
  listener->second->accept(std::make_unique<SimStream>(*this, connection, 1));
  asking.finish(std::unique_ptr<loop::Stream>(std::make_unique<SimStream>(*this, connection, 0)));
}

// Both directions look at what there is to do, a while from now.
void SimNetwork::kick(const std::shared_ptr<Connection>& connection) {
  for (const int from : {0, 1}) {
    const std::weak_ptr<Connection> weak = connection;
    connection->ends[static_cast<std::size_t>(from)].timer->start(
        random_delay(), 0, [this, weak, from] {
          if (const auto still = weak.lock()) deliver(still, from);
        });
  }
}

void SimNetwork::deliver(const std::shared_ptr<Connection>& connection, int from) {
  auto& sender = connection->ends[static_cast<std::size_t>(from)];
  auto& receiver = connection->ends[static_cast<std::size_t>(1 - from)];
  if (connection->broken || is_held(sender.machine, receiver.machine)) return;
  if (!receiver.alive && sender.alive && !sender.out.empty())
    return break_one(connection, "connection reset by peer");
  if (!receiver.events || !receiver.reading || receiver.told_end) return;
  const auto events = receiver.events;
  if (!sender.out.empty()) {
    const auto size = 1 + random_() % sender.out.size();
    const auto middle = sender.out.begin() + static_cast<std::ptrdiff_t>(size);
    Bytes piece(sender.out.begin(), middle);
    sender.out.erase(sender.out.begin(), middle);
    kick(connection);
    if (sender.out.empty() && sender.events && sender.events->drained && !sender.told_end)
      loop_.post([weak = std::weak_ptr(sender.events)] {
        if (const auto still = weak.lock()) still->drained();
      });
    return events->data(std::move(piece));
  }
  if (!sender.sending_over && sender.alive) return;
  receiver.told_end = true;
  events->end({});
}

void SimNetwork::break_one(const std::shared_ptr<Connection>& connection, const std::string& why) {
  if (std::exchange(connection->broken, true)) return;
  for (auto& end : connection->ends) {
    end.out.clear();
    if (!end.events || std::exchange(end.told_end, true)) continue;
    const std::weak_ptr<loop::StreamEvents> weak = end.events;
    loop_.post([weak, what = end.peer + ": " + why] {
      if (const auto events = weak.lock()) events->end(fail(ErrorCode::unavailable, what));
    });
  }
}

void SimNetwork::hold_back(const std::string& one, const std::string& other) {
  held_.insert(std::minmax(one, other));
}

void SimNetwork::let_pass(const std::string& one, const std::string& other) {
  held_.erase(std::minmax(one, other));
  for (const auto& weak : connections_)
    if (const auto connection = weak.lock()) kick(connection);
  const auto waiting = waiting_;
  for (const auto& weak : waiting)
    if (const auto attempt = weak.lock()) arrive(attempt);
}

void SimNetwork::break_all(const std::string& one, const std::string& other) {
  const auto pair = std::minmax(one, other);
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection && std::minmax(connection->ends[0].machine, connection->ends[1].machine) == pair)
      break_one(connection, "connection reset");
  }
}

void SimNetwork::vanish(const std::string& name) {
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (!connection) continue;
    const auto& ends = connection->ends;
    if (ends[0].machine == name || ends[1].machine == name) connection->broken = true;
  }
  std::erase_if(listeners_, [&](const auto& each) { return each.first.first == name; });
}

std::size_t SimNetwork::open_connections() const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(), [](const auto& weak) {
        const auto connection = weak.lock();
        return connection && !connection->broken;
      }));
}

}  // namespace datum::support
