// A small machine and a journal in memory for tests of core: paths with identities and content,
// units and packages as words. Observations are computed from it as a resource would, actions
// change it as one would, and every command runs through decide and evolve.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "datum/core/decide.hpp"
#include "datum/core/status.hpp"

namespace datum::core::test {

[[nodiscard]] Digest digest_of(std::string_view text);
[[nodiscard]] Id128 id_of(std::uint8_t number);

// Documents, as short as a test wants them.
[[nodiscard]] model::Resource file(const std::string& name, const std::string& path,
                                   const std::string& content = "x");
[[nodiscard]] model::Resource folder(const std::string& name, const std::string& path,
                                     bool purge = false);
[[nodiscard]] model::Resource link(const std::string& name, const std::string& path,
                                   const std::string& to);
[[nodiscard]] model::Resource service(const std::string& name,
                                      const std::string& state = "running");
[[nodiscard]] model::Resource package(const std::string& name);
[[nodiscard]] model::Resource absent(model::Resource resource);
[[nodiscard]] model::ManifestPtr manifest_of(std::vector<model::Resource> resources);
[[nodiscard]] model::Reference ref(const std::string& text);
[[nodiscard]] model::Target path(const std::string& name);

struct Object {
  Found found = Found::file;
  std::uint64_t inode = 0;
  std::string content;  // or where a link leads; of other families: the state's word
};

class Machine {
 public:
  // Puts an object there, with an inode of its own. Folders above are not made.
  void put(const std::string& path, Found found, const std::string& content = {});
  void put(const model::Target& target, Found found, const std::string& content);
  void take(const std::string& path);
  // Other content in the same object.
  void edit(const std::string& path, const std::string& content);
  [[nodiscard]] const Object* find(const model::Target& target) const;
  [[nodiscard]] const Object* find(const std::string& path) const;
  [[nodiscard]] const std::map<model::Target, Object>& objects() const { return objects_; }
  // References that cannot be looked at.
  std::set<model::Reference> blind;
  std::uint64_t device = 1;  // the number of the file system

  [[nodiscard]] Observation observe(const model::Resource& resource,
                                    const model::Manifest& manifest) const;
  [[nodiscard]] LeavingObservation observe_leaving(const model::Target& target) const;
  // Does it and looks again; fails where a real machine would.
  [[nodiscard]] ActionResult act(const Action& action, const model::Manifest& manifest);

 private:
  [[nodiscard]] std::vector<std::string> names_in(const std::string& path) const;
  [[nodiscard]] std::string missing_parent(const std::string& path) const;
  void observe_path(const model::Resource& resource, const model::Manifest& manifest,
                    Observation& seen) const;
  void observe_entries(const model::Resource& resource, const model::Manifest& manifest,
                       Observation& seen) const;
  [[nodiscard]] std::string remove(const model::Target& target);
  [[nodiscard]] std::string build(const model::Resource& resource);
  [[nodiscard]] Left left_at(const model::Target& target) const;

  std::map<model::Target, Object> objects_;
  std::uint64_t next_inode_ = 100;
};

struct Recorded {
  Event event;
  EventPlace place;
};

// A host: machine, store, clock.
class World {
 public:
  World();

  // Must succeed.
  std::vector<Event> run(const Command& command);
  [[nodiscard]] Result<std::vector<Event>> try_run(const Command& command);
  void append(const Event& event);
  void advance(std::int64_t seconds);

  struct PassOptions {
    Mode mode = Mode::enforce;
    std::vector<model::Reference> observe_list;
    RemovalLimits limits;
    WaveLimits waves;
    // Returns an error's text to fail the action, "skip" to skip it, nothing to do it.
    std::function<std::string(const Action&)> fault;
    // Called with each wave before it runs.
    std::function<void(const Plan&, const std::vector<std::uint32_t>&)> on_wave;
    bool final = true;
  };
  // What a pass would plan now.
  [[nodiscard]] Plan plan(const model::ManifestPtr& manifest, const PassOptions& options) const;
  [[nodiscard]] Plan plan(const model::ManifestPtr& manifest) const;
  [[nodiscard]] std::vector<Observation> observe(const model::ManifestPtr& manifest) const;
  [[nodiscard]] std::vector<LeavingObservation> observe_leaving(
      const model::ManifestPtr& manifest) const;
  // A whole pass; returns the events from its start to its end.
  std::vector<Event> pass(const model::ManifestPtr& manifest, const PassOptions& options);
  std::vector<Event> pass(const model::ManifestPtr& manifest);
  // Its parts.
  void start(const model::ManifestPtr& manifest, const PassOptions& options);
  std::shared_ptr<const Plan> observe_and_plan(const model::ManifestPtr& manifest,
                                               const PassOptions& options);
  void announce(const Plan& plan, const std::vector<std::uint32_t>& wave);
  void finish(const Plan& plan);

  [[nodiscard]] HostStatus status() const;

  State state;
  Machine machine;
  std::vector<Recorded> journal;
  WallNs now{1'700'000'000 * kNsPerSecond};
  BootNs mono{kNsPerSecond};
  Id128 boot = id_of(7);

 private:
  void run_wave(const std::shared_ptr<const Plan>& plan, const model::ManifestPtr& manifest,
                const std::vector<std::uint32_t>& wave, const PassOptions& options);
};

// A pass under way: File[a] at /a is announced and has no end, Service[web] runs and reloads on it.
struct ToldFile {
  model::ManifestPtr manifest;
  std::shared_ptr<const Plan> plan;
};
[[nodiscard]] ToldFile announce_told_file(World& world);

// A pass under way: the first action of its plan is announced, and `results` say that it failed.
struct Announced {
  model::ManifestPtr manifest;
  RecordResults results;
};
[[nodiscard]] Announced announce_first(World& world, const model::ManifestPtr& manifest);

// Bytes of everything that belongs to a plan's digest, for comparison and failure messages.
[[nodiscard]] std::string text_of(const Plan& plan);
[[nodiscard]] const Action* find_action(const Plan& plan, const model::Target& target);

template <class T>
std::vector<T> all_of_kind(const std::vector<Event>& events) {
  std::vector<T> found;
  for (const auto& event : events)
    if (const auto* one = std::get_if<T>(&event)) found.push_back(*one);
  return found;
}

}  // namespace datum::core::test
