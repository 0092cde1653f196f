// os::Units over systemd's D-Bus interface (org.freedesktop.systemd1(5)). Owns the connection,
// makes it anew after a fault, and lets one thread at a time use it. Judges no state.
#include "datum/os_linux/linux_units.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "bus.hpp"
#include "unit_properties.hpp"

namespace datum::os_linux {

namespace {

Deadline after(std::int64_t limit_ns) {
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(limit_ns);
}

const char* method_of(os::UnitJob job) {
  switch (job) {
    case os::UnitJob::start:
      return "StartUnit";
    case os::UnitJob::stop:
      return "StopUnit";
    case os::UnitJob::restart:
      return "RestartUnit";
    case os::UnitJob::reload:
      return "ReloadUnit";
  }
  return "";
}

// A program that ends at once may have ended before its start was noted. From 200 on the manager's
// own child says what it could not do before the program (systemd.exec(5)).
bool has_run(const os::Unit& unit) {
  constexpr std::int32_t kExited = 1;  // CLD_EXITED
  constexpr std::int32_t kFirstOfManager = 200;
  return unit.exit_code != 0 && (unit.exit_code != kExited || unit.exit_status < kFirstOfManager);
}

class LinuxUnits final : public os::Units {
 public:
  std::optional<std::string> find_absence() override {
    const std::lock_guard guard(mutex_);
    return absence();
  }

  Result<std::vector<os::Unit>> query(std::span<const std::string> names,
                                      std::int64_t limit_ns) override {
    const std::lock_guard guard(mutex_);
    const auto deadline = after(limit_ns);
    DATUM_TRY(connect(deadline));
    return query_units(*bus_, names, deadline);
  }

  Result<std::string> run_job(const std::string& name, os::UnitJob job,
                              std::int64_t limit_ns) override {
    const std::lock_guard guard(mutex_);
    const auto deadline = after(limit_ns);
    DATUM_TRY(connect(deadline));
    DATUM_ASSIGN(auto call, manager_call(method_of(job)));
    call.add(name).add(std::string("replace"));
    return wait_for(std::move(call), deadline);
  }

  Status change_file(const std::string& name, os::UnitFileChange change,
                     std::int64_t limit_ns) override {
    const std::lock_guard guard(mutex_);
    const auto deadline = after(limit_ns);
    DATUM_TRY(connect(deadline));
    const bool lasting_only =
        change == os::UnitFileChange::disable || change == os::UnitFileChange::unmask;
    static constexpr const char* kMethods[] = {"EnableUnitFiles", "DisableUnitFiles",
                                               "MaskUnitFiles", "UnmaskUnitFiles"};
    DATUM_ASSIGN(auto call, manager_call(kMethods[static_cast<std::size_t>(change)]));
    call.add_list({name}).add(false);   // not for this boot alone
    if (!lasting_only) call.add(true);  // other links in the way are replaced
    DATUM_TRY(bus_->call(std::move(call), deadline));
    return {};
  }

  Status reload_manager(std::int64_t limit_ns) override {
    const std::lock_guard guard(mutex_);
    const auto deadline = after(limit_ns);
    DATUM_TRY(connect(deadline));
    DATUM_ASSIGN(auto call, manager_call("Reload"));
    DATUM_TRY(bus_->call(std::move(call), deadline));
    return {};
  }

  Status start_transient(const os::TransientService& service, std::int64_t limit_ns) override {
    const std::lock_guard guard(mutex_);
    const auto deadline = after(limit_ns);
    DATUM_TRY(connect(deadline));
    DATUM_ASSIGN(auto call, manager_call("StartTransientUnit"));
    write_transient(call, service);
    DATUM_ASSIGN(const auto ended, wait_for(std::move(call), deadline));
    if (ended == "done") return {};
    const std::vector<std::string> names{service.name};
    DATUM_ASSIGN(const auto units, query_units(*bus_, names, deadline));
    if (has_run(units.front())) return {};
    return fail(ErrorCode::io_error,
                service.argv.front() + " could not be started: " + os::describe_end(units.front()));
  }

  Status forget(const std::string& name, std::int64_t limit_ns) override {
    const std::lock_guard guard(mutex_);
    const auto deadline = after(limit_ns);
    DATUM_TRY(connect(deadline));
    const std::vector<std::string> names{name};
    DATUM_ASSIGN(const auto units, query_units(*bus_, names, deadline));
    const auto& unit = units.front();
    if (unit.load_state == "not-found") return {};
    if (os::is_running_tool(unit)) return fail(ErrorCode::conflict, name + " is running");
    if (unit.active_state == "active") {
      DATUM_ASSIGN(auto stop, manager_call("StopUnit"));
      stop.add(name).add(std::string("replace"));
      DATUM_TRY(wait_for(std::move(stop), deadline));
    }
    DATUM_ASSIGN(auto reset, manager_call("ResetFailedUnit"));
    reset.add(name);
    auto done = bus_->call(std::move(reset), deadline);
    if (!done && done.error().code() != ErrorCode::not_found) return fail(std::move(done).error());
    return {};
  }

 private:
  // sd_booted(3): this folder is there where systemd is process 1.
  std::optional<std::string> absence() {
    struct stat stat {};
    if (::lstat("/run/systemd/system", &stat) != 0 || !S_ISDIR(stat.st_mode))
      return "systemd does not run here";
    if (library_) return {};
    auto library = load_bus_library();
    if (!library) return "libsystemd is missing: " + library.error().message();
    library_ = std::make_unique<const BusLibrary>(*library);
    return {};
  }

  Status connect(Deadline deadline) {
    if (auto why = absence()) return fail(ErrorCode::unavailable, std::move(*why));
    if (bus_ && !bus_->broken()) return {};
    bus_.reset();
    DATUM_ASSIGN(bus_, Bus::open(*library_, deadline));
    return {};
  }

  Result<Message> manager_call(const char* method) {
    return bus_->make_call(kManagerPath, kManagerInterface, method);
  }

  Result<std::string> wait_for(Message call, Deadline deadline) {
    DATUM_ASSIGN(auto reply, bus_->call(std::move(call), deadline));
    const auto job = reply.read_text('o');
    DATUM_TRY(reply.status());
    return bus_->wait_for_job(job, deadline);
  }

  std::mutex mutex_;
  std::unique_ptr<const BusLibrary> library_;  // before the bus: its functions end it
  std::unique_ptr<Bus> bus_;
};

}  // namespace

std::unique_ptr<os::Units> make_units() {
  return std::make_unique<LinuxUnits>();
}

}  // namespace datum::os_linux
