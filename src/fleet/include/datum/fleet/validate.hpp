// `datum validate`: every host of a fleet, and what an author should know about it.
#pragma once

#include <string>
#include <vector>

#include "datum/fleet/resolve.hpp"

namespace datum::fleet {

struct FactDependence {
  std::string host;
  std::vector<std::string> facts;  // "datum/os", …; sorted
};

struct Validation {
  Findings errors;    // each once, with every host that it hits
  Findings warnings;  // the same
  std::size_t hosts = 0;
  std::size_t layers = 0;
  std::size_t documents = 0;              // resource documents
  std::vector<FactDependence> dependent;  // hosts whose result depends on a fact that is not given
  [[nodiscard]] bool sound() const { return errors.empty(); }
};

struct ValidateOptions {
  Profile profile;        // taken for every host
  Parallel parallel;      // empty: on the calling thread
  std::size_t width = 1;  // how many parts to make for `parallel`
};

// Blocks. Computes no manifest digests: nothing that it reports depends on them.
[[nodiscard]] Validation validate(const FleetPtr& fleet, const ValidateOptions& options = {});

}  // namespace datum::fleet
