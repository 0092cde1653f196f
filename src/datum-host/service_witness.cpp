// The witness of the service's store (docs/formats/witness.md): read before the store is opened,
// written where it tells something new.
#include <utility>

#include "datum/codec/witness.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/witness.hpp"
#include "service.hpp"

namespace datum::host {
namespace {

// A pass over a machine that is as declared appends these: started, finished.
constexpr Seq kRecordsOfNoChange = 2;

// Of what a witness says beside how far the store has come.
Digest digest_of(core::Witness witness) {
  witness.head = {};
  return crypto::sha256(codec::encode_witness(witness));
}

}  // namespace

void Service::read_witness(engine::StoreBinding& binding) {
  binding.witness = nullptr;
  binding.is_loss_suspected = false;
  if (session_.witness_config.empty()) return;
  auto read =
      engine::read_witness(session_.store_files(), session_.witness_config, program::trusted_uid());
  if (!read) {
    binding.is_loss_suspected = read.error().code() == ErrorCode::corrupt;
    const auto problem = "the witness of the store says nothing: " + read.error().message();
    if (std::exchange(witness_problem_, problem) != problem) log_.warning(problem);
    return;
  }
  if (!*read)
    binding.is_loss_suspected = engine::is_loss_suspected(
        session_.store_files(), session_.witness_config, session_.root_path);
  // Of another tree's store it would be no witness.
  if (!*read || (*read)->root != binding.root) return;
  binding.witness = std::make_shared<const core::Witness>(std::move(**read));
}

void Service::tell_loss() {
  const auto& loss = state().loss;
  if (!loss) return;
  const auto count = loss->last_known_owned.size();
  const auto owned = count == 0 ? std::string("nothing is known that it owned alone")
                                : std::to_string(count) +
                                      " targets were its own, and what of them nothing declares "
                                      "waits for datum adopt or datum remove";
  log_.error("a store is lost (" + std::string(core::to_string(loss->kind)) + "): " + owned);
}

// By the local rule, and not before a pass has shown which of them are declared.
void Service::decide_orphans() {
  const auto rule = configuration_.orphans.value;
  const auto& last = state().last_pass;
  if (rule == config::Orphans::wait || state().orphans.empty() || state().pass || !last) return;
  core::DecideOrphans decide;
  decide.actor = service_actor();
  decide.actor.command = "agent.yaml: orphans: " + std::string(config::to_string(rule));
  if (rule == config::Orphans::remove) decide.decision = core::OrphanDecision::remove;
  for (const auto& [target, orphan] : state().orphans)
    if (orphan.since < last->finished_at) decide.targets.push_back(target);
  if (decide.targets.empty()) return;
  record(decide);
  if (rule == config::Orphans::remove) ask_for_pass(core::Trigger::start);
}

// After a start: where it is not what the store is now. After a pass: where that changed anything.
// At the end: once more, with the last record.
loop::Task<bool> Service::write_witness(WitnessAt at, const core::Witness* standing) {
  if (session_.witness_config.empty() || !store_ || store_->history->is_unrecorded() ||
      !store_->history->healthy())
    co_return false;
  const auto seen = std::exchange(witness_looked_at_, state().seq);
  if (at == WitnessAt::pass && state().seq - seen <= kRecordsOfNoChange) co_return false;
  auto waiting = wait_durable();
  if (const auto durable = co_await waiting; !durable) co_return false;
  auto witness = core::make_witness(state(), {});
  const auto digest = digest_of(witness);
  if (standing != nullptr && standing->head.store == state().store)
    witnessed_ = digest_of(*standing);
  if (at != WitnessAt::end && digest == witnessed_) co_return false;
  auto reader = store_->history->log()->make_reader();
  if (!reader) co_return false;
  const auto live = std::make_shared<std::unique_ptr<journal::Reader>>(std::move(*reader));
  std::function<Status()> work = [&files = session_.store_files(), folder = session_.witness_config,
                                  live, witness = std::move(witness)]() mutable -> Status {
    const auto head = (*live)->read_head();
    const auto store = (*live)->store_id();
    live->reset();
    if (!head) return fail(head.error());
    witness.head = {store, head->seq, head->hash};
    return engine::write_witness(files, folder, witness);
  };
  auto writing = loop::run_on<Status>(*reader_, std::move(work));
  const auto written = co_await writing;
  if (written) witnessed_ = digest;
  const auto problem = written ? std::string() : written.error().message();
  if (problem != witness_problem_ && !problem.empty())
    log_.warning(
        "the witness of the store was not written, so the loss of the store would not be "
        "known by it: " +
        problem);
  witness_problem_ = problem;
  co_return written.has_value();
}

}  // namespace datum::host
