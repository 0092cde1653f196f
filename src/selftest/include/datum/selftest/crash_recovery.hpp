// The users' crash test: real passes by processes of this same program, in a scratch folder, ended
// at every point of the table, at random moments and by disks that fail, each followed by a restart
// and judged by the oracle. Owns everything below the scratch folder and touches nothing else. It
// does not show what a power cut does: the page cache survives a process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/loop/loop.hpp"
#include "datum/os/files.hpp"

namespace datum::selftest {

// Name of the file, in the folder of a life, that holds a process's order. Its folder is what such
// a process is given: root/, state/ and fleet/ lie beside it.
inline constexpr std::string_view kOrderName = "order";
// First word of the lines that a process prints for the self-test alone.
inline constexpr std::string_view kTold = "@ ";

struct CrashTest {
  std::string scratch;             // absolute, empty, of the caller
  std::vector<std::string> child;  // how a process is started; the folder of its life comes last
  std::uint32_t rounds = 0;        // at least; each point takes one, whatever this says
  std::uint64_t seed = 0;
  bool is_root = false;  // may mount a small file system inside of the scratch folder
};

// What a caller may watch and stop. Called between rounds, on the loop's thread.
struct CrashTestWatch {
  std::function<void(std::uint32_t done, std::uint32_t of, std::size_t violations)> progress;
  std::function<bool()> stopped;
};

struct PointHits {
  std::string point;
  std::uint64_t hits = 0;  // processes that ended there
};
struct RoundViolation {
  std::uint32_t round = 0;
  std::string how;       // what was done to the processes of the round
  std::string words;     // what does not hold
  std::string evidence;  // folder that was left as it is
};
// A disk that fails, in one of several ways.
struct FaultTried {
  std::string name;
  std::uint32_t rounds = 0;
  std::string not_made;  // why it could not be made here; empty if it could
};
struct CrashReport {
  std::uint64_t seed = 0;
  std::uint32_t rounds = 0;
  std::vector<PointHits> points;  // in the order of the table
  std::uint32_t ended_at_points = 0, ended_by_time = 0, recoveries_ended = 0;
  std::uint32_t fewest_actions = 0;  // of one pass: the fewest names that a round changed
  std::vector<FaultTried> faults;
  std::vector<RoundViolation> violations;
  std::vector<std::int64_t> recovery_ns;  // sorted; start of the process to the cut pass closed
  std::int64_t duration_ns = 0;
  bool was_stopped = false;

  // Every point was hit, and all held.
  [[nodiscard]] bool held() const;
};

// An error is one of the self-test's own: a folder that cannot be made, a program that does not
// start. Whatever was left as evidence stays; the rest below `scratch` is removed by the caller.
[[nodiscard]] Result<CrashReport> test_crash_recovery(loop::Loop& loop, os::Files& files,
                                                      const CrashTest& test,
                                                      const CrashTestWatch& watch);

}  // namespace datum::selftest
