// What a control plane orders beside declarations: a hold, its lift, and that the node is revoked.
// What only weakens (hold, revoke) is taken from whoever holds the link; what allows something
// again (lift) has to be signed as a declaration is. No order touches a local hold or raises a
// mode. An order is carried out once: its number is kept, and an older one is none.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "datum/engine/identity.hpp"
#include "datum/engine/store.hpp"
#include "datum/loop/task.hpp"

namespace datum::engine {

// The order, if it is for this node and may be given so. `refused`, in words.
[[nodiscard]] Result<core::OrderBody> verify_order(const core::Signed& order,
                                                   const NodeIdentity& identity);

// The highest number that was carried out here; 0: none.
[[nodiscard]] Result<std::uint64_t> read_order_number(os::Files& files,
                                                      const std::string& store_folder);

struct CarriedOut {
  core::OrderBody body;
  Seq at = 0;  // the newest record then, durable; 0: it was carried out before
};
// Records what the order says, and then, durably, its number. The order that was carried out last,
// given again, changes nothing: its answer may have been lost. `refused`: it is not for this node,
// not signed, or older; `unsupported`: this version does not carry out orders of its kind; both are
// for good. Any other error: it may be given again.
[[nodiscard]] loop::Task<Result<CarriedOut>> carry_out(loop::Loop& loop, os::Files& files,
                                                       Store& store,
                                                       std::shared_ptr<const NodeIdentity> identity,
                                                       core::Signed order);

}  // namespace datum::engine
