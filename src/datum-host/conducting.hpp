// Names the pass whose conductor may be asked to stop, for as long as it may.
#pragma once

#include "datum/engine/pass.hpp"

namespace datum::host {

class Conducting {
 public:
  Conducting(engine::Conductor*& slot, engine::Conductor& conductor) : slot_(slot) {
    slot_ = &conductor;
  }
  Conducting(const Conducting&) = delete;
  Conducting& operator=(const Conducting&) = delete;
  ~Conducting() { slot_ = nullptr; }

 private:
  engine::Conductor*& slot_;
};

}  // namespace datum::host
