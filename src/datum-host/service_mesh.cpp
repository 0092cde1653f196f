// The service as a node: its link begins with the store, a declaration that came is accepted
// between two passes, and a person enrols the machine over the socket.
#include <utility>

#include "datum/engine/enrolment.hpp"
#include "datum/program/machine_facts.hpp"
#include "datum/text/terminal.hpp"
#include "datum/uv/uv_network.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

std::vector<std::string> split_blanks(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool is_node(const core::State& state) {
  return state.lifecycle == core::NodeLifecycle::enrolled ||
         state.lifecycle == core::NodeLifecycle::disconnected;
}

Answer enrolment_refusal(const std::string& words) {
  return {"", "datum: " + text::escape_lines(words) + "\n", 1};
}

}  // namespace

bool Service::has_desired() const {
  return configuration_.source.value.has_value() || state().accepted.has_value();
}

// Without a link the machine goes on with what it has accepted.
void Service::begin_mesh() {
  engine::MeshHost host;
  host.status = [this] { return status_now(); };
  host.mode = [this] {
    const auto now = session_.loop->clock().wall_now();
    auto terms = program::terms_of(*session_.files, session_.config_folder, configuration_, now,
                                   std::nullopt);
    program::add_link_hold(terms, state(), now);
    return core::host_mode(terms).mode;
  };
  host.record = [this](const core::Command& command) { record(command); };
  host.changed = [this] { mesh_changed(); };
  host.reconnected = [this] { ask_for_pass(core::Trigger::reconnect); };
  host.tell = [this](const engine::MeshWords& words) { log_mesh(words); };
  host.kept = [this](Seq through) { kept_upstream(through); };
  host.upgrading = [this] { return upgrading_to_; };
  host.most_wait = [this] { return most_wait_for_link(); };
  host.reverted = [this] { return reverted_words(); };
  auto opened =
      engine::MeshNode::open({*session_.loop, session_.store_files(), *store_,
                              uv::make_network(*session_.loop), program::program_version()},
                             std::move(host), configuration_.control.value);
  if (!opened) {
    log_.error("no link: " + opened.error().message());
    return;
  }
  mesh_ = std::move(*opened);
  if (!mesh_) {
    if (is_node(state()))
      record(core::ChangeLifecycle{core::NodeLifecycle::hosted, "its identity is gone",
                                   service_actor()});
    return;
  }
  // Granted and stored, and a death came before the journal was told.
  if (!is_node(state())) record(engine::record_enrolment(mesh_->identity(), service_actor()));
  accept_due_ = true;  // what was stored before this start
  mesh_->start();
}

void Service::log_mesh(const engine::MeshWords& words) {
  using Weight = engine::MeshWords::Weight;
  const auto priority = words.weight == Weight::error     ? Priority::error
                        : words.weight == Weight::warning ? Priority::warning
                                                          : Priority::notice;
  std::vector<LogField> fields;
  if (!words.event.empty()) fields.push_back({"DATUM_EVENT", words.event});
  if (!words.address.empty()) fields.push_back({"DATUM_ADDRESS", words.address});
  log_.write(priority, words.text, fields);
}

void Service::mesh_changed() {
  const auto& now = state();
  const bool is_waiting = now.stored && now.stored != now.accepted;
  // An undoing that has begun comes to its end first.
  if (is_waiting && conductor_ != nullptr && !has_guard(engine::GuardStand::undoing))
    conductor_->stop_request().stop("a newer declaration waits", core::Interruption::superseded);
  accept_due_ = accept_due_ || is_waiting;
  tell_status();
  wake();
}

loop::Task<bool> Service::accept_declaration() {
  auto accepting = mesh_->accept();
  const auto accepted = co_await accepting;
  if (!accepted) {
    log_.error("the declaration that came is not accepted: " + accepted.error().message());
    co_return false;
  }
  const auto& id = *state().accepted;
  log_.write(Priority::notice, "declaration " + engine::generation_text(id) + " is accepted",
             {{"DATUM_EVENT", "declarationAccepted"}});
  auto guarding = begin_guard();
  co_await guarding;
  due_ = core::Trigger::declaration;
  co_return true;
}

