// Cycles among the resources of a host. Private to the module; pure.
#pragma once

#include <cstdint>
#include <vector>

namespace datum::fleet {

// `edges[n]` are the nodes that n refers to, each below edges.size(). One shortest cycle of every
// knot of nodes that reach each other, beginning with its smallest node; knots by that node. Never
// recurses.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> find_cycles(
    const std::vector<std::vector<std::uint32_t>>& edges);

}  // namespace datum::fleet
