#include "datum/engine/enrolment.hpp"

#include <utility>

#include "co_try.hpp"
#include "datum/codec/link.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/link/enrolment_attempt.hpp"
#include "datum/link/token.hpp"
#include "running.hpp"

namespace datum::engine {
namespace {

// Bytes of one fact beside its text, in the message.
constexpr std::size_t kFactOverhead = 32;

Digest profile_digest(const std::vector<core::Fact>& profile) {
  std::string text;
  for (const auto& fact : profile) text += fact.name + "=" + fact.value + "\n";
  return crypto::sha256(as_bytes(text));
}

// Whether the journal says of this key that it was made; a death may have come between.
Result<bool> is_key_told(journal::Reader& reader, const Digest& fingerprint) {
  bool told = false;
  DATUM_TRY(history::scan_events(reader, 1, [&](const history::StoredEvent& stored) {
    const auto* made = std::get_if<core::KeyCreated>(&stored.event);
    told = made != nullptr && made->fingerprint == fingerprint;
    return told ? journal::Visit::stop : journal::Visit::go_on;
  }));
  return told;
}

bool is_a_node(const core::State& state) {
  return state.lifecycle == core::NodeLifecycle::enrolled ||
         state.lifecycle == core::NodeLifecycle::disconnected;
}

struct KeyAtHand {
  crypto::PrivateKey key;
  std::optional<NodeIdentity> identity;  // granted to it before
  bool is_told = true;
};

// On a worker: nothing of it touches the state.
Result<KeyAtHand> take_key(os::Files& files, const std::string& folder, bool new_key,
                           journal::Reader& reader) {
  const IdentityFiles identity(files, folder);
  if (new_key) {
    DATUM_TRY(identity.remove());
    DATUM_TRY(identity.set_key_aside());
  }
  DATUM_ASSIGN(auto own, identity.read_or_make_key());
  DATUM_ASSIGN(auto granted, identity.read());
  DATUM_ASSIGN(const bool told, is_key_told(reader, own.key.public_key().fingerprint()));
  return KeyAtHand{std::move(own.key), std::move(granted), told};
}

// A node whose certificate has ended: with the key that it has, for the next one.
bool may_ask_again(const KeyAtHand& at_hand, const core::State& state, WallNs now) {
  return is_a_node(state) &&
         at_hand.identity->certificate.validity.not_after_s < now.ns / kNsPerSecond;
}

core::EnrolmentRequest make_request(const EnrolmentPlan& plan, const crypto::PrivateKey& key,
                                    const Id128& store, WallNs now, ByteView binding) {
  core::EnrolmentRequest request;
  request.token = plan.token;
  request.wanted_name = plan.wanted_name;
  const auto shown = key.public_key().bytes;
  request.key.assign(shown.begin(), shown.end());
  const auto proof = key.sign(crypto::SignedAs::enrolment_proof, binding).bytes;
  request.proof.assign(proof.begin(), proof.end());
  request.host_version = plan.version;
  request.store = store;
  request.now = now;
  request.profile = plan.profile;
  request.inventory = bound_report(plan.inventory);
  return request;
}

loop::Task<Result<link::EnrolmentAnswer>> ask(loop::Loop& loop, loop::Network& network,
                                              const EnrolmentPlan& plan,
                                              const crypto::PrivateKey& key, Id128 store) {
  using Answer = Result<link::EnrolmentAnswer>;
  auto attempt = std::make_shared<std::unique_ptr<link::EnrolmentAttempt>>();
  std::function<void(std::function<void(Answer)>)> begin =
      [&loop, &network, &plan, &key, store, attempt](std::function<void(Answer)> resume) {
        link::EnrolmentQuestion question;
        question.addresses = plan.addresses;
        question.pin = plan.pin;
        question.make_request = [&loop, &plan, &key, store](ByteView binding) {
          return make_request(plan, key, store, loop.clock().wall_now(), binding);
        };
        *attempt = std::make_unique<link::EnrolmentAttempt>(loop, network, std::move(question),
                                                            std::move(resume));
      };
  auto wait = loop::wait_for<Answer>(std::move(begin));
  auto answer = co_await wait;
  attempt->reset();
  co_return answer;
}

}  // namespace

core::RecordEnrolment record_enrolment(const NodeIdentity& identity, const core::Actor& actor) {
  core::RecordEnrolment record;
  record.mesh = identity.mesh_id;
  record.mesh_name = identity.mesh;
  record.node = identity.node;
  record.serial = identity.certificate.serial.hex();
  record.not_after = WallNs{identity.certificate.validity.not_after_s * kNsPerSecond};
  for (const auto& label : identity.labels) record.labels.push_back(label.name + "=" + label.value);
  record.actor = actor;
  return record;
}

std::vector<core::Fact> bound_report(std::vector<core::Fact> facts, std::size_t limit) {
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < facts.size(); ++at) {
    bytes += facts[at].name.size() + facts[at].value.size() + kFactOverhead;
    if (bytes <= limit) continue;
    const auto more = std::to_string(facts.size() - at);
    facts.resize(at);
    facts.push_back({"cut", more + " facts more, beyond what a report holds"});
    break;
  }
  return facts;
}

