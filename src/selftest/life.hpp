// One store and one tree, from their birth through a number of rounds. Internal to selftest.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datum/selftest/crash_points.hpp"
#include "datum/selftest/crash_recovery.hpp"
#include "datum/selftest/oracle.hpp"
#include "datum/selftest/scenario.hpp"

namespace datum::selftest {

// How a process ended and what it said.
struct ProcessEnd {
  bool was_killed = false;  // by its order, or by the time that it was given
  std::string point;        // of its order, where that was reached
  int exit_status = -1;
  std::int64_t recovered_ns = 0;              // 0: it had nothing to recover, or did not get there
  std::map<std::string, std::uint64_t> hits;  // of a process that ended by itself
  std::uint64_t all_hits = 0;
  std::int64_t duration_ns = 0;
  std::string output;
};

class Life {
 public:
  Life(loop::Loop& loop, os::Files& files, const CrashTest& test, std::string folder, Size size);

  // Makes the folder and what lies in it.
  [[nodiscard]] Status begin();
  // The next round: documents of the next version, strays planted.
  [[nodiscard]] Status declare_next();
  // One pass by a process. `kill_after_ns` 0: it is not killed from here.
  [[nodiscard]] Result<ProcessEnd> run(const CutOrder& order, std::int64_t kill_after_ns);
  void expect_failure() { expected_.has_failure = true; }

  // After a process that did not get to its end, and after one that did.
  [[nodiscard]] Violations judge_cut(const ProcessEnd& end);
  [[nodiscard]] Violations judge_end(const ProcessEnd& end);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] bool is_new() const { return version_ == 0; }
  [[nodiscard]] std::uint32_t rounds() const { return version_; }
  [[nodiscard]] std::uint64_t journal_bytes() const;
  // Names that the round changes.
  [[nodiscard]] std::uint32_t changes() const;

 private:
  [[nodiscard]] Violations judge(const ProcessEnd& end, Tree& seen, Claims& claims);
  void read_line(std::string_view line, ProcessEnd& end);

  loop::Loop& loop_;
  os::Files& files_;
  const CrashTest& test_;
  std::string folder_;
  Size size_;
  std::uint32_t version_ = 0;
  Expected expected_;
  std::uint64_t reloads_before_ = 0;
  Seq from_ = 1;                            // first record of the round
  std::vector<Acknowledged> acknowledged_;  // of the whole life
  std::string secret_;                      // of this version: it is no old content yet
  std::set<std::string> old_secrets_;
  std::set<std::string> known_blobs_;
};

}  // namespace datum::selftest
