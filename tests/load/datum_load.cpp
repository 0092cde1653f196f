// One control plane as a process, and thousands of nodes in this one that speak the real protocol
// to it over loopback: production core, history, engine and link over modelled machines, with their
// journals in memory. All enrol with one token, keep their heartbeats, take a push and then another
// with one changed file; the control plane is killed and started again. Prints what it took, and
// fails for what was lost. Bounded in nodes and in time.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "datum/uv/uv_loop.hpp"
#include "datum/uv/uv_network.hpp"
#include "plane_process.hpp"
#include "shared_loop.hpp"
#include "simulation/sim_node.hpp"
#include "support/scratch_folder.hpp"

namespace datum::load {
namespace {

constexpr const char* kUsage =
    "usage: datum-load CONTROL [NODES [SECONDS]]\n"
    "  CONTROL  the program datum-control\n"
    "  NODES    how many (200), at most 10,000\n"
    "  SECONDS  for how long they keep their heartbeats of 30 s (60), at most 3600\n"
    "exit: 0 nothing was lost, 1 something was, 2 wrong arguments\n";
constexpr std::size_t kMostNodes = 10'000;
constexpr std::uint64_t kMostSeconds = 3600;
// Fewer than the control plane takes strangers (64): who is not taken comes back later.
constexpr std::size_t kEnrolAtOnce = 48;
constexpr std::int64_t kLookNs = 50 * kNsPerMs;
constexpr std::int64_t kStartNs = 30 * kNsPerSecond;
constexpr std::int64_t kLimitNs = 1800 * kNsPerSecond;
constexpr std::int64_t kBeatNs = 3600 * kNsPerSecond;  // no pass but those that a push brings
// With fewer what the program itself takes is a large part of what it takes for each.
constexpr std::size_t kTellingCount = 1000;
constexpr std::size_t kSampled = 20;  // nodes whose journals are compared
constexpr std::int64_t kKeptWithinNs = 90 * kNsPerSecond;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerSecond);
}

std::string name_of(std::size_t number) {
  char name[16];
  std::snprintf(name, sizeof name, "n%05zu", number);
  return name;
}

