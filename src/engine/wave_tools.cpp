#include "wave_tools.hpp"

#include "co_try.hpp"
#include "running.hpp"

namespace datum::engine {

namespace {

// A tool that a dead process began had this long, and gets it once more: when it began is not known
// for certain (design §11, a package transaction).
constexpr std::int64_t kAdoptedNs = 30 * 60 * kNsPerSecond;

// A manager that is busy with a boot answers late; one that does not answer at all is told of.
constexpr int kMaxAsks = 5;

std::string output_path(const ToolPlace& place, const std::string& name) {
  return place.folder + "/" + std::string(kToolsFolder) + "/" + name + ".out";
}

os::TransientService service_of(const ToolPlace& place, const std::string& name) {
  os::TransientService service;
  service.name = name;
  service.output_path = output_path(place, name);
  return service;
}

std::vector<std::string> names_of(const ToolPlace& place) {
  std::vector<std::string> names;
  for (std::uint32_t step = 1; step <= kMaxToolSteps; ++step)
    names.push_back(tool_name(place.store, place.pass, place.wave, step));
  return names;
}

Result<os::Handle> open_folder(os::Files& files, const std::string& store) {
  DATUM_ASSIGN(const auto parent, files.open_root(store));
  const auto made = files.make_directory(parent, kToolsFolder, 0700);
  if (!made && made.error().code() != ErrorCode::already_exists) return fail(made.error());
  return files.open_directory(parent, kToolsFolder, os::Follow::no);
}

loop::Task<Result<os::Handle>> open_tools(loop::Loop& loop, const resource::Machine& machine,
                                          std::string folder) {
  std::function<Result<os::Handle>()> work = [files = machine.files, folder = std::move(folder)] {
    return open_folder(*files, folder);
  };
  auto opening = loop::run_on<Result<os::Handle>>(loop.pool(), std::move(work));
  co_return co_await opening;
}

resource::ToolStepEnd end_of(const std::string& name, Result<ToolEnd> ended) {
  resource::ToolStepEnd end;
  end.unit = name;
  if (!ended) {
    end.error = std::move(ended).error();
    return end;
  }
  end.still_running = ended->state == ToolState::still_running;
  end.succeeded = ended->succeeded;
  end.how = std::move(ended->how);
  end.output = std::move(ended->output);
  return end;
}

loop::Task<Status> run_step(loop::Loop& loop, const resource::Machine& machine, ToolPlace place,
                            std::uint32_t number, resource::ToolStep step,
                            std::shared_ptr<resource::Wave> wave) {
  const auto name = tool_name(place.store, place.pass, place.wave, number);
  auto opening = open_tools(loop, machine, place.folder);
  auto folder = co_await opening;
  if (!folder) {
    wave->end_step(end_of(name, fail(std::move(folder).error().context("tools"))));
    co_return Status{};
  }
  ToolOrder order;
  order.service = service_of(place, name);
  order.service.description = "Datum: " + step.what;
  order.service.argv = std::move(step.tool.argv);
  order.service.environment = std::move(step.tool.environment);
  order.limit_ns = step.limit_ns;
  auto running = run_tool(loop, *machine.units, *machine.files, *folder, std::move(order));
  auto ended = co_await running;
  wave->end_step(end_of(name, std::move(ended)));
  co_return Status{};
}

}  // namespace

loop::Task<Status> run_wave_tools(loop::Loop& loop, const resource::Machine& machine,
                                  ToolPlace place, std::shared_ptr<resource::Wave> wave,
                                  std::function<bool()> may_go_on,
                                  std::function<std::string()> why) {
  for (std::uint32_t number = 1;;) {
    std::function<std::optional<resource::ToolStep>()> ask = [wave] { return wave->next_step(); };
    auto asking = loop::run_on<std::optional<resource::ToolStep>>(loop.pool(), std::move(ask));
    auto step = co_await asking;
    if (!step) co_return Status{};
    if (!may_go_on()) {
      wave->cancel(why());
      continue;
    }
    if (step->pause_ns > 0) {
      auto pausing = loop::sleep_for(loop, step->pause_ns);
      co_await pausing;
      continue;
    }
    // Never so far: a wave that asks for more would not be found again.
    if (number > kMaxToolSteps) {
      wave->cancel("too many steps");
      continue;
    }
    auto running = run_step(loop, machine, place, number, std::move(*step), wave);
    DATUM_CO_TRY(co_await running);
    ++number;
  }
}

// An ended tool without its name or without its file is forgotten all the same.
static Status forget_ended(const resource::Machine& machine, const ToolPlace& place,
                           const std::vector<std::string>& names) {
  const auto store = machine.files->open_root(place.folder);
  if (!store) return {};
  const auto folder = machine.files->open_directory(*store, kToolsFolder, os::Follow::no);
  if (!folder) return {};  // no tool was ever run
  const auto known = machine.units->query(names, os::kUnitCallNs);
  if (!known) return {};
  for (const auto& unit : *known) {
    if (unit.load_state != "not-found" && os::is_running_tool(unit)) continue;
    const auto service = service_of(place, unit.name);
    static_cast<void>(forget_tool(*machine.units, *machine.files, *folder, service).has_value());
  }
  return {};
}

static loop::Task<Status> forget_all(loop::Loop& loop, const resource::Machine& machine,
                                     ToolPlace place, std::vector<std::string> names) {
  if (machine.units == nullptr) co_return Status{};
  std::function<Status()> work = [&machine, place = std::move(place), names = std::move(names)] {
    return forget_ended(machine, place, names);
  };
  auto forgetting = loop::run_on<Status>(loop.pool(), std::move(work));
  co_return co_await forgetting;
}

loop::Task<Status> forget_wave_tools(loop::Loop& loop, const resource::Machine& machine,
                                     ToolPlace place) {
  auto names = names_of(place);
  auto forgetting = forget_all(loop, machine, std::move(place), std::move(names));
  co_return co_await forgetting;
}

loop::Task<Status> forget_left_tool(loop::Loop& loop, const resource::Machine& machine,
                                    std::string folder, std::string name) {
  ToolPlace place;
  place.folder = std::move(folder);
  std::vector<std::string> names{std::move(name)};
  auto forgetting = forget_all(loop, machine, std::move(place), std::move(names));
  co_return co_await forgetting;
}

ToolPlace tool_place(const Store& store) {
  const auto& state = store.history->state();
  ToolPlace place;
  place.store = state.store;
  place.folder = store.folder;
  if (!state.pass) return place;
  place.pass = state.pass->id;
  place.wave = state.pass->waves;
  return place;
}

loop::Task<Status> Conductor::run_tools(Running& running, std::shared_ptr<resource::Wave> wave) {
  auto place = tool_place(store_);
  std::function<bool()> go_on = [this, &running] { return may_go_on(running); };
  std::function<std::string()> why = [&running] { return running.report.cut_short; };
  auto tools = run_wave_tools(loop_, *machine_, std::move(place), std::move(wave), std::move(go_on),
                              std::move(why));
  co_return co_await tools;
}

static Result<std::optional<std::string>> ask_for_running(os::Units& units,
                                                          const std::vector<std::string>& names) {
  // Without a manager nothing that it had begun is left.
  if (units.find_absence()) return std::optional<std::string>();
  DATUM_ASSIGN(const auto known, units.query(names, os::kUnitCallNs));
  for (const auto& unit : known)
    if (unit.load_state != "not-found" && os::is_running_tool(unit))
      return std::optional<std::string>(unit.name);
  return std::optional<std::string>();
}

loop::Task<Result<std::optional<std::string>>> find_running_tool(loop::Loop& loop,
                                                                 const resource::Machine& machine,
                                                                 ToolPlace place) {
  using Found = Result<std::optional<std::string>>;
  if (machine.units == nullptr) co_return std::optional<std::string>();
  const auto names = names_of(place);
  for (int tries = 1;; ++tries) {
    std::function<Found()> work = [units = machine.units, names] {
      return ask_for_running(*units, names);
    };
    auto looking = loop::run_on<Found>(loop.pool(), std::move(work));
    auto found = co_await looking;
    if (found) co_return found;
    if (tries == kMaxAsks)
      co_return fail(std::move(found).error().context(
          "whether a package tool of the last pass still runs is not known"));
    auto pausing = loop::sleep_for(loop, kNsPerSecond);
    co_await pausing;
  }
}

loop::Task<Result<ToolEnd>> wait_for_tool(loop::Loop& loop, const resource::Machine& machine,
                                          ToolPlace place, std::string name) {
  auto opening = open_tools(loop, machine, place.folder);
  auto folder = co_await opening;
  if (!folder) co_return fail(std::move(folder).error());
  ToolOrder order;
  order.service = service_of(place, name);
  order.limit_ns = kAdoptedNs;
  auto adopting = adopt_tool(loop, *machine.units, *machine.files, *folder, std::move(order));
  co_return co_await adopting;
}

}  // namespace datum::engine
