// enrol: this machine becomes a node of a mesh. Through the service where it has the store, else by
// itself; the steps are the same. The token is shown to the control plane and to nobody else.
#include <cstdio>
#include <cstdlib>

#include "commands.hpp"
#include "datum/config/configuration.hpp"
#include "datum/crypto/certificate.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/enrolment.hpp"
#include "datum/link/backoff.hpp"
#include "datum/program/machine_facts.hpp"
#include "datum/program/process.hpp"
#include "datum/program/run_task.hpp"
#include "datum/program/session.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "datum/uv/uv_network.hpp"
#include "desired.hpp"
#include "print.hpp"
#include "service_client.hpp"

namespace datum::program {
namespace {

constexpr int kWaits = 3;
// A token is 101 letters; a file with more is no token's.
constexpr std::size_t kMaxTokenFile = 4096;
constexpr const char* kCredential = "datum-token";
// Between two questions whether a person has decided, where the control plane says nothing of it.
constexpr std::int64_t kAskAgainNs = 10 * kNsPerSecond;

Result<std::string> read_token_file(const std::string& path) {
  const bool is_stdin = path == "-";
  std::FILE* file = is_stdin ? stdin : std::fopen(path.c_str(), "re");
  if (file == nullptr) return fail(error_from_errno(errno, path));
  std::string text(kMaxTokenFile + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  if (!is_stdin) std::fclose(file);
  if (text.size() <= kMaxTokenFile) return text;
  crypto::wipe(text);
  return fail(ErrorCode::invalid_argument, path + " holds more than a token");
}

// The argument, a file, or what the service manager hands over.
Result<std::string> read_token(const Arguments& arguments) {
  if (!arguments.token.empty()) return arguments.token;
  if (!arguments.token_file.empty()) return read_token_file(arguments.token_file);
  if (!arguments.credentials.empty())
    return read_token_file(arguments.credentials + "/" + kCredential);
  return fail(ErrorCode::invalid_argument,
              "datum enrol: give the token, --from-file FILE, or the credential datum-token");
}

std::int64_t ask_again_after(std::int64_t not_before_ns) {
  Bytes bits(8);
  crypto::fill_random(bits);
  const auto random = load_le<std::uint64_t>(bits.data());
  return link::wait_before_retry({3, 0, not_before_ns > 0 ? not_before_ns : kAskAgainNs, 0},
                                 random);
}

void pause_for(Session& session, std::int64_t delay_ns) {
  auto& loop = *session.loop;
  const auto wait = [](loop::Loop& its_loop, std::int64_t ns) -> loop::Task<bool> {
    auto sleeping = loop::sleep_for(its_loop, ns);
    co_return co_await sleeping;
  };
  run_task(loop, wait(loop, delay_ns));
}

void tell_waiting(const Arguments& arguments) {
  if (arguments.once) return;
  print("a person decides at the control plane; this command asks again until then\n");
  std::fflush(stdout);
}

int tell_end(const engine::EnrolmentEnd& end) {
  if (const auto* enrolled = std::get_if<engine::Enrolled>(&end)) {
    const auto& identity = enrolled->identity;
    print("enrolled: " + identity.node + " in " + identity.mesh +
          (enrolled->was_already ? " (granted before)\n" : "\n"));
    return 0;
  }
  const auto& refused = std::get<engine::EnrolmentRefused>(end);
  std::fprintf(stderr, "datum: refused (%s): %s\n%s\n",
               std::string(core::to_string(refused.cause)).c_str(),
               text::escape_lines(refused.why).c_str(), text::escape_lines(refused.remedy).c_str());
  return 1;
}

loop::Task<bool> gather(Session& session, engine::EnrolmentPlan& plan) {
  std::function<bool()> work = [&session, &plan] {
    plan.profile = machine_profile(*session.files, session.root);
    plan.inventory =
        machine_inventory(*session.loop, *session.files, session.root, session.root_path);
    return true;
  };
  auto gathering = loop::run_on<bool>(session.loop->pool(), std::move(work));
  co_return co_await gathering;
}

Result<int> enrol_here(const Arguments& arguments, Session& session, engine::Store& store,
                       engine::EnrolmentPlan plan) {
  run_task(*session.loop, gather(session, plan));
  const auto network = uv::make_network(*session.loop);
  for (bool is_first = true;; is_first = false) {
    auto end = run_task(*session.loop, engine::enrol(*session.loop, *network, *session.files, store,
                                                     plan, is_first));
    if (!end) return fail(std::move(end).error());
    plan.new_key = false;  // it is made
    const auto* waits = std::get_if<engine::EnrolmentWaits>(&*end);
    if (waits == nullptr) return tell_end(*end);
    if (is_first) tell_waiting(arguments);
    if (arguments.once) return kWaits;
    pause_for(session, ask_again_after(waits->not_before_ns));
  }
}

Result<int> enrol_through_service(const Arguments& arguments, Session& session,
                                  const std::string& token,
                                  const std::vector<std::string>& addresses) {
  for (bool is_first = true;; is_first = false) {
    DATUM_ASSIGN(auto request, make_local_request(arguments, host::LocalVerb::enrol));
    request.token = token;
    for (const auto& address : addresses)
      request.control += (request.control.empty() ? "" : " ") + address;
    request.name = arguments.wanted_name;
    request.new_key = arguments.new_key && is_first;
    request.retry = !is_first;
    DATUM_ASSIGN(const int code, ask_service(arguments, std::move(request), {}));
    if (code != kWaits || arguments.once) return code;
    if (is_first) tell_waiting(arguments);
    pause_for(session, ask_again_after(0));
  }
}

Result<int> run_enrol(const Arguments& arguments) {
  if (!arguments.wanted_name.empty() && !crypto::is_name(arguments.wanted_name))
    return fail(ErrorCode::invalid_argument,
                "--name " + arguments.wanted_name + ": 1 to 63 of a-z, 0-9, '-', '.', '_'");
  DATUM_ASSIGN(auto session, open_session(arguments));
  DATUM_ASSIGN(const auto configuration, read_config(*session.files, session.config_folder));
  auto addresses = arguments.controls.empty() ? configuration.control.value : arguments.controls;
  DATUM_ASSIGN(auto token, read_token(arguments));
  DATUM_ASSIGN(auto plan, engine::make_enrolment_plan(token, addresses));
  plan.wanted_name = arguments.wanted_name;
  plan.version = program_version();
  plan.actor = current_actor(arguments);
  plan.new_key = arguments.new_key;
  engine::StoreBinding binding{session.root_path, host_name(configuration.host.value.value_or("")),
                               "local", program_version(), trusted_uid()};
  binding.is_own_name = !configuration.host.value;
  binding.wanted_node = arguments.wanted_name;
  auto store =
      engine::open_store(*session.loop, session.store_files(), session.state_folder, binding);
  Result<int> code = 1;
  if (!store && store.error().code() == ErrorCode::busy) {
    code = enrol_through_service(arguments, session, token, addresses);
    if (!code && code.error().code() == ErrorCode::not_found) code = fail(store.error());
  } else if (!store) {
    code = fail(with_remedy(store.error(), session.state_folder));
  } else {
    code = enrol_here(arguments, session, *store, std::move(plan));
    // A pass that was cut off leaves its store open, for whoever ends it; all that was told is
    // durable.
    const bool may_close = store->history->healthy() && !store->history->state().pass;
    if (auto closed = may_close ? close_store(session, *store) : Status{}; !closed && code)
      code = fail(std::move(closed).error());
  }
  crypto::wipe(token);
  return code;
}

}  // namespace

int enrol_command(const Arguments& arguments) {
  survive_lost_peers();
  return finish(run_enrol(arguments));
}

}  // namespace datum::program
