#include "sim_node.hpp"

#include <utility>

#include "datum/history/events.hpp"
#include "datum/os/accounts.hpp"
#include "sim_plane.hpp"

namespace datum::simulation {
namespace {

constexpr std::int64_t kEnrolAgainNs = 20 * kNsPerSecond;

core::Actor host_actor() {
  return {core::ActorKind::service, "datum-host", 0, ""};
}

// What an accepted declaration names lies in the store's blobs.
std::shared_ptr<const ContentSource> content_of(const engine::Store& store) {
  return {std::shared_ptr<void>(), store.blobs.get()};
}

}  // namespace

NodeShell::NodeShell(NodeSite& site, NodeGround ground, Watch watch)
    : site_(site),
      ground_(std::move(ground)),
      loop_(ground_.loop),
      watch_(std::move(watch)),
      beat_(loop_.make_timer()),
      enrol_again_(loop_.make_timer()) {
  site_.files.set_before_call([this](support::Call call, std::string_view name) {
    if (watch_.on_call) watch_.on_call(call, name);
  });
}

NodeShell::~NodeShell() {
  watch_ = {};
  task_.reset();
  mesh_.reset();
  conductor_.reset();
  enrolling_over_.reset();
  root_ = {};
  store_.blobs.reset();
  store_.history.reset();
  site_.files.set_before_call({});
  site_.files.end_process();
  site_.unlock_journal();
}

NodeLoop::NodeLoop(NodeSite& site, BootNs now) : own_loop(site.random()) {
  own_loop.set_boot_id(site.boot);
  own_loop.advance_to(now);
  own_loop.jump_wall(site.wall_offset_ns);
}

NodeProcess::NodeProcess(NodeSite& site, support::SimNetwork& network, BootNs now, Watch watch)
    : NodeLoop(site, now),
      NodeShell(site,
                {own_loop, [&network, name = site.name] { return network.machine(name); },
                 std::string(kPlaneName) + ":" + std::to_string(kPlanePort)},
                std::move(watch)) {}

NodeProcess::~NodeProcess() {
  own_loop.kill();
}

bool NodeShell::has_failed() const {
  return !has_store() || !history().healthy() || (task_ && task_->done());
}

Status NodeShell::open() {
  DATUM_ASSIGN(auto log, site_.open_journal());
  DATUM_ASSIGN(auto history, history::History::open(loop_, std::move(log)));
  engine::StoreBinding binding{"/", site_.name, "local", "1", {}};
  binding.is_own_name = true;
  binding.wanted_node = site_.name;
  binding.fill_random = [this](MutableByteView out) {
    for (auto& byte : out) byte = static_cast<std::byte>(site_.random());
  };
  DATUM_ASSIGN(store_,
               engine::open_store_over(loop_, site_.files, kStore, std::move(history), binding));
  DATUM_ASSIGN(root_, site_.files.open_root("/"));
  accounts_ = os::read_accounts(site_.files, root_);
  return {};
}

Status NodeShell::start() {
  if (const auto opened = open(); !opened) {
    store_ = {};
    return opened;
  }
  if (state().lifecycle == core::NodeLifecycle::unmanaged)
    record(core::ChangeLifecycle{core::NodeLifecycle::hosted, "the service started", host_actor()});
  begin_mesh();
  due_ = core::Trigger::start;
  // A place of its own in the beat for each.
  beat_->start(1 + static_cast<std::int64_t>(site_.draw(ground_.beat_ns)), ground_.beat_ns, [this] {
    if (!due_) due_ = core::Trigger::timer;
    wake();
  });
  task_.emplace(live());
  loop_.post([this] { task_->start(); });
  return {};
}

void NodeShell::record(const core::Command& command) {
  if (history().healthy()) static_cast<void>(store_.history->execute(command));
}

core::ModeTerms NodeShell::terms() {
  core::ModeTerms terms;
  terms.configured = site_.mode;
  terms.held = site_.held;
  const auto& link = state().link_hold;
  const auto now = loop_.clock().wall_now();
  if (link && (link->until.ns == 0 || link->until > now)) terms.held = true;
  return terms;
}

core::HostStatus NodeShell::status() {
  core::StatusInput now{loop_.clock().wall_now(), loop_.clock().boot_now(),
                        loop_.clock().boot_id()};
  now.timer_period_ns = ground_.beat_ns;
  now.timer_expected = state().accepted.has_value();
  return core::compute_status(state(), now);
}

engine::MeshHost NodeShell::mesh_host() {
  engine::MeshHost host;
  host.status = [this] { return status(); };
  host.mode = [this] { return core::host_mode(terms()).mode; };
  host.record = [this](const core::Command& command) { record(command); };
  host.changed = [this] {
    const auto& now = state();
    const bool waits = now.stored && now.stored != now.accepted;
    if (waits && conductor_)
      conductor_->stop_request().stop("a newer declaration waits", core::Interruption::superseded);
    accept_due_ = accept_due_ || waits;
    wake();
  };
  host.reconnected = [this] {
    if (!due_) due_ = core::Trigger::reconnect;
    wake();
  };
  host.tell = [](const engine::MeshWords&) {};
  return host;
}

void NodeShell::begin_mesh() {
  auto opened = engine::MeshNode::open({loop_, site_.files, store_, ground_.make_network(), "1"},
                                       mesh_host(), {});
  if (!opened) return;
  mesh_ = std::move(*opened);
  if (!mesh_) return;
  const auto lifecycle = state().lifecycle;
  if (lifecycle != core::NodeLifecycle::enrolled && lifecycle != core::NodeLifecycle::disconnected)
    record(engine::record_enrolment(mesh_->identity(), host_actor()));
  accept_due_ = true;
  mesh_->start();
}

void NodeShell::look_again() {
  enrol_due_ = true;
  if (!due_) due_ = core::Trigger::manual;
  wake();
}

loop::Wait<bool> NodeShell::wait_for_work() {
  return loop::Wait<bool>([this](std::function<void(bool)> resume) { wake_ = std::move(resume); });
}

void NodeShell::wake() {
  if (!wake_) return;
  loop_.post([resume = std::exchange(wake_, nullptr)] { resume(true); });
}

loop::Task<bool> NodeShell::live() {
  while (history().healthy()) {
    if (!mesh_ && !site_.token.empty() && std::exchange(enrol_due_, false)) {
      auto enrolling = enrol();
      co_await enrolling;
    } else if (std::exchange(accept_due_, false) && mesh_ && mesh_->has_stored()) {
      auto accepting = mesh_->accept();
      const auto accepted = co_await accepting;
      if (!accepted) continue;
      if (watch_.on_accepted) watch_.on_accepted(*state().accepted);
      due_ = core::Trigger::declaration;
    } else if (due_) {
      auto passing = pass(*std::exchange(due_, std::nullopt));
      co_await passing;
    } else {
      auto waiting = wait_for_work();
      co_await waiting;
    }
  }
  co_return true;
}

loop::Task<bool> NodeShell::enrol() {
  enrol_again_->start(kEnrolAgainNs, 0, [this] {
    enrol_due_ = true;
    wake();
  });
  auto plan = engine::make_enrolment_plan(site_.token, {ground_.control});
  if (!plan) co_return false;
  plan->wanted_name = site_.name;
  plan->version = "1";
  plan->profile = {{"hostname", site_.name}, {"datum/os", "debian"}};
  plan->actor = {core::ActorKind::person, "root", 0, "datum enrol"};
  enrolling_over_ = ground_.make_network();
  auto enrolling = engine::enrol(loop_, *enrolling_over_, site_.files, store_, std::move(*plan),
                                 !std::exchange(has_asked_, true));
  const auto end = co_await enrolling;
  if (!end || !std::holds_alternative<engine::Enrolled>(*end)) co_return false;
  begin_mesh();
  co_return true;
}

engine::PassRequest NodeShell::make_request(const engine::AcceptedDeclaration& declared,
                                            core::Trigger trigger) {
  engine::PassRequest request;
  request.manifest = declared.manifest;
  request.content = content_of(store_);
  request.trigger = trigger;
  request.actor = host_actor();
  request.version = "1";
  request.provenance = declared.body.provenance;
  request.declaration = *state().accepted;
  request.limits.allowed = declared.body.allowed_removals;
  request.read_terms = [this] { return terms(); };
  return request;
}

loop::Task<Status> NodeShell::wait_durable() {
  std::function<void(std::function<void(Status)>)> begin =
      [this](std::function<void(Status)> resume) {
        store_.history->when_durable(state().seq, std::move(resume));
      };
  auto wait = loop::wait_for<Status>(std::move(begin));
  co_return co_await wait;
}

// As the service's: a dead pass is ended first, then the accepted declaration is carried out.
loop::Task<bool> NodeShell::pass(core::Trigger trigger) {
  if (!state().accepted) co_return false;
  auto declared = engine::read_accepted(site_.files, kStore, *store_.blobs, *state().accepted);
  if (!declared) {
    if (watch_.on_failed_pass) watch_.on_failed_pass(declared.error().message());
    co_return false;
  }
  auto machine = std::make_shared<resource::Machine>();
  machine->files = &site_.files;
  machine->root = &root_;
  machine->root_path = "/";
  machine->accounts = accounts_.get();
  machine->units = &site_.units;
  const auto content = content_of(store_);
  machine->content = content.get();
  machine->sensitive_key = store_.sensitive_key;
  conductor_ = std::make_unique<engine::Conductor>(loop_, store_, machine);
  auto recovering = conductor_->recover([this] { return terms(); }, declared->manifest,
                                        state().accepted->manifest);
  const auto recovered = co_await recovering;
  if (recovered) {
    auto running = conductor_->run(make_request(*declared, trigger));
    const auto ran = co_await running;
    auto waiting = wait_durable();
    const auto durable = co_await waiting;
    if (!ran && watch_.on_failed_pass) watch_.on_failed_pass(ran.error().message());
    if (ran && durable && watch_.on_pass) watch_.on_pass(*declared->manifest, *ran);
    if (ran && durable && mesh_ && ran->pass != 0 && ran->cut_short.empty())
      mesh_->applied(ran->pass);
  }
  conductor_.reset();
  if (mesh_ && history().healthy()) mesh_->report();
  co_return true;
}

}  // namespace datum::simulation
