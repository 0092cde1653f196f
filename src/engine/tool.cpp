#include "datum/engine/tool.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include "co_try.hpp"
#include "datum/loop/output.hpp"

namespace datum::engine {

namespace {

// Tools take from a tenth of a second to half an hour: looked at often at first, then once a
// second.
constexpr std::int64_t kFirstPollNs = 50 * kNsPerMs;
constexpr std::int64_t kLastPollNs = kNsPerSecond;

std::string_view last_component(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

Result<os::Unit> look(os::Units& units, const std::string& name) {
  const std::vector<std::string> names{name};
  DATUM_ASSIGN(auto seen, units.query(names, os::kUnitCallNs));
  if (!seen.front().problem.empty()) return fail(ErrorCode::io_error, seen.front().problem);
  return std::move(seen.front());
}

Status begin(os::Units& units, os::Files& files, const os::Handle& folder,
             const os::TransientService& service) {
  const std::string name(last_component(service.output_path));
  DATUM_ASSIGN(const auto made, files.create_file(folder, name));
  DATUM_TRY(files.set_mode(made, 0600));
  return units.start_transient(service, os::kUnitCallNs);
}

// What it wrote, as far as it can be read: the end itself does not hang on it.
void read_output(os::Files& files, const os::Handle& folder, const std::string& path,
                 ToolEnd& end) {
  const auto file = files.open_file(folder, last_component(path), os::Access::read);
  if (!file) return;
  loop::BoundedOutput output(kToolOutput);
  auto buffer = std::make_unique<std::byte[]>(kToolOutput);
  for (;;) {
    const auto count = files.read(*file, {buffer.get(), kToolOutput});
    if (!count || *count == 0) break;
    output.add(as_text(ByteView(buffer.get(), *count)));
  }
  end.output = output.text();
  end.output_left_out = output.left_out();
}

ToolEnd end_of(const os::Unit& unit) {
  ToolEnd end;
  if (unit.load_state == "not-found") return end;
  end.state = ToolState::ended;
  end.succeeded = unit.result == "success" && unit.exit_status == 0;
  if (!end.succeeded) end.how = os::describe_end(unit);
  return end;
}

}  // namespace

std::string tool_name(const Id128& store, PassId pass, std::uint32_t wave, std::uint32_t step) {
  return "datum-" + store.hex().substr(0, 16) + "-" + std::to_string(pass) + "-" +
         std::to_string(wave) + "-" + std::to_string(step) + ".service";
}

loop::Task<Result<ToolEnd>> adopt_tool(loop::Loop& loop, os::Units& units, os::Files& files,
                                       const os::Handle& folder, ToolOrder order) {
  const auto began = loop.clock().boot_now();
  std::int64_t pause_ns = kFirstPollNs;
  for (;;) {
    std::function<Result<os::Unit>()> ask = [&units, name = order.service.name] {
      return look(units, name);
    };
    auto asking = loop::run_on<Result<os::Unit>>(loop.pool(), std::move(ask));
    auto seen = co_await asking;
    const bool late = loop.clock().boot_now().ns - began.ns >= order.limit_ns;
    // A manager that does not answer now may answer next time.
    if (!seen && late) co_return fail(std::move(seen).error());
    if (seen && !os::is_running_tool(*seen)) {
      std::function<ToolEnd()> read = [&files, &folder, unit = *seen,
                                       path = order.service.output_path] {
        auto end = end_of(unit);
        read_output(files, folder, path, end);
        return end;
      };
      auto reading = loop::run_on<ToolEnd>(loop.pool(), std::move(read));
      co_return co_await reading;
    }
    if (late) {
      ToolEnd running;
      running.state = ToolState::still_running;
      co_return running;
    }
    auto sleeping = loop::sleep_for(loop, pause_ns);
    co_await sleeping;
    pause_ns = std::min(pause_ns * 2, kLastPollNs);
  }
}

loop::Task<Result<ToolEnd>> run_tool(loop::Loop& loop, os::Units& units, os::Files& files,
                                     const os::Handle& folder, ToolOrder order) {
  std::function<Status()> start = [&units, &files, &folder, service = order.service] {
    return begin(units, files, folder, service);
  };
  auto starting = loop::run_on<Status>(loop.pool(), std::move(start));
  auto started = co_await starting;
  // An answer that was not seen says nothing: it is looked for by its name.
  if (!started && started.error().code() != ErrorCode::timed_out)
    co_return fail(std::move(started).error().context(order.service.argv.front()));
  auto adopting = adopt_tool(loop, units, files, folder, std::move(order));
  co_return co_await adopting;
}

Status forget_tool(os::Units& units, os::Files& files, const os::Handle& folder,
                   const os::TransientService& service) {
  DATUM_TRY(units.forget(service.name, os::kUnitCallNs));
  auto removed = files.remove_file(folder, last_component(service.output_path));
  if (!removed && removed.error().code() != ErrorCode::not_found)
    return fail(std::move(removed).error());
  return {};
}

}  // namespace datum::engine
