#include "datum/engine/declaration_taker.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "co_try.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/engine/link_guard.hpp"
#include "running.hpp"

namespace datum::engine {
namespace {

// As upkeep has it: a manifest of a million resources is some 300 MB.
constexpr std::size_t kMaxDeclaredManifest = std::size_t{1} << 30U;
// Of one request: what is on its way is in memory at both ends in parts only, so this bounds how
// much is asked for again after a break, and the size of the message.
constexpr std::size_t kMostWanted = 64;

core::Generation generation(const core::DeclarationId& id) {
  return {id.epoch, id.number};
}

// Without its file a declaration is what the journal and the blobs say of it: no more than that.
Result<core::DeclarationBody> read_or_empty(os::Files& files, const std::string& store_folder,
                                            const core::DeclarationId& id) {
  auto body = read_declaration(files, store_folder, id);
  if (body || body.error().code() != ErrorCode::not_found) return body;
  core::DeclarationBody empty;
  empty.id = id;
  return empty;
}

}  // namespace

struct DeclarationTaker::Fetch {
  core::Signed declaration;
  core::DeclarationBody body;
  model::ManifestPtr manifest;
  bool is_over = false;  // another one took its place, or the link broke
};

DeclarationTaker::DeclarationTaker(loop::Loop& loop, os::Files& files, Store& store,
                                   std::shared_ptr<const NodeIdentity> identity,
                                   DeclarationTalk talk)
    : loop_(loop),
      files_(files),
      store_(store),
      identity_(std::move(identity)),
      talk_(std::move(talk)),
      worker_(loop.make_serial_worker()),
      receiver_(files, store.folder, *store.blobs, *worker_) {}
DeclarationTaker::~DeclarationTaker() {
  end_fetch();
}

void DeclarationTaker::set_identity(std::shared_ptr<const NodeIdentity> identity) {
  identity_ = std::move(identity);
}

void DeclarationTaker::answer(const core::DeclarationId& id, core::DeclarationStep step, Seq at,
                              std::string reason) {
  talk_.send(core::DeclarationAnswer{generation(id), step, at, std::move(reason)});
}

// Told once it is durable. The same words for the same declaration are one record, however often it
// is pushed.
void DeclarationTaker::reject(const core::DeclarationId& id, const std::string& reason) {
  const auto words = generation_text(id) + " " + id.manifest.hex() + " " + reason;
  auto& history = *store_.history;
  if (last_rejection_ != words) {
    const auto done = history.execute(core::RejectDeclaration{id, reason});
    if (!done) return talk_.trouble(done.error().message());
    last_rejection_ = words;
    talk_.trouble("declaration " + generation_text(id) + " is rejected: " + reason);
  }
  history.when_durable(history.state().seq,
                       [this, alive = std::weak_ptr<const bool>(alive_), id, reason,
                        at = history.state().seq](const Status& durable) {
                         if (!alive.expired() && durable)
                           answer(id, core::DeclarationStep::rejected, at, reason);
                       });
}

// What stands in the journal already is only told again: its answer may have been lost.
bool DeclarationTaker::is_known(const core::DeclarationId& id) {
  const auto& state = store_.history->state();
  if (state.accepted == id) {
    answer(id, core::DeclarationStep::accepted, accepted_at_);
    return true;
  }
  if (state.stored != id) return false;
  answer(id, core::DeclarationStep::stored, stored_at_);
  talk_.stored();
  return true;
}

void DeclarationTaker::take(const core::PushedDeclaration& pushed) {
  const auto& history = *store_.history;
  if (!history.healthy() || history.is_unrecorded()) return;  // it comes again with the next link
  auto body = verify_declaration(pushed.declaration, *identity_);
  if (!body) return reject({}, body.error().message());
  if (fetching_ && !fetching_->is_over && fetching_->body == *body) return;
  const auto& id = body->id;
  // Everything that is told rests on what is durable; at this point that is all there is.
  if (history.durable() == history.state().seq && is_known(id)) return;
  const auto& accepted = history.state().accepted;
  if (accepted && !core::is_above(id, *accepted) && accepted != id)
    return reject(
        id, "its generation is not above " + generation_text(*accepted) + ", which is accepted");
  end_fetch();
  fetching_ = std::make_shared<Fetch>();
  fetching_->declaration = pushed.declaration;
  fetching_->body = std::move(*body);
  task_.emplace(run(fetching_));
  task_->start();
}

void DeclarationTaker::take(core::BlobPart part) {
  receiver_.take(std::move(part));
  // What waits for the disk has to shrink before more comes.
  if (!receiver_.is_behind() || std::exchange(is_paused_, true)) return;
  talk_.set_reading(false);
  worker_->submit([] {},
                  [this, alive = std::weak_ptr<const bool>(alive_)] {
                    if (alive.expired()) return;
                    is_paused_ = false;
                    talk_.set_reading(true);
                  });
}

// What was told last may have been lost with the former link, or told to nobody; and what the node
// has accepted is not pushed again. The control plane counts each word once.
void DeclarationTaker::link_up() {
  const auto& accepted = store_.history->state().accepted;
  if (accepted && told_applied_ == accepted)
    answer(*accepted, core::DeclarationStep::applied, applied_at_);
}

void DeclarationTaker::link_down() {
  end_fetch();
}

void DeclarationTaker::end_fetch() {
  receiver_.cancel();
  if (fetching_) fetching_->is_over = true;
  fetching_.reset();
  task_.reset();
}

loop::Task<Status> DeclarationTaker::run(std::shared_ptr<Fetch> fetch) {
  auto fetching = this->fetch(fetch);
  auto fetched = co_await fetching;
  fetch->is_over = true;
  if (!fetched && fetched.error().code() == ErrorCode::refused) {
    reject(fetch->body.id, fetched.error().message());
  } else if (!fetched) {
    talk_.trouble("declaration " + generation_text(fetch->body.id) +
                  " did not come whole: " + fetched.error().message());
  }
  co_return fetched;
}

loop::Task<Status> DeclarationTaker::fetch(std::shared_ptr<Fetch> fetch) {
  const auto& body = fetch->body;
  if (received_ != body.id) {
    DATUM_CO_TRY(store_.history->execute(core::ReceiveDeclaration{body.id}));
    received_ = body.id;
  }
  if (body.manifest_bytes == 0 || body.manifest_bytes > kMaxDeclaredManifest)
    co_return fail(ErrorCode::refused, "its manifest has " + std::to_string(body.manifest_bytes) +
                                           " bytes, which none has");
  if (!store_.blobs->contains(body.id.manifest)) {
    std::vector<WantedBlob> wanted{{body.id.manifest, body.manifest_bytes}};
    auto fetching = fetch_blobs(std::move(wanted));
    DATUM_CO_TRY(co_await fetching);
  }
  auto reading = read_manifest(body.id.manifest);
  DATUM_CO_ASSIGN(fetch->manifest, co_await reading);
  if (fetch->manifest->host != body.id.node)
    co_return fail(ErrorCode::refused, "its manifest is for " + fetch->manifest->host);
  if (fetch->manifest->resources.empty() && !body.is_final)
    co_return fail(ErrorCode::refused, "its manifest is empty, and not marked final");
  auto content = fetch_content(fetch);
  DATUM_CO_TRY(co_await content);
  auto keeping = keep(fetch);
  co_return co_await keeping;
}

loop::Task<Status> DeclarationTaker::fetch_blobs(std::vector<WantedBlob> wanted) {
  core::BlobRequest request;
  for (const auto& each : wanted) request.wanted.push_back(each.digest);
  std::function<void(std::function<void(Status)>)> begin =
      [this, wanted, request](std::function<void(Status)> resume) {
        receiver_.begin(wanted, std::move(resume));
        talk_.send(request);
      };
  auto wait = loop::wait_for<Status>(std::move(begin));
  co_return co_await wait;
}

loop::Task<Result<model::ManifestPtr>> DeclarationTaker::read_manifest(Digest digest) {
  using Read = Result<model::ManifestPtr>;
  std::function<Read()> work = [blobs = store_.blobs.get(), digest]() -> Read {
    DATUM_ASSIGN(const auto bytes, blobs->read(digest, kMaxDeclaredManifest));
    auto manifest = codec::decode_manifest(bytes);
    // The bytes are those that were signed: it is what its signer made of it.
    if (!manifest)
      return fail(ErrorCode::refused, "its manifest cannot be read: " + manifest.error().message());
    return manifest;
  };
  auto reading = loop::run_on<Read>(*worker_, std::move(work));
  co_return co_await reading;
}

// Each content once, as far as it is not here; in batches.
loop::Task<Status> DeclarationTaker::fetch_content(std::shared_ptr<Fetch> fetch) {
  using Missing = std::vector<WantedBlob>;
  std::function<Missing()> work = [blobs = store_.blobs.get(), manifest = fetch->manifest] {
    Missing missing;
    std::set<Digest> seen;
    for (const auto& resource : manifest->resources) {
      const auto* content = resource->content();
      if (content == nullptr || content->digest.empty()) continue;
      if (content->size <= model::kInlineContent || !seen.insert(content->digest).second) continue;
      if (!blobs->contains(content->digest)) missing.push_back({content->digest, content->size});
    }
    return missing;
  };
  auto looking = loop::run_on<Missing>(*worker_, std::move(work));
  const auto missing = co_await looking;
  for (std::size_t at = 0; at < missing.size(); at += kMostWanted) {
    const auto end = std::min(at + kMostWanted, missing.size());
    Missing batch(missing.begin() + static_cast<std::ptrdiff_t>(at),
                  missing.begin() + static_cast<std::ptrdiff_t>(end));
    auto fetching = fetch_blobs(std::move(batch));
    DATUM_CO_TRY(co_await fetching);
  }
  co_return Status{};
}

// Blobs, then the declaration's file, then the record, then the word of it: each rests on the one
// before.
loop::Task<Status> DeclarationTaker::keep(std::shared_ptr<Fetch> fetch) {
  std::function<Status()> work = [blobs = store_.blobs.get(), files = &files_,
                                  folder = store_.folder, fetch]() -> Status {
    DATUM_TRY(blobs->sync());
    return keep_declaration(*files, folder, fetch->body.id, fetch->declaration);
  };
  auto keeping = loop::run_on<Status>(*worker_, std::move(work));
  DATUM_CO_TRY(co_await keeping);
  auto& history = *store_.history;
  DATUM_CO_ASSIGN(const auto executed,
                  history.execute(core::StoreDeclaration{fetch->body.id, fetch->body.provenance}));
  auto waiting = wait_durable(history);
  DATUM_CO_TRY(co_await waiting);
  stored_at_ = executed.seq;
  answer(fetch->body.id, core::DeclarationStep::stored, stored_at_);
  talk_.stored();
  co_return Status{};
}

bool DeclarationTaker::has_stored() const {
  const auto& history = *store_.history;
  const auto& state = history.state();
  if (!history.healthy() || history.is_unrecorded() || state.pass || !state.stored) return false;
  // What a mesh had sent that this machine has left is not accepted any more.
  if (state.stored->mesh != identity_->mesh_id) return false;
  return !state.accepted || core::is_above(*state.stored, *state.accepted);
}

loop::Task<Status> DeclarationTaker::accept() {
  auto& history = *store_.history;
  const auto id = *history.state().stored;
  using Body = Result<core::DeclarationBody>;
  // Its guard lies there before anything of it may take effect.
  std::function<Body()> work = [files = &files_, folder = store_.folder, id,
                                since = history.state().seq]() -> Body {
    DATUM_ASSIGN(auto body, read_or_empty(*files, folder, id));
    const auto within_ns = body.revert_unless_linked_ns;
    if (within_ns > 0)
      DATUM_TRY(write_link_guard(
          *files, folder, {id.mesh, id.epoch, id.number, since, within_ns, GuardStand::waiting}));
    return body;
  };
  auto reading = loop::run_on<Body>(*worker_, std::move(work));
  DATUM_CO_ASSIGN(const auto body, co_await reading);
  core::AcceptDeclaration command{id, body.provenance, {}};
  command.actor = {core::ActorKind::control_plane, body.provenance.pushed_by, 0, ""};
  DATUM_CO_ASSIGN(const auto executed, history.execute(command));
  auto waiting = wait_durable(history);
  DATUM_CO_TRY(co_await waiting);
  accepted_at_ = executed.seq;
  answer(id, core::DeclarationStep::accepted, accepted_at_);
  std::vector<core::DeclarationId> kept{id};
  if (const auto& stored = history.state().stored) kept.push_back(*stored);
  if (fetching_) kept.push_back(fetching_->body.id);
  std::function<Status()> drop = [files = &files_, folder = store_.folder, kept] {
    return drop_declarations(*files, folder, kept);
  };
  auto dropping = loop::run_on<Status>(*worker_, std::move(drop));
  if (auto dropped = co_await dropping; !dropped) talk_.trouble(dropped.error().message());
  co_return Status{};
}

void DeclarationTaker::applied(Seq at) {
  const auto& accepted = store_.history->state().accepted;
  if (!accepted || told_applied_ == accepted) return;
  told_applied_ = accepted;
  applied_at_ = at;
  answer(*accepted, core::DeclarationStep::applied, at);
}

Result<AcceptedDeclaration> read_accepted(os::Files& files, const std::string& store_folder,
                                          const blobs::BlobStore& blobs,
                                          const core::DeclarationId& id) {
  AcceptedDeclaration accepted;
  DATUM_ASSIGN(accepted.body, read_or_empty(files, store_folder, id));
  DATUM_ASSIGN(const auto bytes, blobs.read(id.manifest, kMaxDeclaredManifest));
  DATUM_ASSIGN(accepted.manifest, codec::decode_manifest(bytes));
  if (accepted.body.is_final) {
    auto copy = std::make_shared<model::Manifest>(*accepted.manifest);
    copy->final = true;
    accepted.manifest = std::move(copy);
  }
  return accepted;
}

}  // namespace datum::engine