Result<EnrolmentPlan> make_enrolment_plan(std::string token,
                                          const std::vector<std::string>& addresses) {
  auto read = link::parse_token(token);
  crypto::wipe(token);
  if (!read) return fail(std::move(read).error());
  EnrolmentPlan plan;
  plan.token = link::format_token(*read);
  plan.token_id = read->id_text();
  plan.pin = read->pin;
  for (const auto& text : addresses) {
    auto address = loop::find_address(text);
    if (!address)
      return fail(ErrorCode::invalid_argument,
                  text + " is no address such as control.example:7600");
    plan.addresses.push_back(std::move(*address));
  }
  if (!plan.addresses.empty()) return plan;
  return fail(ErrorCode::invalid_argument,
              "where is the control plane? give --control NAME:PORT, or control in agent.yaml");
}

loop::Task<Result<EnrolmentEnd>> enrol(loop::Loop& loop, loop::Network& network, os::Files& files,
                                       Store& store, EnrolmentPlan plan, bool tells_request) {
  auto& history = *store.history;
  if (history.log() == nullptr || history.is_unrecorded())
    co_return fail(ErrorCode::unavailable, "nothing can be recorded");
  if (plan.new_key && is_a_node(history.state())) {
    const core::ChangeLifecycle hosted{core::NodeLifecycle::hosted, "enrolled anew, with a new key",
                                       plan.actor};
    DATUM_CO_TRY(history.execute(hosted));
  }
  auto opened = wait_durable(history);
  DATUM_CO_TRY(co_await opened);
  DATUM_CO_ASSIGN(const std::shared_ptr<journal::Reader> reader, history.log()->make_reader());
  const auto at_hand = std::make_shared<std::optional<KeyAtHand>>();
  std::function<Status()> work = [&files, folder = store.folder, new_key = plan.new_key, reader,
                                  at_hand]() -> Status {
    DATUM_ASSIGN(*at_hand, take_key(files, folder, new_key, *reader));
    return {};
  };
  auto taking = loop::run_on<Status>(loop.pool(), std::move(work));
  DATUM_CO_TRY(co_await taking);
  const auto& key = (*at_hand)->key;
  if (!(*at_hand)->is_told)
    DATUM_CO_TRY(history.execute(core::RecordKeyCreated{key.public_key().fingerprint()}));
  if ((*at_hand)->identity && !may_ask_again(**at_hand, history.state(), loop.clock().wall_now())) {
    // Granted and stored before; what a death kept from being told is told now.
    if (is_a_node(history.state()))
      co_return fail(ErrorCode::conflict, "this machine is " + (*at_hand)->identity->node + " in " +
                                              (*at_hand)->identity->mesh +
                                              " already; --new-key enrols it anew");
    DATUM_CO_TRY(history.execute(record_enrolment(*(*at_hand)->identity, plan.actor)));
    auto told = wait_durable(history);
    DATUM_CO_TRY(co_await told);
    co_return EnrolmentEnd(Enrolled{std::move(*(*at_hand)->identity), true});
  }
  if (tells_request) {
    const core::RequestEnrolment request{loop::to_string(plan.addresses.front()), plan.token_id,
                                         profile_digest(plan.profile), plan.actor};
    DATUM_CO_TRY(history.execute(request));
  }
  // The key and the question are durable before anybody sees either.
  auto asked = wait_durable(history);
  DATUM_CO_TRY(co_await asked);
  auto asking = ask(loop, network, plan, key, history.state().store);
  DATUM_CO_ASSIGN(const auto answer, co_await asking);
  if (const auto* pending = std::get_if<core::EnrolmentPending>(&answer))
    co_return EnrolmentEnd(EnrolmentWaits{pending->not_before_ns});
  if (const auto* refusal = std::get_if<core::EnrolmentRefusal>(&answer)) {
    DATUM_CO_TRY(history.execute(core::RefuseEnrolment{refusal->why, refusal->remedy}));
    auto told = wait_durable(history);
    DATUM_CO_TRY(co_await told);
    co_return EnrolmentEnd(EnrolmentRefused{refusal->cause, refusal->why, refusal->remedy});
  }
  const auto& grant = std::get<core::EnrolmentGrant>(answer);
  DATUM_CO_ASSIGN(auto identity, check_grant(grant, key.public_key()));
  for (const auto& address : plan.addresses) identity.addresses.push_back(loop::to_string(address));
  std::function<Status()> store_grant = [&files, folder = store.folder, grant,
                                         addresses = identity.addresses] {
    return IdentityFiles(files, folder).write(grant, addresses);
  };
  auto storing = loop::run_on<Status>(loop.pool(), std::move(store_grant));
  DATUM_CO_TRY(co_await storing);
  DATUM_CO_TRY(history.execute(record_enrolment(identity, plan.actor)));
  auto granted = wait_durable(history);
  DATUM_CO_TRY(co_await granted);
  co_return EnrolmentEnd(Enrolled{std::move(identity), false});
}

}  // namespace datum::engine
