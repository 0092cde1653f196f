// Tools of waves: run one after another under names that follow from the journal's announcement,
// and found again by these names after a death. They decide nothing. Internal to engine.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datum/engine/store.hpp"
#include "datum/engine/tool.hpp"
#include "datum/resource/wave.hpp"

namespace datum::engine {

// The announcement that the tools belong to, and where their output goes.
struct ToolPlace {
  Id128 store;
  PassId pass = 0;
  std::uint32_t wave = 0;
  std::string folder;  // of the store
};

// Of the wave that was announced last.
[[nodiscard]] ToolPlace tool_place(const Store& store);

// Asks the wave for steps until it has none. Before each, `may_go_on` is asked; where it may not,
// the wave is cancelled for `why`.
[[nodiscard]] loop::Task<Status> run_wave_tools(loop::Loop& loop, const resource::Machine& machine,
                                                ToolPlace place,
                                                std::shared_ptr<resource::Wave> wave,
                                                std::function<bool()> may_go_on,
                                                std::function<std::string()> why);

// Once the ends of the wave's actions are durable: the manager forgets its tools, and their output
// goes. What cannot be forgotten now is looked for by nobody: its name is never used again.
[[nodiscard]] loop::Task<Status> forget_wave_tools(loop::Loop& loop,
                                                   const resource::Machine& machine,
                                                   ToolPlace place);
// The same of one tool by its name, from a store's folder.
[[nodiscard]] loop::Task<Status> forget_left_tool(loop::Loop& loop,
                                                  const resource::Machine& machine,
                                                  std::string folder, std::string name);

// The name of the dead wave's tool that still runs; nothing if none does, or no manager runs here.
// An error: the manager did not say, so nothing may be claimed of the wave.
[[nodiscard]] loop::Task<Result<std::optional<std::string>>> find_running_tool(
    loop::Loop& loop, const resource::Machine& machine, ToolPlace place);
// Until that one has ended, or its limit is reached: then it is told as still running.
[[nodiscard]] loop::Task<Result<ToolEnd>> wait_for_tool(loop::Loop& loop,
                                                        const resource::Machine& machine,
                                                        ToolPlace place, std::string name);

}  // namespace datum::engine
