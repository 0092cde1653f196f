// The values that several events share: who acted, what was declared, what was left, and the closed
// sets of causes. Numbers are stored and never reused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/core/mode.hpp"
#include "datum/core/observation.hpp"

namespace datum::core {

// Who caused an act. Numbers are stored.
enum class ActorKind : std::uint8_t { person = 1, service = 2, control_plane = 3, recovery = 4 };
struct Actor {
  ActorKind kind = ActorKind::service;
  std::string name;       // login name where known
  std::uint32_t uid = 0;  // real user id of the caller
  std::string command;    // of a person: the verb, no arguments
  bool operator==(const Actor&) const = default;
};

// A declaration: its manifest, generation and origin. A local pass has no mesh and number 0.
struct DeclarationId {
  Id128 mesh;
  std::string node;
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  Digest manifest;
  bool operator==(const DeclarationId&) const = default;
};
// Whether `id` may follow `before`: generations only grow within a mesh, and each counts for
// itself.
[[nodiscard]] inline bool is_above(const DeclarationId& id, const DeclarationId& before) {
  return id.mesh != before.mesh ||
         std::tuple(id.epoch, id.number) > std::tuple(before.epoch, before.number);
}
struct Provenance {
  std::string source;     // "fleet /srv/fleet", "manifest FILE", "bundle", "link"
  std::string revision;   // of the fleet's repository
  std::string pushed_by;  // actor at the control plane
  Digest documents;       // blob: file and line of every resource; zero if none
  bool operator==(const Provenance&) const = default;
};

struct Counts {
  std::uint32_t converged = 0, drifted = 0, unknown = 0, skipped = 0;
  bool operator==(const Counts&) const = default;
};

enum class LastEnd : std::uint8_t { created = 1, clean = 2, crashed = 3, rebooted = 4 };
enum class Trigger : std::uint8_t {
  start = 1,
  declaration = 2,
  timer = 3,
  reconnect = 4,
  manual = 5
};
enum class Interruption : std::uint8_t {
  reboot = 1,
  crash = 2,
  timeout = 3,
  stop = 4,
  superseded = 5,
  mode_lowered = 6,
};
enum class RecoveredOutcome : std::uint8_t { took_effect = 1, did_not = 2, untellable = 3 };
enum class LossKind : std::uint8_t {
  missing = 1,
  foreign = 2,
  corrupt = 3,
  behind_witness = 4,
  rewound = 5,
  cloned = 6,
  suspected = 7,
};
enum class HoldOrigin : std::uint8_t { local = 1, link = 2 };
enum class NodeLifecycle : std::uint8_t {
  unmanaged = 1,
  hosted = 2,
  enrolled = 3,
  disconnected = 4
};
[[nodiscard]] std::string_view to_string(LastEnd value);
[[nodiscard]] std::string_view to_string(Trigger value);
[[nodiscard]] std::string_view to_string(Interruption value);
[[nodiscard]] std::string_view to_string(RecoveredOutcome value);
[[nodiscard]] std::string_view to_string(LossKind value);
[[nodiscard]] std::string_view to_string(HoldOrigin value);
[[nodiscard]] std::string_view to_string(NodeLifecycle value);

// The last record of a store, as a witness outside of it knows it.
struct WitnessedHead {
  Id128 store;
  Seq seq = 0;
  Digest hash;
  bool operator==(const WitnessedHead&) const = default;
};

// What Datum left in a target's place: ownership ends where this no longer holds.
struct Left {
  Found found = Found::absent;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  Digest content;
  bool operator==(const Left&) const = default;
};

}  // namespace datum::core
