#include "datum/engine/mesh_node.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "datum/base/rfc3339.hpp"
#include "datum/codec/link.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/order_taker.hpp"
#include "datum/history/archive.hpp"
#include "datum/history/transfer.hpp"

namespace datum::engine {
namespace {

// Clocks that are further apart are told: certificates and times in reports suffer first.
constexpr std::int64_t kClockApartNs = 60 * kNsPerSecond;

std::uint64_t random_bits() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  crypto::fill_random(bytes);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

std::vector<loop::Address> find_addresses(const std::vector<std::string>& texts) {
  std::vector<loop::Address> addresses;
  for (const auto& text : texts)
    if (auto address = loop::find_address(text)) addresses.push_back(std::move(*address));
  return addresses;
}

}  // namespace

Result<std::unique_ptr<MeshNode>> MeshNode::open(MeshGround ground, MeshHost host,
                                                 const std::vector<std::string>& addresses) {
  const IdentityFiles files(ground.files, ground.store.folder);
  DATUM_ASSIGN(auto identity, files.read());
  if (!identity) return std::unique_ptr<MeshNode>();
  DATUM_ASSIGN(auto key, files.read_key());
  auto found = find_addresses(addresses.empty() ? identity->addresses : addresses);
  if (found.empty())
    return fail(ErrorCode::invalid_argument,
                "this machine is " + identity->node + " in " + identity->mesh +
                    ", and nothing says where its control plane is: control in agent.yaml");
  return std::unique_ptr<MeshNode>(
      new MeshNode(std::move(ground), std::move(host),
                   std::make_shared<const NodeIdentity>(std::move(*identity)), std::move(*key),
                   std::move(found)));
}

MeshNode::MeshNode(MeshGround ground, MeshHost host, std::shared_ptr<const NodeIdentity> identity,
                   crypto::PrivateKey key, std::vector<loop::Address> addresses)
    : loop_(ground.loop),
      files_(ground.files),
      store_(ground.store),
      version_(std::move(ground.version)),
      host_(std::move(host)),
      identity_(std::move(identity)),
      key_(std::move(key)),
      addresses_(std::move(addresses)),
      network_(std::move(ground.network)),
      reader_(loop_.make_serial_worker()),
      link_(loop_, *network_, *this, random_bits),
      declarations_(
          loop_, files_, store_, identity_,
          {[this](const core::LinkMessage& message) {
             // Where nobody hears it the next connection brings it up again.
             static_cast<void>(link_.send(message));
           },
           [this](bool reading) { link_.set_reading(reading); }, [this] { host_.changed(); },
           [this](const std::string& words) { trouble(words); }}),
      note_timer_(loop_.make_timer()),
      again_timer_(loop_.make_timer()) {}

MeshNode::~MeshNode() = default;

void MeshNode::notice(std::string text) const {
  host_.tell({MeshWords::Weight::notice, std::move(text), {}, {}});
}
void MeshNode::warn(std::string text) const {
  host_.tell({MeshWords::Weight::warning, std::move(text), {}, {}});
}
void MeshNode::complain(std::string text) const {
  host_.tell({MeshWords::Weight::error, std::move(text), {}, {}});
}

void MeshNode::start() {
  auto context = make_link_context(*identity_, key_, loop_.clock());
  if (!context) return complain("no link: " + context.error().message());
  link_.start(addresses_, std::move(*context));
}

// What did not come whole is pushed again with the next connection: one is made, if none is by
// then.
void MeshNode::trouble(const std::string& words) {
  constexpr std::int64_t kAgainNs = 60 * kNsPerSecond;
  warn(words);
  again_timer_->start(kAgainNs, 0, [this] {
    const auto& now = store_.history->state();
    if (link_.is_up() && !declarations_.is_fetching() && now.stored == now.accepted) start();
  });
}

std::string MeshNode::words() const {
  const auto who = identity_->node + " in " + identity_->mesh;
  return link_.is_up() ? who + ", linked" : who + ", no link: " + link_.problem();
}

void MeshNode::when_settled(std::function<void(bool)> then) {
  auto& history = *store_.history;
  if (!history.healthy() || history.is_unrecorded() || is_quiet_) {
    loop_.post([then = std::move(then)] { then(false); });
    return;
  }
  history.when_durable(history.state().seq, [this, alive = std::weak_ptr<const bool>(alive_),
                                             then = std::move(then)](const Status& durable) {
    if (alive.expired()) return;
    const auto& now = *store_.history;
    if (!durable || is_quiet_ || !now.healthy() || now.is_unrecorded()) return then(false);
    if (now.is_committing() || now.durable() != now.state().seq) return when_settled(then);
    then(true);
  });
}

core::Generation MeshNode::accepted_here() const {
  const auto& accepted = store_.history->state().accepted;
  if (!accepted || accepted->mesh != identity_->mesh_id) return {};
  return {accepted->epoch, accepted->number};
}

core::Hello MeshNode::hello_of(const journal::Head& head) const {
  const auto& history = *store_.history;
  core::Hello hello;
  hello.host_version = version_;
  hello.store = history.state().store;
  hello.last = head.seq;
  hello.head = head.hash;
  hello.boot = loop_.clock().boot_id();
  hello.now = loop_.clock().wall_now();
  hello.accepted = accepted_here();
  return hello;
}

void MeshNode::hello(std::function<void(core::Hello)> done) {
  when_settled([this, done = std::move(done)](bool settled) {
    journal::Head head;
    head.seq = store_.history->durable();
    // Pages of the head are in memory: nothing is waited for.
    if (settled)
      if (auto reader = store_.history->log()->make_reader())
        if (auto read = (*reader)->read_head()) head = *read;
    done(hello_of(head));
  });
}

std::optional<core::Heartbeat> MeshNode::heartbeat() {
  auto& history = *store_.history;
  const bool speaks_from_memory = history.is_unrecorded() || !history.healthy();
  if (!speaks_from_memory && history.durable() != history.state().seq) {
    report();
    return std::nullopt;
  }
  const auto status = host_.status();
  core::Heartbeat heartbeat;
  heartbeat.last = history.durable();
  heartbeat.now = loop_.clock().wall_now();
  heartbeat.accepted = accepted_here();
  heartbeat.lifecycle = history.state().lifecycle;
  heartbeat.mode = host_.mode();
  heartbeat.condition = status.condition;
  heartbeat.flags = status.flags;
  heartbeat.counts = status.counts;
  heartbeat.host_version = version_;
  if (host_.upgrading) heartbeat.upgrading_to = host_.upgrading();
  return heartbeat;
}

void MeshNode::report() {
  if (!link_.is_up() || report_waits_) return;
  auto& history = *store_.history;
  if (history.is_unrecorded() || !history.healthy()) return link_.report();
  report_waits_ = true;
  history.when_durable(history.state().seq,
                       [this, alive = std::weak_ptr<const bool>(alive_)](const Status&) {
                         if (alive.expired()) return;
                         report_waits_ = false;
                         link_.report();
                         link_.journal_grew();
                       });
}

void MeshNode::applied(PassId pass) {
  if (!reverted()) declarations_.applied(pass);
  report();
}

void MeshNode::read_journal(Seq from, std::function<void(Part)> done) {
  when_settled([this, from, done = std::move(done)](bool settled) {
    if (!settled || from > store_.history->durable()) return done(Part(std::nullopt));
    auto made = store_.history->log()->make_reader();
    if (!made) return done(fail(std::move(made).error()));
    ++reads_;
    const std::shared_ptr<std::unique_ptr<journal::Reader>> live =
        std::make_shared<std::unique_ptr<journal::Reader>>(std::move(*made));
    const auto part = std::make_shared<Part>(std::nullopt);
    const auto store = store_.history->state().store;
    reader_->submit(
        [live, part, from, store, archive = history::archive_folder(store_.folder)] {
          const auto read = [&]() -> Part {
            auto reader = std::move(*live);
            DATUM_ASSIGN(const auto head, reader->read_head());
            if (from < head.first) {
              DATUM_ASSIGN(reader, journal::join_archive(std::move(reader), archive));
            }
            DATUM_ASSIGN(auto records, history::read_part(*reader, from, core::kMaxLinkPart));
            if (!records) return std::nullopt;
            return core::JournalPart{store, records->first, records->count,
                                     std::move(records->values)};
          };
          *part = read();
        },
        [this, alive = std::weak_ptr<const bool>(alive_), part, done] {
          if (alive.expired()) return;
          --reads_;
          if (!*part) warn("the journal cannot go up: " + part->error().message());
          done(std::move(*part));
          // Last: whoever waited for this may destroy the node.
          if (reads_ == 0 && when_read_) std::exchange(when_read_, nullptr)(true);
        });
  });
}

loop::Task<bool> MeshNode::be_quiet() {
  is_quiet_ = true;
  must_reconnect_ = must_reconnect_ || declarations_.is_fetching();
  declarations_.link_down();
  if (reads_ != 0) {
    auto waiting = loop::Wait<bool>(
        [this](std::function<void(bool)> resume) { when_read_ = std::move(resume); });
    co_await waiting;
  }
  co_return true;
}

void MeshNode::go_on() {
  is_quiet_ = false;
  if (std::exchange(must_reconnect_, false)) return start();
  link_.journal_grew();
  if (waiting_) declarations_.take(*std::exchange(waiting_, std::nullopt));
}

void MeshNode::say_goodbye(const std::string& why) {
  link_.stop(core::LinkCause::stopping, why);
}

void MeshNode::note(const std::vector<core::Command>& commands) {
  for (const auto& command : commands) host_.record(command);
  arm_notes();
}

void MeshNode::arm_notes() {
  note_timer_->stop();
  const auto due = notes_.due();
  if (!due) return;
  auto& clock = loop_.clock();
  note_timer_->start(due->ns - clock.boot_now().ns, 0,
                     [this, &clock] { note(notes_.tick(clock.boot_now())); });
}

void MeshNode::up(const std::string& address, const core::Welcome& welcome) {
  auto& clock = loop_.clock();
  note(notes_.up(address, clock.boot_now()));
  told_problem_.clear();
  host_.tell({MeshWords::Weight::notice, "linked with " + address, "linkUp", address});
  const auto now = clock.wall_now();
  const auto apart = now.ns / kNsPerSecond - welcome.now.ns / kNsPerSecond;
  if (std::abs(apart) > kClockApartNs / kNsPerSecond)
    warn("this machine's clock says " + format_rfc3339(now) + ", the control plane's " +
         format_rfc3339(welcome.now));
  if (welcome.journal_kept > store_.history->durable())
    complain("the control plane has kept records up to " + std::to_string(welcome.journal_kept) +
             ", and this store ends at " + std::to_string(store_.history->durable()) +
             ": it was set back, or is another machine's");
  if (host_.kept) host_.kept(welcome.journal_kept);
  tell_reverted();
  const bool was_lost = store_.history->state().lifecycle == core::NodeLifecycle::disconnected;
  host_.record(core::ChangeLifecycle{core::NodeLifecycle::enrolled,
                                     "linked with " + address,
                                     {core::ActorKind::service, "datum-host", 0, ""}});
  awaits_order_ = welcome.order != 0;
  reconnect_waits_ = reconnect_waits_ || was_lost;
  // What was undone since is not applied, whatever was said before.
  if (!reverted()) declarations_.link_up();
  host_.changed();
  if (!awaits_order_ && std::exchange(reconnect_waits_, false)) host_.reconnected();
}

std::optional<std::string> MeshNode::reverted() const {
  return host_.reverted ? host_.reverted() : std::nullopt;
}

// Each time: who has heard it does nothing then.
void MeshNode::tell_reverted() {
  const auto words = reverted();
  const auto& now = store_.history->state();
  if (!words || words->empty() || !now.accepted) return;
  core::DeclarationAnswer answer;
  answer.generation = {now.accepted->epoch, now.accepted->number};
  answer.step = core::DeclarationStep::rejected;
  answer.at = store_.history->durable();
  answer.reason = *words;
  static_cast<void>(link_.send(answer));
}

void MeshNode::down(const std::string& why) {
  declarations_.link_down();
  waiting_.reset();
  awaits_order_ = false;
  note(notes_.down(why, loop_.clock().boot_now()));
  host_.tell({MeshWords::Weight::notice, "the link is down: " + why, "linkDown", {}});
  host_.changed();
}

void MeshNode::lost(const std::string& why) {
  host_.record(core::ChangeLifecycle{core::NodeLifecycle::disconnected,
                                     "no link for three heartbeats: " + why,
                                     {core::ActorKind::service, "datum-host", 0, ""}});
  warn("disconnected: " + why);
  host_.changed();
}

// Said once for each cause, however often the control plane is asked.
void MeshNode::goodbye(const core::Goodbye& goodbye) {
  const auto words = "the control plane ends the connection (" +
                     std::string(core::to_string(goodbye.cause)) + "): " + goodbye.why;
  if (std::exchange(told_problem_, words) != words) warn(words);
  const bool is_decided =
      goodbye.cause == core::LinkCause::revoked || goodbye.cause == core::LinkCause::retired;
  if (!is_decided) return;
  host_.record(
      core::ChangeLifecycle{core::NodeLifecycle::disconnected,
                            std::string(core::to_string(goodbye.cause)) + ": " + goodbye.why,
                            {core::ActorKind::control_plane, "", 0, ""}});
  host_.changed();
}

void MeshNode::received(core::LinkMessage message) {
  if (auto* part = std::get_if<core::BlobPart>(&message))
    return declarations_.take(std::move(*part));
  if (const auto* grant = std::get_if<core::EnrolmentGrant>(&message)) return renew(*grant);
  if (const auto* order = std::get_if<core::PushedOrder>(&message)) return obey(*order);
  const auto* pushed = std::get_if<core::PushedDeclaration>(&message);
  if (pushed == nullptr) return;
  if (is_quiet_)
    waiting_ = *pushed;
  else
    declarations_.take(*pushed);
}

// The next certificate, for the same key and name: durable before it is shown.
void MeshNode::renew(const core::EnrolmentGrant& grant) {
  auto checked = check_grant(grant, key_.public_key());
  if (!checked) return warn("a new certificate is not taken: " + checked.error().message());
  if (checked->node != identity_->node || checked->mesh_id != identity_->mesh_id)
    return warn("a new certificate is not taken: it is for " + checked->node + " in " +
                checked->mesh);
  checked->addresses = identity_->addresses;
  const auto identity = std::make_shared<const NodeIdentity>(std::move(*checked));
  const auto written = std::make_shared<Status>();
  reader_->submit(
      [written, grant, identity, &files = files_, folder = store_.folder] {
        *written = IdentityFiles(files, folder).write(grant, identity->addresses);
      },
      [this, alive = std::weak_ptr<const bool>(alive_), written, identity] {
        if (alive.expired()) return;
        if (!*written)
          return complain("a new certificate was not stored: " + written->error().message());
        identity_ = identity;
        declarations_.set_identity(identity);
        const auto& certificate = identity->certificate;
        host_.record(core::RecordCertificate{
            certificate.serial.hex(), WallNs{certificate.validity.not_after_s * kNsPerSecond}});
        start();
      });
}

// One after the other, in the order in which they came.
void MeshNode::obey(const core::PushedOrder& pushed) {
  awaits_order_ = false;
  constexpr std::size_t kMostOrders = 16;  // a person gives them
  if (orders_.size() >= kMostOrders) return warn("an order is not carried out: too many wait");
  orders_.push_back(pushed.order);
  if (std::exchange(is_obeying_, true)) return;
  obeying_.reset();
  obeying_.emplace(obey_next());
  obeying_->start();
}

loop::Task<bool> MeshNode::obey_next() {
  while (!orders_.empty()) {
    auto order = std::move(orders_.front());
    orders_.pop_front();
    core::OrderAnswer answer;
    if (const auto body = codec::decode_order_body(order.body)) answer.number = body->number;
    auto carrying = carry_out(loop_, files_, store_, identity_, std::move(order));
    const auto done = co_await carrying;
    if (!done) {
      warn(done.error().message());
      answer.reason = done.error().message();
      // What could not be recorded comes again.
      const bool is_final = done.error().code() == ErrorCode::refused ||
                            done.error().code() == ErrorCode::unsupported;
      if (is_final) static_cast<void>(link_.send(answer));
      continue;
    }
    answer.carried_out = true;
    answer.at = done->at;
    static_cast<void>(link_.send(answer));
    if (done->at == 0) continue;  // it was known, and only its answer was lost
    notice("the control plane orders: " + std::string(core::to_string(done->body.kind)) +
           (done->body.reason.empty() ? "" : ", " + done->body.reason));
    // What was held back is made up for.
    if (done->body.kind == core::OrderKind::lift) reconnect_waits_ = true;
    report();
  }
  is_obeying_ = false;
  host_.changed();
  if (!awaits_order_ && std::exchange(reconnect_waits_, false)) host_.reconnected();
  co_return true;
}

void MeshNode::kept(Seq through) {
  if (host_.kept) host_.kept(through);
}

}  // namespace datum::engine
