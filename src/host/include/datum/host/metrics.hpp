// What the service tells a node_exporter: one text file of counts and absolute times. Nothing in it
// names a resource, so that it stays small whatever is declared. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "datum/core/status.hpp"

namespace datum::host {

struct Metrics {
  std::string version;
  core::HostStatus status;
  bool enforces = false;    // the mode of this moment
  bool is_recorded = true;  // false: nothing can be written to the store
  std::uint64_t head = 0;   // the newest sequence
  WallNs last_pass;         // when the last pass finished; 0: none has
  std::int64_t last_pass_duration_ns = 0;
  WallNs written;  // now
};

// In the text format of Prometheus.
[[nodiscard]] std::string metrics_text(const Metrics& metrics);

}  // namespace datum::host