class Load {
 public:
  Load(const std::string& program, std::size_t count, std::int64_t hold_ns)
      : count_(count),
        hold_ns_(hold_ns),
        uv_(uv::make_loop(2)),
        shared_(*uv_),
        look_(uv_->make_timer()),
        plane_(*uv_, std::filesystem::absolute(program).string(), scratch_.path) {}
  ~Load() {
    nodes_.clear();
    sites_.clear();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  int run() {
    if (!start_plane()) return 1;
    std::printf("%zu nodes, heartbeats of 30 s\n", count_);
    enrol();
    measure_memory();
    push("one");
    const auto changed = push("two");
    check(changed <= 60, "one changed file was acknowledged by all within 60 s");
    hold();
    restart();
    compare_journals();
    const int code = plane_.end(SIGTERM);
    check(code == 0, "the control plane ended in order");
    return failures_ == 0 ? 0 : 1;
  }

 private:
  void check(bool holds, const std::string& what) {
    std::printf("%-8s %s\n", holds ? "ok" : "FAILED", what.c_str());
    std::fflush(stdout);
    if (!holds) ++failures_;
  }
  [[nodiscard]] std::int64_t now() { return uv_->clock().boot_now().ns; }

  bool start_plane() {
    if (const auto begun = plane_.start(); !begun) {
      check(false, begun.error().message());
      return false;
    }
    const bool listens = wait_until([this] { return plane_.listens(); }, kStartNs) >= 0;
    if (!listens) check(false, "the control plane does not listen: " + plane_.said());
    return listens;
  }
  // Runs the loop until that is so, looking at it again and again; seconds, or -1.
  double wait_until(const std::function<bool()>& holds, std::int64_t limit_ns = kLimitNs) {
    const auto begin = now();
    bool held = false;
    look_->start(0, kLookNs, [&] {
      held = holds();
      if (held || now() - begin > limit_ns) uv_->stop();
    });
    uv_->run();
    look_->stop();
    return held ? seconds(now() - begin) : -1;
  }
  void run_for(std::int64_t ns) {
    const auto end = now() + ns;
    static_cast<void>(wait_until([&] { return now() >= end; }, ns + kLookNs));
  }
  // One command, while everything goes on; what it printed.
  std::string run_command(const std::vector<std::string>& words) {
    std::optional<std::string> said;
    plane_.ask(words, [&said](std::string text) { said = std::move(text); });
    static_cast<void>(wait_until([&said] { return said.has_value(); }));
    return said.value_or("");
  }
  std::string ask(std::vector<std::string> words) {
    words.insert(words.end(), {"--socket", plane_.socket()});
    return run_command(words);
  }
  // A number of `status --json`.
  long status_number(const std::string& member) {
    const auto text = ask({"status", "--json"});
    const auto at = text.find("\"" + member + "\":");
    return at == std::string::npos ? -1 : std::atol(text.c_str() + at + member.size() + 3);
  }
  template <class Test>
  [[nodiscard]] std::size_t count_nodes(Test test) const {
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), test));
  }
  [[nodiscard]] std::size_t linked() const {
    return count_nodes([](const auto& node) { return node->is_linked(); });
  }
  [[nodiscard]] std::size_t at_generation(std::uint64_t number) const {
    return count_nodes([number](const auto& node) {
      const auto& state = node->state();
      return state.accepted && state.accepted->number == number && !state.pass &&
             node->applied() == number;
    });
  }

  void begin_node(const std::string& token) {
    const auto number = nodes_.size();
    sites_.push_back(std::make_unique<simulation::NodeSite>(name_of(number), number + 1));
    auto& site = *sites_.back();
    site.token = token;
    nodes_.push_back(std::make_unique<Node>(
        site, simulation::NodeGround{shared_, [this] { return uv::make_network(*uv_); },
                                     "127.0.0.1:" + std::to_string(plane_.port()), kBeatNs}));
    if (const auto started = nodes_.back()->start(); !started)
      check(false, site.name + ": " + started.error().message());
  }

  void enrol() {
    const auto said = ask({"token", "create", "--multi", "--names", "n*", "--ttl", "2h", "--json"});
    const auto at = said.find("dtm1_");
    const auto token = said.substr(
        at, said.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_-",
                                   at) -
                at);
    before_kib_ = plane_.anonymous_kib();
    const auto took = wait_until([&] {
      const auto there = linked();
      while (nodes_.size() < std::min(count_, there + kEnrolAtOnce)) begin_node(token);
      return there == count_;
    });
    std::printf("enrolled and linked in %.1f s, %.0f a second\n", took,
                static_cast<double>(count_) / took);
    check(took >= 0, "all are enrolled and linked");
  }

  void measure_memory() {
    // One heartbeat of each, where there is the time.
    run_for(std::min(hold_ns_, 35 * kNsPerSecond));
    const auto each =
        static_cast<double>(plane_.anonymous_kib() - before_kib_) / static_cast<double>(count_);
    std::printf("anonymous memory of the control plane: %ld KiB, %.1f KiB for each node\n",
                plane_.anonymous_kib(), each);
    if (count_ >= kTellingCount) check(each <= 48, "at most 48 KiB for an idle link");
  }

  // Seconds from the command to the last node that has applied it.
  double push(const std::string& text) {
    write_fleet(text);
    ++generation_;
    const auto begin = now();
    const auto said = ask({"push", "--fleet", scratch_.path + "/fleet"});
    const auto command = seconds(now() - begin);
    static_cast<void>(wait_until([&] { return at_generation(generation_) == count_; }));
    const auto applied = seconds(now() - begin);
    while (status_number("match") != static_cast<long>(count_) && now() - begin < kLimitNs)
      run_for(kNsPerSecond / 4);
    const auto known = seconds(now() - begin);
    std::printf(
        "push %llu: the command took %.1f s, all had applied it after %.1f s, and the control "
        "plane knew of all after %.1f s\n",
        static_cast<unsigned long long>(generation_), command, applied, known);
    check(at_generation(generation_) == count_,
          "all have applied it: " + said.substr(0, said.find('\n')));
    check(status_number("match") == static_cast<long>(count_), "and the control plane knows it");
    return known;
  }

  void hold() {
    std::size_t least = count_;
    const auto end = now() + hold_ns_;
    static_cast<void>(wait_until(
        [&] {
          least = std::min(least, linked());
          return now() >= end;
        },
        hold_ns_ + kNsPerSecond));
    check(least == count_, "heartbeats were held for " + std::to_string(hold_ns_ / kNsPerSecond) +
                               " s: no link ended");
    check(status_number("match") == static_cast<long>(count_), "and all hosts match");
  }

  // Links that stand, once a second, and how many came in the second before.
  void restart() {
    plane_.end(SIGKILL);
    const auto begin = now();
    if (!start_plane()) return;
    std::vector<std::size_t> rates;
    std::size_t before = 0;
    auto next = now() + kNsPerSecond;
    const auto took = wait_until([&] {
      const auto there = linked();
      if (now() >= next) {
        next += kNsPerSecond;
        rates.push_back(there > before ? there - before : 0);
        before = there;
      }
      return there == count_ && seconds(now() - begin) > 5;
    });
    const auto back = seconds(now() - begin);
    const auto most = rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end());
    const auto mean = static_cast<double>(count_) / back;
    std::printf(
        "killed and started again: all back after %.1f s, at most %zu in a second, %.1f "
        "on average\n",
        back, most, mean);
    check(took >= 0 && back <= 180, "all are back within 180 s");
    if (count_ >= kTellingCount)
      check(static_cast<double>(most) < 3 * mean,
            "and in no second come three times as many as on average");
    check(status_number("nodes") == static_cast<long>(count_), "no node was lost");
    while (status_number("match") != static_cast<long>(count_) && seconds(now() - begin) < 300)
      run_for(kNsPerSecond);
    check(status_number("match") == static_cast<long>(count_), "and all hosts match again");
  }

  // Of its journal, as it is kept.
  std::uint64_t kept_of(const std::string& node) {
    const auto copy = scratch_.path + "/" + node;
    const auto text =
        run_command({"journal", node, "--state", scratch_.path + "/state", "--output", copy});
    std::filesystem::remove(copy);
    const auto at = text.find(" to ");
    return at == std::string::npos ? 0 : std::strtoull(&text[at + 4], nullptr, 10);
  }

  // Some nodes' records go up with their next heartbeat.
  void compare_journals() {
    const auto sampled = std::min(kSampled, count_);
    std::size_t whole = 0;
    for (std::size_t i = 0; i < sampled; ++i) {
      const auto number = i * (count_ / sampled);
      const auto end = now() + kKeptWithinNs;
      std::uint64_t kept = 0;
      do {
        kept = kept_of(name_of(number));
      } while (kept != nodes_[number]->history().durable() && now() < end);
      if (kept == nodes_[number]->history().durable()) ++whole;
    }
    check(whole == sampled,
          "the journals of " + std::to_string(sampled) + " nodes are kept to their ends");
  }

  void write_fleet(const std::string& text) const {
    const auto folder = scratch_.path + "/fleet";
    std::filesystem::create_directories(folder + "/base");
    const auto write = [&folder](const std::string& name, const std::string& bytes) {
      std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    };
    write("datum.yaml", "datum: v1alpha1\ntype: Fleet\nname: load\n");
    write("base/layer.yaml", "datum: v1alpha1\ntype: Layer\nname: base\n");
    std::string hosts;
    for (std::size_t i = 0; i < count_; ++i)
      hosts += "---\ndatum: v1alpha1\ntype: Host\nname: " + name_of(i) + "\n";
    write("hosts.yaml", hosts);
    write("base/files.yaml",
          "datum: v1alpha1\ntype: File\nname: motd\ndesired:\n  path: /motd\n  mode: \"0644\"\n"
          "  content: |\n    " +
              text + "\n");
  }

  // A node that says which generation its last whole pass was for.
  class Node : public simulation::NodeShell {
   public:
    Node(simulation::NodeSite& site, simulation::NodeGround ground)
        : NodeShell(site, std::move(ground),
                    {{},
                     [this](const model::Manifest&, const engine::PassReport&) {
                       if (state().accepted) applied_ = state().accepted->number;
                     },
                     {},
                     {}}) {}
    [[nodiscard]] std::uint64_t applied() const { return applied_; }

   private:
    std::uint64_t applied_ = 0;
  };

  const std::size_t count_;
  const std::int64_t hold_ns_;
  support::ScratchFolder scratch_{"load"};
  std::unique_ptr<loop::Loop> uv_;
  SharedLoop shared_;
  std::unique_ptr<loop::Timer> look_;
  PlaneProcess plane_;
  std::vector<std::unique_ptr<simulation::NodeSite>> sites_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::uint64_t generation_ = 0;
  long before_kib_ = 0;
  int failures_ = 0;
};

}  // namespace
}  // namespace datum::load

int main(int count, char** arguments) {
  using namespace datum::load;
  const auto nodes = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 200;
  const auto hold = count > 3 ? std::strtoul(arguments[3], nullptr, 10) : 60;
  if (count < 2 || count > 4 || nodes == 0 || nodes > kMostNodes || hold > kMostSeconds) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  Load load(arguments[1], nodes, static_cast<std::int64_t>(hold) * datum::kNsPerSecond);
  return load.run();
}
