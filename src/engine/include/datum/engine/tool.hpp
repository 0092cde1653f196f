// Running a tool that changes the machine as a transient service of the service manager, so that
// neither its life nor its exit status hangs on this process: it is started under a name that the
// journal knows, its end is asked for, and a later process finds it by that name. Nothing here
// kills it. Every step is asked of the manager on the pool; the loop never waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/ids.hpp"
#include "datum/loop/loop.hpp"
#include "datum/loop/task.hpp"
#include "datum/os/files.hpp"
#include "datum/os/units.hpp"

namespace datum::engine {

// Captured output keeps its first and its last 8 KiB (design §2).
inline constexpr std::size_t kToolOutput = 16 * 1024;

// "datum-STORE-PASS-WAVE-STEP.service": what the journal says of an announced wave, and the place
// of the tool in it, from 1.
[[nodiscard]] std::string tool_name(const Id128& store, PassId pass, std::uint32_t wave,
                                    std::uint32_t step);
// A wave runs at most so many: lists twice, what was cut off, two transactions and holds.
inline constexpr std::uint32_t kMaxToolSteps = 8;
// The folder for outputs in the store's.
inline constexpr std::string_view kToolsFolder = "tools";

struct ToolOrder {
  os::TransientService service;
  std::int64_t limit_ns = 0;  // clock that counts suspend; past it the tool is left running
};

enum class ToolState : std::uint8_t {
  ended,
  still_running,  // past its limit, and not killed
  unknown,        // the manager does not know it: it never began, or the machine went down
};
struct ToolEnd {
  ToolState state = ToolState::unknown;
  bool succeeded = false;
  std::string how;     // it ended, in words; empty for a success
  std::string output;  // bounded; not redacted
  std::uint64_t output_left_out = 0;
};

// The announcement is durable. An error means that it did not begin. The output's file is made,
// 0600, and must not be there yet. Its folder is `folder`, borrowed as all else until the task has
// ended.
[[nodiscard]] loop::Task<Result<ToolEnd>> run_tool(loop::Loop& loop, os::Units& units,
                                                   os::Files& files, const os::Handle& folder,
                                                   ToolOrder order);
// Waits for one that an earlier process began; `limit_ns` from now on.
[[nodiscard]] loop::Task<Result<ToolEnd>> adopt_tool(loop::Loop& loop, os::Units& units,
                                                     os::Files& files, const os::Handle& folder,
                                                     ToolOrder order);
// Once its end is durable: the manager forgets it, and its output goes. Blocks; any thread.
[[nodiscard]] Status forget_tool(os::Units& units, os::Files& files, const os::Handle& folder,
                                 const os::TransientService& service);

}  // namespace datum::engine
