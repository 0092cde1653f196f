// The implementations of loop::Loop that the conformance suite runs over, each with the little that
// the interface cannot say: what a child does, and how a signal comes about.
#pragma once

#include <unistd.h>

#include <csignal>
#include <map>
#include <memory>
#include <string>

#include "datum/loop/loop.hpp"
#include "datum/uv/uv_loop.hpp"
#include "support/sim_loop.hpp"

namespace datum::conformance {

// A child that prints `out` to standard output, `err` to standard error, and ends.
struct PlannedChild {
  std::string out;
  std::string err;
  int exit_status = 0;
  int signal = 0;
  bool endless = false;
};

class UvFixture {
 public:
  static constexpr std::size_t kWidth = 3;
  UvFixture() : loop_(uv::make_loop(kWidth)) {}
  loop::Loop& loop() { return *loop_; }
  void destroy_loop() { loop_.reset(); }

  loop::ChildOptions child(const PlannedChild& plan) {
    std::string script = "printf '%s' '" + plan.out + "'; printf '%s' '" + plan.err + "' >&2; ";
    if (plan.endless)
      script += "exec sleep 100000";
    else if (plan.signal != 0)
      script += "kill -" + std::to_string(plan.signal) + " $$";
    else
      script += "exit " + std::to_string(plan.exit_status);
    loop::ChildOptions options;
    options.argv = {"/bin/sh", "-c", script};
    options.environment = {"PATH=/usr/bin:/bin"};
    return options;
  }
  std::string program_that_may_not_run() { return "/etc/passwd"; }
  void raise_signal(int number) { ::kill(::getpid(), number); }

 private:
  std::unique_ptr<loop::Loop> loop_;
};

class SimFixture {
 public:
  static constexpr std::size_t kWidth = 3;
  SimFixture() : loop_(std::make_unique<support::SimLoop>(20'240'501, kWidth)) {
    loop_->script_child("/etc/passwd", [](const loop::ChildOptions&) {
      support::ScriptedChild child;
      child.start_errno = EACCES;
      return child;
    });
    loop_->script_child("/bin/sh", [this](const loop::ChildOptions& options) {
      const auto& plan = plans_.at(options.argv.at(2));
      support::ScriptedChild child;
      child.output = plan.out + plan.err;
      child.exit_status = plan.exit_status;
      child.signal = plan.signal;
      if (plan.endless) child.duration_ns = 100'000 * kNsPerSecond;
      return child;
    });
  }
  loop::Loop& loop() { return *loop_; }
  void destroy_loop() { loop_.reset(); }

  loop::ChildOptions child(const PlannedChild& plan) {
    const auto name = std::to_string(plans_.size());
    plans_[name] = plan;
    loop::ChildOptions options;
    options.argv = {"/bin/sh", "-c", name};
    return options;
  }
  std::string program_that_may_not_run() { return "/etc/passwd"; }
  void raise_signal(int number) { loop_->deliver_signal(number, 1); }

 private:
  std::map<std::string, PlannedChild> plans_;
  std::unique_ptr<support::SimLoop> loop_;
};

}  // namespace datum::conformance
