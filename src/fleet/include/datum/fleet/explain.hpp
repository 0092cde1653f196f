// `datum explain`: where each field of a host's resource comes from, and what it overrode.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datum/fleet/resolve.hpp"

namespace datum::fleet {

// One statement of one document.
struct Statement {
  std::string value;  // for people, on one line: text quoted, content as its key and size
  std::string file;   // relative to the fleet's root
  std::uint32_t line = 0;
  std::string layer;
  std::int64_t precedence = 0;
};

struct FieldHistory {
  std::string field;  // `content` whichever of the four keys gave it; `requires`, `policy`, …
  std::string value;  // the effective one after substitution; never sensitive content
  Statement set_by;   // the statement that counts
  std::vector<Statement> overrode;  // highest first
  std::vector<Statement> joined;    // `requires`, `restartOn`, `reloadOn`: every layer's part
};

struct Explanation {
  model::ResourcePtr resource;
  std::vector<FieldHistory> fields;  // in the descriptor table's order, then the common keys
  std::vector<Statement> documents;  // lowest layer first; `value` is empty
  std::vector<std::string> layers;   // that the host matches, lowest first
};

struct Explained {
  std::optional<Explanation> explanation;  // nothing if there is an error
  Findings errors;
};

// A reference that the host does not have is an error that says where the fleet has it.
[[nodiscard]] Explained explain(const FleetPtr& fleet, std::string_view host,
                                const model::Reference& reference, const Profile& profile = {});
// For people.
[[nodiscard]] std::string to_string(const Explanation& explanation);

}  // namespace datum::fleet
