#include "sim_plane.hpp"

#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"

namespace datum::simulation {
namespace {

constexpr const char* kFolder = "/var/lib/datum-control";
constexpr const char* kMesh = "prod";
constexpr std::int64_t kLookNs = kNsPerSecond;  // as the program's own
// Certificates do not reach back before 1970; a simulated clock begins in 2023.
constexpr std::int64_t kAuthorityYears = 20;

control::Keyring make_keyring(WallNs now) {
  auto authority_key = crypto::PrivateKey::generate();
  auto signer = crypto::PrivateKey::generate();
  const auto now_s = now.ns / kNsPerSecond;
  auto authority = crypto::issue_authority(*authority_key, kMesh,
                                           {now_s - 3600, now_s + kAuthorityYears * 365 * 86'400},
                                           crypto::random_id());
  DATUM_ASSERT(authority.has_value());
  return {std::move(*authority_key), std::move(*authority), std::move(*signer)};
}

}  // namespace

PlaneSite::PlaneSite(std::uint64_t seed) : disk(std::make_shared<journal::SimDisk>(seed)) {
  files.put_directory(kFolder, 0700);
  files.settle();
}

Plane::Plane(PlaneSite& site, support::SimNetwork& network, BootNs now, std::uint64_t seed)
    : site_(site), loop_(seed), network_(network.machine(kPlaneName)), look_(loop_.make_timer()) {
  loop_.advance_to(now);
}

Plane::~Plane() {
  loop_.kill();
  desk_.reset();
  links_.reset();
  journals_.reset();
  ledger_.reset();
  blobs_.reset();
  look_.reset();
  site_.files.end_process();
  if (site_.disk->is_locked()) site_.disk->unlock(site_.disk->boot());
}

Status Plane::open() {
  DATUM_ASSIGN(auto log,
               journal::open_sim_log(
                   site_.disk, control::ledger_options(journal::OpenMode::create_or_open), 0xC0));
  const auto store = log->store_id();
  DATUM_ASSIGN(ledger_, control::Ledger::open(loop_, std::move(log)));
  if (!site_.keys) site_.keys = make_keyring(loop_.clock().wall_now());
  if (ledger_->state().seq == 0)
    DATUM_TRY(
        ledger_->append(control::create_plane({store, crypto::random_id(), kMesh, "1", {}, {}})));
  DATUM_TRY(ledger_->append(control::open_plane(ledger_->state(), loop_.clock().boot_id(), "1")));
  DATUM_ASSIGN(blobs_, blobs::open_blobs(site_.files, kFolder, false));
  return {};
}

Status Plane::start() {
  if (const auto opened = open(); !opened) {
    ledger_.reset();
    return opened;
  }
  journals_.emplace(loop_, site_.journals.path);
  control::LinkSettings settings;
  settings.version = "1";
  links_.emplace(loop_, *network_, *ledger_, *site_.keys, *journals_, *blobs_, settings,
                 [](control::Weight, const std::string&) {});
  desk_.emplace(loop_, *ledger_, *links_, *journals_, *site_.keys, *blobs_, settings);
  ledger_->when_durable([this](const Status& durable) {
    if (!durable) return;
    const auto listening = links_->listen({kPlaneName, kPlanePort});
    DATUM_ASSERT(listening.has_value());
  });
  look_->start(kLookNs, kLookNs, [this] {
    if (!ledger_->failure()) desk_->tick();
  });
  return {};
}

void Plane::ask(const control::LocalRequest& request, const control::Reply& done) {
  desk_->answer(request, {core::ActorKind::person, "ada", 0, request.command_line}, done);
}

Result<Digest> Plane::put(ByteView content) {
  DATUM_ASSIGN(const auto stored, blobs_->put(content));
  DATUM_TRY(blobs_->sync());
  return stored.digest;
}

}  // namespace datum::simulation
