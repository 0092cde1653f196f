// A whole mesh under one seed, in one process: nodes and their control plane, each with a loop of
// its own over one time, on modelled machines and over a simulated network.
//
// Must be survived: any process dying after any of its callbacks or, a node's, before any changing
// call; power cuts with unsynced writes lost, kept or torn, in trees, stores and journals; a node's
// system calls, journal and disk failing; connections that break, hold everything back, or end
// without a word; machines that sleep; wall clocks that jump by months; foreign writers; pushes at
// any time, in stages or at once, to nodes that are there or not; modes and holds that change in
// mid-pass, and holds that the control plane orders and lifts; a node's store that is deleted,
// after which its name is forgotten and it enrols anew; nodes that are revoked. Need not be
// survived: a store that is set back or runs twice (nothing outside of it tells its age yet),
// damage to what was durable, and what sim_world.hpp names.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim_fleet.hpp"
#include "sim_node.hpp"
#include "sim_plane.hpp"

namespace datum::simulation {

enum class MeshFault : std::uint8_t {
  node_kill,
  node_power,
  node_call_fails,
  node_journal_fails,
  node_disk_full,
  plane_kill,
  plane_power,
  way_held_back,
  way_breaks,
  machine_sleeps,
  clock_jump,
  foreign_writer,
  hold,
  mode,
  store_lost,
};
inline constexpr std::size_t kMeshFaults = 15;
[[nodiscard]] std::string_view to_string(MeshFault fault);

// Where in its life a node is when something strikes it.
enum class MeshPhase : std::uint8_t {
  down,       // its process does not run
  stranger,   // no node: it has no token, or asks with one
  unlinked,   // a node without its control plane
  taking,     // a declaration comes, or waits to be accepted
  observing,  // in a pass, before anything was announced
  applying,   // announced and not recorded
  idle,
};
inline constexpr std::size_t kMeshPhases = 7;
[[nodiscard]] std::string_view to_string(MeshPhase phase);

struct MeshCounts {
  std::array<std::array<std::uint64_t, kMeshPhases>, kMeshFaults> hits{};
  std::map<std::string, std::uint64_t> seen;  // what else happened → times
  std::uint64_t steps = 0;                    // of all loops
  std::uint64_t simulated_s = 0;
};

class MeshWorld {
 public:
  MeshWorld(std::uint64_t seed, std::size_t nodes);
  ~MeshWorld();

  // Something happens, and then a while passes.
  void act();
  // No more faults: every node that is not revoked has to come to the newest declaration, and the
  // control plane to know that, within simulated minutes; then nothing happens any more.
  void heal_and_demand();

  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] const std::vector<std::string>& story() const { return story_; }
  [[nodiscard]] const MeshCounts& counts() const { return counts_; }

 private:
  // One node, whatever becomes of its processes.
  struct Member {
    std::unique_ptr<NodeSite> site;
    std::unique_ptr<NodeProcess> process;
    Foreigner foreigner;
    std::optional<std::pair<MeshFault, MeshPhase>> armed;  // strikes when it gets there
    std::optional<std::uint64_t> dies_in;                  // steps of its loop
    bool with_power = false;
    BootNs asleep_until;
    bool is_revoked = false;
    BootNs revoked_at;
    bool is_lost = false;  // its store went, and its name is not free yet
    bool asks_token = false;
    bool touched_in_pass = false;
    core::Mode pass_mode = core::Mode::observe;  // the strongest since its pass began
    Seq announced = 0;                           // the last record of an announcement
    std::uint32_t waves = 0;
    std::uint64_t acked_order = 0;  // carried out and durable here, says the control plane
    core::Generation acked_stored, acked_accepted;  // durable here, says the control plane
    core::Generation accepted;                      // said here
    std::optional<core::State> remembered;          // of a process that died, all of it durable
    std::map<std::uint64_t, model::ManifestPtr> wanted;  // by generation's number
  };

  [[nodiscard]] std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  [[nodiscard]] bool chance(std::uint64_t percent) { return draw(100) < percent; }
  void violate(const std::string& what);
  void tell(const std::string& what);

  // time
  [[nodiscard]] BootNs now() const { return now_; }
  void run_for(std::int64_t ns);
  void advance(BootNs to);
  [[nodiscard]] bool step_earliest(BootNs end);
  void later(std::int64_t ns, std::function<void()> call);

  // nodes
  void start_node(Member& member);
  void end_node(Member& member, bool with_power);
  void after_step(Member& member);
  void note_pass(Member& member);
  [[nodiscard]] MeshPhase phase_of(const Member& member) const;
  void strike(Member& member, MeshFault fault);
  void lift_faults(Member& member);
  [[nodiscard]] NodeProcess::Watch watch(Member& member);

  // control plane
  void start_plane();
  void end_plane(bool with_power);
  void after_plane_step();
  [[nodiscard]] bool is_plane_up() const { return plane_ && !plane_->has_failed(); }
  void ask(control::LocalRequest request, std::function<void(const control::Answer&)> done);
  void push(const std::string& stages);
  [[nodiscard]] std::optional<control::PushedManifest> manifest_for(Member& member,
                                                                    std::uint64_t number);
  void give_token(Member& member);
  void revoke(Member& member);
  void forget(Member& member);
  void hold_or_lift(Member& member, bool lift);

  // what may happen
  void fault(Member& member, MeshFault fault);
  void fault_node(Member& member, MeshFault fault);
  void fault_machine(Member& member, MeshFault fault);
  void people_act();

  // questions
  void check_call(Member& member, support::Call call, std::string_view name);
  void check_pass(Member& member, const model::Manifest& manifest,
                  const engine::PassReport& report);
  void check_journal(Member& member);
  void check_plane_journal();
  void check_copies();
  [[nodiscard]] std::string find_unfinished();
  [[nodiscard]] static core::Condition expected_condition(const Member& member,
                                                          const model::Manifest& manifest);
  [[nodiscard]] static std::string describe_status(const Member& member, const control::Node& node);

  std::uint64_t seed_;
  std::mt19937_64 random_;
  BootNs now_{60 * kNsPerSecond};
  support::SimLoop wires_;
  support::SimNetwork network_;
  PlaneSite plane_site_;
  std::unique_ptr<Plane> plane_;
  std::optional<std::uint64_t> plane_dies_in_;
  bool plane_with_power_ = false;
  std::optional<control::State> plane_remembered_;
  core::Generation answered_;  // the last push that was answered
  std::vector<std::unique_ptr<Member>> members_;
  std::multimap<std::int64_t, std::function<void()>> later_;
  bool healing_ = false;
  std::vector<std::string> violations_;
  std::vector<std::string> story_;
  MeshCounts counts_;
};

}  // namespace datum::simulation
