#include "datum/codec/plan.hpp"

#include "decoder.hpp"
#include "encoder.hpp"
#include "message.hpp"
#include "plan.capnp.h"
#include "plan_fields.hpp"
#include "value_fields.hpp"

namespace datum::codec {
namespace {

constexpr std::uint16_t kPlanFormat = 1;
constexpr std::string_view kPlanWhat = "plan";

Status check_order(const core::Plan& plan) {
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    const auto& action = plan.actions[i];
    if (action.ordinal != i) return fail(ErrorCode::corrupt, "plan: ordinals do not count from 0");
    for (std::size_t k = 0; k < action.after.size(); ++k) {
      const bool ascends = k == 0 || action.after[k - 1] < action.after[k];
      if (!ascends || action.after[k] >= plan.actions.size() || action.after[k] == i)
        return fail(ErrorCode::corrupt,
                    "plan: action " + std::to_string(i) + " waits for what it cannot wait for");
    }
  }
  return {};
}

}  // namespace

Bytes encode_plan(const core::Plan& plan) {
  DATUM_ASSERT(check_order(plan));
  Bytes bytes;
  build_message<schema::PlanDocument>(bytes, [&plan](schema::PlanDocument::Builder root) {
    root.setFormat(kPlanFormat);
    encode_fields(root.initPlan(), plan);
  });
  return bytes;
}

Result<core::Plan> decode_plan(ByteView bytes) {
  return read_message<schema::PlanDocument>(
      bytes, kPlanWhat,
      [](schema::PlanDocument::Reader root, std::size_t words) -> Result<core::Plan> {
        if (root.getFormat() != kPlanFormat)
          return fail(
              root.getFormat() > kPlanFormat ? ErrorCode::unsupported_version : ErrorCode::corrupt,
              "plan: format " + std::to_string(root.getFormat()));
        DATUM_ASSIGN(auto plan, decode_fields<core::Plan>(root.getPlan(), words, kPlanWhat));
        DATUM_TRY(check_order(plan));
        return plan;
      });
}

}  // namespace datum::codec
