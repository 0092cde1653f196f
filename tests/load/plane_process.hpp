// `datum-control serve` as a process of its own, asked with its own commands.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datum/loop/loop.hpp"

namespace datum::load {

class PlaneProcess {
 public:
  PlaneProcess(loop::Loop& loop, std::string program, std::string folder);
  ~PlaneProcess();
  PlaneProcess(const PlaneProcess&) = delete;
  PlaneProcess& operator=(const PlaneProcess&) = delete;

  // At a free port the first time, at the same one later.
  [[nodiscard]] Status start();
  [[nodiscard]] bool listens();
  // Its log, since it was started last.
  [[nodiscard]] std::string said() const;
  // Returns when it has ended: its exit code, or 128 and the signal.
  int end(int signal);
  // One command, beside the loop; what it printed on standard output.
  void ask(const std::vector<std::string>& words, std::function<void(std::string)> done);
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string socket() const { return folder_ + "/run/control.sock"; }
  // Of /proc/PID/status, in KiB; 0 where it does not run.
  [[nodiscard]] long anonymous_kib() const;

 private:
  [[nodiscard]] std::string log() const { return folder_ + "/log"; }
  loop::Loop& loop_;
  const std::string program_, folder_;
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace datum::load
