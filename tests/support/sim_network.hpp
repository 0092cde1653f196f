// A network in memory over a SimLoop: machines by name, bytes that take a seeded while and come in
// seeded pieces, ways that break, hold everything back, or let nobody know.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "datum/loop/network.hpp"
#include "support/sim_loop.hpp"

namespace datum::support {

class SimNetwork {
 public:
  SimNetwork(SimLoop& loop, std::uint64_t seed);
  ~SimNetwork();

  // The network as the machine `name` sees it; `name` is also its address. Must not outlive this.
  [[nodiscard]] std::unique_ptr<loop::Network> machine(const std::string& name);

  // Nothing passes between the two, and neither is told: what is sent waits, who connects waits.
  void hold_back(const std::string& one, const std::string& other);
  void let_pass(const std::string& one, const std::string& other);
  // Every connection between the two breaks now; both ends are told.
  void break_all(const std::string& one, const std::string& other);
  // The machine lost its power: its ends are gone and tell nobody.
  void vanish(const std::string& name);
  [[nodiscard]] std::size_t open_connections() const;

 private:
  class Machine;
  class SimStream;
  class SimListener;
  class SimConnecting;
  struct End;
  struct Connection;
  using Place = std::pair<std::string, std::uint16_t>;

  [[nodiscard]] bool is_held(const std::string& one, const std::string& other) const;
  [[nodiscard]] std::int64_t random_delay();
  void kick(const std::shared_ptr<Connection>& connection);
  void deliver(const std::shared_ptr<Connection>& connection, int from);
  void break_one(const std::shared_ptr<Connection>& connection, const std::string& why);
  void arrive(const std::shared_ptr<SimConnecting*>& attempt);

  SimLoop& loop_;
  std::mt19937_64 random_;
  std::set<std::pair<std::string, std::string>> held_;
  std::map<Place, SimListener*> listeners_;
  std::vector<std::weak_ptr<Connection>> connections_;
  std::vector<std::weak_ptr<SimConnecting*>> waiting_;
  std::uint16_t next_port_ = 40'000;
};

}  // namespace datum::support
