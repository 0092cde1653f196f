// The one door through which a State changes.
#include "evolve.hpp"

namespace datum::core {

void evolve(State& state, const Event& event, const EventPlace& place) {
  std::visit(Evolver(state, place), event);
  state.seq = place.seq;
  state.wall = place.wall;
}

}  // namespace datum::core