// Off the loop: a manifest of thousands of resources takes a while to read.
loop::Task<Result<program::Desired>> Service::load_accepted() {
  using Loaded = Result<engine::AcceptedDeclaration>;
  auto* const blobs = store_->blobs.get();
  if (blobs == nullptr) co_return fail(ErrorCode::unavailable, "nothing can be recorded");
  std::function<Loaded()> work = [this, blobs, id = *state().accepted] {
    return engine::read_accepted(session_.store_files(), session_.state_folder, *blobs, id);
  };
  auto loading = loop::run_on<Loaded>(*reader_, std::move(work));
  auto loaded = co_await loading;
  if (!loaded) co_return fail(std::move(loaded).error().context("the accepted declaration"));
  allowed_removals_ = loaded->body.allowed_removals;
  program::Desired desired;
  desired.manifest = std::move(loaded->manifest);
  // The store outlives every pass.
  desired.content = std::shared_ptr<const ContentSource>(std::shared_ptr<void>(), blobs);
  desired.provenance = std::move(loaded->body.provenance);
  if (desired.provenance.source.empty()) desired.provenance.source = "link";
  co_return desired;
}

void Service::answer_enrol(Asked asked, const Reply& reply) {
  if (enrolling_) return reply(enrolment_refusal("an enrolment is under way"));
  enrolling_ = Manual{std::move(asked), reply};
  wake();
}

loop::Task<bool> Service::end_mesh(std::string why) {
  if (!mesh_) co_return true;
  mesh_->say_goodbye(why);
  auto quieting = mesh_->be_quiet();
  co_await quieting;
  mesh_.reset();
  co_return true;
}

loop::Task<bool> Service::enrol(Manual manual) {
  const auto& request = manual.asked.request;
  auto addresses = split_blanks(request.control);
  if (addresses.empty()) addresses = configuration_.control.value;
  auto plan = engine::make_enrolment_plan(request.token, addresses);
  if (!plan) {
    manual.reply(enrolment_refusal(plan.error().message()));
    co_return false;
  }
  plan->wanted_name = request.name;
  plan->new_key = request.new_key;
  plan->version = program::program_version();
  plan->actor = program::person(manual.asked.peer.uid, request.command_line);
  std::function<bool()> gather = [this, &facts = *plan] {
    facts.profile = program::machine_profile(*session_.files, session_.root);
    facts.inventory = program::machine_inventory(*session_.loop, *session_.files, session_.root,
                                                 session_.root_path);
    return true;
  };
  auto gathering = loop::run_on<bool>(session_.loop->pool(), std::move(gather));
  co_await gathering;
  if (request.new_key) {
    auto ending = end_mesh("enrolled anew");
    co_await ending;
  }
  const auto network = uv::make_network(*session_.loop);
  auto enrolling = engine::enrol(*session_.loop, *network, session_.store_files(), *store_,
                                 std::move(*plan), !request.retry);
  const auto end = co_await enrolling;
  manual.reply(answer_of_enrolment(end));
  if (end && std::holds_alternative<engine::Enrolled>(*end)) {
    auto ending = end_mesh("enrolled anew");
    co_await ending;
    begin_mesh();
  }
  if (!guard_) {
    auto guarding = begin_guard();
    co_await guarding;
  }
  tell_status();
  co_return true;
}

Answer Service::answer_of_enrolment(const Result<engine::EnrolmentEnd>& end) {
  if (!end) return enrolment_refusal(end.error().message());
  if (const auto* enrolled = std::get_if<engine::Enrolled>(&*end)) {
    log_.notice("enrolled: " + enrolled->identity.node + " in " + enrolled->identity.mesh);
    return {"enrolled: " + enrolled->identity.node + " in " + enrolled->identity.mesh + "\n", "",
            0};
  }
  if (const auto* refused = std::get_if<engine::EnrolmentRefused>(&*end))
    return enrolment_refusal("refused (" + std::string(core::to_string(refused->cause)) +
                             "): " + refused->why + "\n" + refused->remedy);
  return {"", "", kBusyExit};
}

}  // namespace datum::host
