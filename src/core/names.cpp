// Words for the closed sets of core: the same in events, reports and JSON. A value outside its set
// (which only a newer journal can hold) is "?", never a crash.
#include <array>

#include "datum/core/event.hpp"
#include "datum/core/mode.hpp"
#include "datum/core/observation.hpp"
#include "datum/core/plan.hpp"

namespace datum::core {
namespace {

template <std::size_t N, class Enum>
std::string_view word(const std::array<std::string_view, N>& words, Enum value, std::size_t first) {
  const auto index = static_cast<std::size_t>(value) - first;
  return index < N ? words[index] : std::string_view("?");
}

}  // namespace

std::string_view to_string(Mode mode) {
  static constexpr std::array<std::string_view, 2> kWords{"observe", "enforce"};
  return word(kWords, mode, 1);
}

std::string_view to_string(ModeTerm term) {
  static constexpr std::array<std::string_view, 7> kWords{
      "absent", "configuration", "argument", "hold", "window", "policy", "observe list"};
  return word(kWords, term, 1);
}

std::string_view to_string(Condition condition) {
  static constexpr std::array<std::string_view, 4> kWords{"converged", "drifted", "unknown",
                                                          "skipped"};
  return word(kWords, condition, 1);
}

std::string_view to_string(Found found) {
  static constexpr std::array<std::string_view, 7> kWords{
      "absent", "file", "directory", "symlink", "special", "present", "unseen"};
  return word(kWords, found, 1);
}

std::string_view to_string(Obstacle obstacle) {
  static constexpr std::array<std::string_view, 12> kWords{
      "none",        "mount point", "hard links",        "no content",        "not corrected",
      "not empty",   "immutable",   "unresolved secret", "unmanaged content", "overridden",
      "no such key", "no password",
  };
  return word(kWords, obstacle, 0);
}

std::string_view to_string(NotificationEnd end) {
  static constexpr std::array<std::string_view, 4> kWords{"pending", "delivered", "failed",
                                                          "dropped"};
  return word(kWords, end, 0);
}

std::string_view to_string(ActionKind kind) {
  static constexpr std::array<std::string_view, 9> kWords{
      "create", "update", "replace", "remove", "purge", "leave", "release", "adopt", "rename"};
  return word(kWords, kind, 1);
}

std::string_view to_string(LastEnd value) {
  static constexpr std::array<std::string_view, 4> kWords{"created", "clean", "crashed",
                                                          "rebooted"};
  return word(kWords, value, 1);
}

std::string_view to_string(Trigger value) {
  static constexpr std::array<std::string_view, 5> kWords{"start", "declaration", "timer",
                                                          "reconnect", "manual"};
  return word(kWords, value, 1);
}

std::string_view to_string(Interruption value) {
  static constexpr std::array<std::string_view, 6> kWords{"reboot", "crash",      "timeout",
                                                          "stop",   "superseded", "modeLowered"};
  return word(kWords, value, 1);
}

std::string_view to_string(RecoveredOutcome value) {
  static constexpr std::array<std::string_view, 3> kWords{"tookEffect", "didNot", "untellable"};
  return word(kWords, value, 1);
}

std::string_view to_string(LossKind value) {
  static constexpr std::array<std::string_view, 7> kWords{
      "missing", "foreign", "corrupt", "behind the witness", "rewound", "cloned", "suspected"};
  return word(kWords, value, 1);
}

std::string_view to_string(HoldOrigin value) {
  static constexpr std::array<std::string_view, 2> kWords{"local", "link"};
  return word(kWords, value, 1);
}

std::string_view to_string(NodeLifecycle value) {
  static constexpr std::array<std::string_view, 4> kWords{"unmanaged", "hosted", "enrolled",
                                                          "disconnected"};
  return word(kWords, value, 1);
}

}  // namespace datum::core
