#include "datum/host/service_status.hpp"

namespace datum::host {

void add_unrecorded(core::HostStatus& status) {
  status.flags |= static_cast<std::uint32_t>(core::StatusFlag::unrecorded);
  if (status.condition != core::Condition::converged) return;
  status.condition = core::Condition::unknown;
  status.reason = "nothing can be recorded";
}

}  // namespace datum::host
