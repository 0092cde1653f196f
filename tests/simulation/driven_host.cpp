#include "driven_host.hpp"

#include <stdexcept>

#include "datum/crypto/digest.hpp"

namespace datum::simulation {
namespace {

const Id128 kStore = *Id128::find_hex("00112233445566778899aabbccddeeff");

Digest digest_of(const std::string& text) {
  return crypto::sha256(as_bytes(text));
}

[[noreturn]] void give_up(const Error& error) {
  throw std::runtime_error(error.message());
}

}  // namespace

DrivenHost::DrivenHost(support::SimLoop& loop, std::size_t resources) : loop_(loop) {
  observations_.resize(resources);
  for (std::size_t i = 0; i < resources; ++i) {
    auto& seen = observations_[i];
    const auto name = std::to_string(i);
    seen.reference =
        *model::find_reference("File[f" + std::string(7 - name.size(), '0') + name + "]");
    seen.target = {model::TargetFamily::path,
                   "/etc/driven/part-" + std::to_string(i % 64) + "/file-" + name + ".conf"};
    seen.found = core::Found::file;
    seen.content_size = 100;
    // Names have one width, so that these are sorted.
    auto resource = std::make_shared<model::Resource>();
    resource->reference = seen.reference;
    resource->target = seen.target;
    manifest_.resources.push_back(std::move(resource));
  }
  for (std::size_t i = 0; i < resources; ++i) look(i, false);
}

const model::Target& DrivenHost::target(std::size_t i) const {
  return observations_[i].target;
}

void DrivenHost::look(std::size_t i, bool is_drifted) {
  auto& seen = observations_[i];
  const auto content = std::to_string(i) + (is_drifted ? " foreign" : " declared");
  seen.condition = is_drifted ? core::Condition::drifted : core::Condition::converged;
  seen.content = digest_of(content);
  seen.drifts.clear();
  if (is_drifted) seen.drifts.push_back({"content", "sha256 of a foreigner", "sha256 declared"});
  seen.digest = digest_of("observation of " + content);
}

void DrivenHost::run(const core::Command& command) {
  const auto executed = history_->execute(command);
  if (!executed) give_up(executed.error());
}

void DrivenHost::begin() {
  if (history_->state().store.empty())
    run(core::CreateStore{kStore, "/", "driven", "local", "1.0", {}});
  else
    run(core::OpenStore{loop_.clock().boot_id(), "1.0", "/", "driven"});
}

void DrivenHost::correct(const std::vector<std::size_t>& drifted) {
  auto plan = std::make_shared<core::Plan>();
  core::AnnounceWave announce;
  core::RecordResults record;
  for (std::size_t place = 0; place < drifted.size(); ++place) {
    const auto& seen = observations_[drifted[place]];
    core::Action action;
    action.ordinal = static_cast<std::uint32_t>(place);
    action.target = seen.target;
    action.reference = seen.reference;
    action.changes = seen.drifts;
    action.found = core::Found::file;
    announce.actions.push_back({action.ordinal, action.kind, action.target, action.found,
                                digest_of("old " + action.target.name)});
    plan->actions.push_back(std::move(action));
    plan->counts.update += 1;
  }
  const auto digest = digest_of("plan of " + std::to_string(drifted.size()) + " from " +
                                std::to_string(drifted.empty() ? 0 : drifted.front()));
  run(core::RecordPlan{digest, plan->counts, plan->empty(), {}});
  announce.plan = digest;
  run(announce);
  for (std::size_t place = 0; place < drifted.size(); ++place) {
    look(drifted[place], false);
    core::ActionResult result;
    result.ordinal = static_cast<std::uint32_t>(place);
    result.after = observations_[drifted[place]];
    result.left = {core::Found::file, 1, 1000 + version_++, result.after.content};
    result.duration_ns = 5 * kNsPerMs;
    record.results.push_back(std::move(result));
  }
  record.plan = plan;
  record.manifest = &manifest_;
  record.now = loop_.clock().wall_now();
  run(record);
}

void DrivenHost::pass(const std::vector<std::size_t>& drifted) {
  core::StartPass start;
  start.started.trigger = core::Trigger::timer;
  start.started.mode.mode = core::Mode::enforce;
  start.started.declaration.node = "driven";
  start.started.version = "1.0";
  start.started.resources = static_cast<std::uint32_t>(observations_.size());
  run(start);
  for (const auto i : drifted) look(i, true);
  run(core::RecordObservations{observations_});
  if (drifted.empty())
    run(core::RecordPlan{{}, {}, true, {}});
  else
    correct(drifted);
  core::FinishPass finish;
  finish.now = loop_.clock().wall_now();
  finish.mono = loop_.clock().boot_now();
  run(finish);
}

Status DrivenHost::settle() {
  Status result = fail(ErrorCode::internal, "nothing was told");
  history_->when_durable(history_->state().seq, [&result](Status told) { result = told; });
  loop_.run();
  return result;
}

Status DrivenHost::close() {
  run(core::CloseStore{"the run ended"});
  Status result = fail(ErrorCode::internal, "nothing was told");
  history_->close([&result](Status closed) { result = std::move(closed); });
  loop_.run();
  return result;
}

}  // namespace datum::simulation
