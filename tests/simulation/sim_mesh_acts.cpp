// What people, machines and fate do to a mesh.
#include <algorithm>

#include "datum/base/assert.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/crypto/digest.hpp"
#include "sim_mesh.hpp"

namespace datum::simulation {
namespace {

constexpr std::int64_t kDayNs = 86'400 * kNsPerSecond;
constexpr int kEio = 5, kEnospc = 28;

class Contents final : public ContentSource {
 public:
  explicit Contents(const model::Manifest& manifest) : manifest_(manifest) {}
  Result<std::unique_ptr<ByteSource>> open(const Digest&) const override {
    return fail(ErrorCode::not_found, "every content stands in the manifest of " + manifest_.host);
  }

 private:
  const model::Manifest& manifest_;
};

// The same file, long enough that its content goes as a blob of its own.
model::ResourcePtr lengthen(const model::Resource& resource, std::size_t times) {
  auto longer = std::make_shared<model::Resource>(resource);
  auto content = *resource.content();
  const auto line = content.bytes;
  for (std::size_t i = 1; i < times; ++i) content.bytes += line;
  content.size = content.bytes.size();
  content.digest = crypto::sha256(as_bytes(content.bytes));
  for (auto& field : longer->fields)
    if (field.field == model::Field::content) field = {model::Field::content, content};
  model::finish_resource(*longer);
  return longer;
}

}  // namespace

// --- people

void MeshWorld::ask(control::LocalRequest request,
                    std::function<void(const control::Answer&)> done) {
  if (!is_plane_up()) return;
  request.command_line = "datum-control " + std::string(control::to_string(request.verb));
  plane_->ask(request, [done = std::move(done)](const control::Answer& answer) { done(answer); });
}

// A declaration for the node, with what it names put into the control plane's blobs.
std::optional<control::PushedManifest> MeshWorld::manifest_for(Member& member,
                                                               std::uint64_t number) {
  const auto drawn = draw_manifest(*member.site);
  auto wanted = std::make_shared<model::Manifest>(*drawn);
  wanted->host = member.site->name;
  for (auto& resource : wanted->resources)
    if (resource->content() != nullptr && member.site->chance(25))
      resource = lengthen(*resource, 20 + member.site->draw(4'000));
  const auto finished = model::finish_manifest(*wanted);
  DATUM_ASSERT(finished.has_value());
  const auto encoded = codec::encode_manifest(*wanted, Contents(*wanted));
  DATUM_ASSERT(encoded.has_value());
  for (const auto& resource : wanted->resources)
    if (const auto* content = resource->content();
        content != nullptr && content->size > model::kInlineContent)
      if (!plane_->put(as_bytes(content->bytes))) return std::nullopt;
  const auto put = plane_->put(*encoded);
  if (!put) return std::nullopt;
  member.wanted[number] = wanted;
  return control::PushedManifest{member.site->name, *put, encoded->size()};
}

void MeshWorld::push(const std::string& stages) {
  if (!is_plane_up()) return;
  const auto number = plane_->state().last.number + 1;
  control::LocalRequest request;
  request.verb = control::LocalVerb::push;
  request.source = "fleet";
  request.allow_removals = 1'000;
  request.stages = stages;
  request.soak_ns = stages.empty() ? 0 : 30 * kNsPerSecond;
  for (auto& member : members_) {
    const auto* node = plane_->state().find_node(member->site->name);
    if (node == nullptr || node->standing != control::Standing::enrolled || member->is_lost)
      continue;
    const auto pushed = manifest_for(*member, number);
    if (!pushed) return;
    request.manifests.push_back(*pushed);
  }
  if (request.manifests.empty()) return;
  tell("push " + std::to_string(number) + (stages.empty() ? "" : " in stages " + stages));
  ask(std::move(request), [this, number](const control::Answer& answer) {
    ++counts_.seen[answer.exit_code == 0 ? "pushes" : "pushes refused"];
    if (answer.exit_code != 0) return tell("refused: " + answer.errors);
    answered_ = std::max(answered_, core::Generation{1, number});
  });
}

void MeshWorld::give_token(Member& member) {
  if (!is_plane_up() || member.asks_token) return;
  control::LocalRequest request;
  request.verb = control::LocalVerb::token_create;
  request.names = member.site->name;
  request.ttl_ns = kDayNs;
  request.json = false;
  ask(std::move(request), [this, &member](const control::Answer& answer) {
    if (answer.exit_code != 0 || answer.output.empty()) return;
    member.site->token = answer.output.substr(0, answer.output.find('\n'));
    tell(member.site->name + " gets a token");
    if (member.process) member.process->look_again();
  });
}

void MeshWorld::revoke(Member& member) {
  control::LocalRequest request;
  request.verb = control::LocalVerb::revoke;
  request.target = member.site->name;
  request.reason = "stolen";
  ask(std::move(request), [this, &member](const control::Answer& answer) {
    if (answer.exit_code != 0) return;
    ++counts_.seen["nodes revoked"];
    tell(member.site->name + " is revoked");
    member.is_revoked = true;
    member.revoked_at = now_;
  });
}

// Its name is given again only after somebody said so.
void MeshWorld::forget(Member& member) {
  control::LocalRequest request;
  request.verb = control::LocalVerb::forget;
  request.target = member.site->name;
  ask(std::move(request), [this, &member](const control::Answer& answer) {
    if (answer.exit_code != 0 && answer.errors.find("no such node") == std::string::npos)
      return tell("not forgotten: " + answer.errors);
    member.is_lost = false;
    member.acked_stored = member.acked_accepted = {};
    member.acked_order = 0;
    give_token(member);
  });
}

void MeshWorld::hold_or_lift(Member& member, bool lift) {
  control::LocalRequest request;
  request.verb = lift ? control::LocalVerb::lift : control::LocalVerb::hold;
  request.nodes = {member.site->name};
  request.reason = "a person said so";
  if (!lift && chance(50))
    request.for_ns = static_cast<std::int64_t>(10 + draw(900)) * kNsPerSecond;
  const auto what = std::string(lift ? "lifts" : "holds");
  ask(std::move(request), [this, &member, what](const control::Answer& answer) {
    if (answer.exit_code != 0)
      return tell(member.site->name + ": no " + what + ": " + answer.errors);
    ++counts_.seen[what + " ordered"];
    tell(member.site->name + ": " + what + " ordered");
  });
}

void MeshWorld::people_act() {
  const auto what = draw(12);
  auto& member = *members_[draw(members_.size())];
  if (what < 5) return push("");
  if (what < 7) return push(chance(50) ? "1" : "1,50%");
  if (what == 7) {
    control::LocalRequest request;
    request.verb = chance(60) ? control::LocalVerb::push_resume : control::LocalVerb::push_abort;
    request.reason = "a person said so";
    return ask(std::move(request), [this](const control::Answer& answer) {
      if (answer.exit_code == 0) ++counts_.seen["pushes resumed or aborted"];
    });
  }
  if (what > 9) return hold_or_lift(member, chance(50));
  if (member.is_lost) return forget(member);
  const auto* node = is_plane_up() ? plane_->state().find_node(member.site->name) : nullptr;
  if (node == nullptr) return give_token(member);
  const auto revoked = std::count_if(members_.begin(), members_.end(),
                                     [](const auto& each) { return each->is_revoked; });
  if (chance(10) && revoked == 0 && members_.size() > 2) revoke(member);
}

// --- fate

void MeshWorld::fault_node(Member& member, MeshFault fault) {
  auto& site = *member.site;
  if (!member.process) return;
  switch (fault) {
    case MeshFault::node_kill:
    case MeshFault::node_power:
      member.with_power = fault == MeshFault::node_power;
      // Where it is, or somewhere later.
      if (chance(30))
        site.files.stop_at_change(1 + draw(60));
      else
        member.dies_in = chance(60) ? 0 : draw(300);
      return;
    case MeshFault::node_call_fails: {
      static constexpr int kErrnos[] = {kEio, kEnospc, 30, 12, 13};
      constexpr auto kCalls = static_cast<std::uint64_t>(support::Call::space) + 1;
      site.files.fail_call(static_cast<support::Call>(draw(kCalls)), 1 + draw(20),
                           kErrnos[draw(std::size(kErrnos))]);
      break;
    }
    case MeshFault::node_journal_fails: {
      journal::SimFaults faults;
      if (chance(50)) {
        faults.fail_write = 1 + draw(20);
        faults.write_errno = chance(50) ? kEio : kEnospc;
      } else {
        faults.fail_sync = 1 + draw(10);
      }
      site.disk->set_faults(faults);
      break;
    }
    case MeshFault::node_disk_full:
      site.files.set_free_bytes("/", draw(8) * 4096);
      later(static_cast<std::int64_t>(1 + draw(120)) * kNsPerSecond,
            [&site] { site.files.set_free_bytes("/", std::uint64_t{1} << 40); });
      break;
    default:
      return;
  }
  strike(member, fault);
}

void MeshWorld::fault_machine(Member& member, MeshFault fault) {
  auto& site = *member.site;
  const auto a_while = static_cast<std::int64_t>(1 + draw(400)) * kNsPerSecond;
  strike(member, fault);
  switch (fault) {
    case MeshFault::way_held_back:
      network_.hold_back(site.name, kPlaneName);
      return later(a_while, [this, &site] { network_.let_pass(site.name, kPlaneName); });
    case MeshFault::way_breaks:
      return network_.break_all(site.name, kPlaneName);
    case MeshFault::machine_sleeps:
      network_.hold_back(site.name, kPlaneName);
      member.asleep_until = BootNs{now_.ns + 20 * a_while};
      return later(20 * a_while, [this, &site] { network_.let_pass(site.name, kPlaneName); });
    case MeshFault::clock_jump: {
      const auto by = (static_cast<std::int64_t>(draw(121)) - 60) * kDayNs;
      site.wall_offset_ns += by;
      if (member.process) member.process->loop().jump_wall(by);
      return;
    }
    case MeshFault::foreign_writer: {
      member.touched_in_pass = member.process && member.process->is_passing();
      const auto wanted = member.wanted.find(member.accepted.number);
      if (wanted != member.wanted.end()) member.foreigner.write(site, *wanted->second, false);
      return;
    }
    case MeshFault::hold:
      site.held = !site.held;
      break;
    case MeshFault::mode:
      site.mode = site.mode == core::Mode::enforce ? core::Mode::observe : core::Mode::enforce;
      break;
    case MeshFault::store_lost:
      end_node(member, false);
      site.lose_store();
      site.token.clear();
      member.remembered.reset();
      member.accepted = member.acked_stored = member.acked_accepted = {};
      member.acked_order = 0;
      member.is_lost = true;
      return forget(member);
    default:
      return;
  }
  if (member.process && chance(50)) member.process->look_again();
}

void MeshWorld::fault(Member& member, MeshFault fault) {
  if (fault == MeshFault::plane_kill || fault == MeshFault::plane_power) {
    strike(member, fault);
    plane_with_power_ = fault == MeshFault::plane_power;
    plane_dies_in_ = chance(50) ? 0 : draw(200);
  } else if (fault <= MeshFault::node_disk_full) {
    fault_node(member, fault);
  } else {
    fault_machine(member, fault);
  }
}

void MeshWorld::act() {
  auto& member = *members_[draw(members_.size())];
  const auto what = static_cast<MeshFault>(draw(kMeshFaults));
  const bool is_rare = what == MeshFault::store_lost && (chance(70) || member.is_revoked);
  if (chance(45) || is_rare) {
    people_act();
  } else if (chance(60)) {
    member.armed.emplace(what, static_cast<MeshPhase>(draw(kMeshPhases)));
  } else {
    fault(member, what);
  }
  // Mostly it comes thick; now and then there is time for beats and heartbeats.
  const auto longest = chance(75) ? 5'000 : 400'000;
  run_for(static_cast<std::int64_t>(1 + draw(static_cast<std::uint64_t>(longest))) * kNsPerMs);
}

}  // namespace datum::simulation
