// A host without a machine: production core and history over any journal, driven by core's commands
// with observations and results as a small fleet of files would give them. For journals of any
// length without the work of files. Not a model of resources: what drifts is what the test says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datum/core/decide.hpp"
#include "datum/history/history.hpp"
#include "support/sim_loop.hpp"

namespace datum::simulation {

class DrivenHost {
 public:
  // `resources` files. `history` is borrowed and may be exchanged between passes.
  DrivenHost(support::SimLoop& loop, std::size_t resources);

  void use(history::History& history) { history_ = &history; }
  // Creates the store, or opens it.
  void begin();
  // A whole enforcing pass: these are found drifted, corrected in one wave and seen converged.
  void pass(const std::vector<std::size_t>& drifted);
  // Everything that was queued is durable, or the failure.
  [[nodiscard]] Status settle();
  // Closes in order.
  [[nodiscard]] Status close();
  // Must succeed.
  void run(const core::Command& command);

  [[nodiscard]] const model::Target& target(std::size_t i) const;

 private:
  void look(std::size_t i, bool is_drifted);
  void correct(const std::vector<std::size_t>& drifted);

  support::SimLoop& loop_;
  history::History* history_ = nullptr;
  model::Manifest manifest_;
  std::vector<core::Observation> observations_;  // changed in place from pass to pass
  std::vector<std::size_t> drifted_;
  std::uint64_t version_ = 1;  // of what a foreigner writes
};

}  // namespace datum::simulation
