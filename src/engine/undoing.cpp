// From what a pass did to what there was before: one resource for each target, with its owner as a
// number, and beside it what no resource can declare.
#include "datum/engine/undoing.hpp"

#include <algorithm>
#include <set>

#include "co_try.hpp"
#include "datum/codec/documents.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/archive.hpp"
#include "datum/history/plan.hpp"
#include "datum/resource/kept.hpp"
#include "done.hpp"
#include "running.hpp"
#include "undo_parts.hpp"

namespace datum::engine {

namespace {

using model::Field;
using model::ResourceType;

// Attributes of one path: the kernel's list is at most 64 KiB of names and as much for each value.
constexpr std::size_t kMaxAttributes = std::size_t{2} << 20U;
constexpr std::size_t kReadSize = 64 * 1024;
// A value has at most 4 KiB, and a line for what was before.
constexpr std::size_t kMaxDropIn = 64 * 1024;
// Of a list that a part stands in, as large as it is read.
constexpr std::size_t kMaxPart = std::size_t{16} << 20U;

// Old content by the digest of what it is, not of how it is kept.
class KeptContents final : public ContentSource {
 public:
  explicit KeptContents(const blobs::BlobStore& blobs) : blobs_(blobs) {}

  void add(const Digest& plain, const Digest& blob) { blobs_by_plain_[plain] = blob; }
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto found = blobs_by_plain_.find(digest);
    if (found == blobs_by_plain_.end())
      return fail(ErrorCode::not_found, "no old content of that digest was kept");
    DATUM_ASSIGN(auto kept, resource::open_kept(blobs_, found->second));
    return std::move(kept.stream);
  }

 private:
  const blobs::BlobStore& blobs_;
  std::map<Digest, Digest> blobs_by_plain_;
};

struct Read {
  Digest plain;
  std::uint64_t size = 0;
  bool sensitive = false;
  std::string bytes;  // as many as were asked for
};

Result<Read> read_kept(const blobs::BlobStore& blobs, const Digest& digest, std::size_t keep) {
  DATUM_ASSIGN(const auto kept, resource::open_kept(blobs, digest));
  Read read;
  read.sensitive = kept.sensitive;
  crypto::Sha256 sha;
  Bytes piece(kReadSize);
  for (;;) {
    DATUM_ASSIGN(const auto count, kept.stream->read(piece));
    if (count == 0) break;
    const auto part = ByteView(piece).first(count);
    sha.update(part);
    read.size += count;
    const auto room = keep - std::min(keep, read.bytes.size());
    read.bytes.append(as_text(part.first(std::min(room, count))));
  }
  read.plain = sha.finish();
  return read;
}

ResourceType type_of(core::Found found) {
  switch (found) {
    case core::Found::directory:
      return ResourceType::directory;
    case core::Found::symlink:
      return ResourceType::symlink;
    default:
      return ResourceType::file;
  }
}

bool changes_content(const Done& done) {
  using core::ActionKind;
  const auto kind = done.announced.kind;
  if (kind != ActionKind::update) return true;
  if (!done.announced.old_content.empty() || !done.not_kept.empty()) return true;
  // A success that changed content says what became of the old one, also where the plan is gone.
  if (!done.changes) return false;
  return std::any_of(done.changes->begin(), done.changes->end(), [](const auto& change) {
    return change.field == "content" || change.field == "target" || change.field == "type";
  });
}

std::string octal(std::uint32_t mode) {
  std::string text;
  for (int shift = 9; shift >= 0; shift -= 3)
    text.push_back(static_cast<char>('0' + (mode >> static_cast<unsigned>(shift) & 7U)));
  return text;
}

// Names of resources that do not collide: the document's own where one action bears it, else with
// the entry's or the action's number behind it.
class Names {
 public:
  model::Reference make(ResourceType type, const Done& done) {
    auto name = done.reference.name.str();
    if (done.announced.kind == core::ActionKind::purge) {
      const auto path = done.announced.target.name.view();
      name += ":" + std::string(path.substr(path.rfind('/') + 1));
    }
    if (name.empty()) name = "target";
    constexpr std::size_t kRoomForNumber = 12;
    if (name.size() > model::kMaxName - kRoomForNumber)
      name.resize(model::kMaxName - kRoomForNumber);
    model::Reference reference{type, name};
    if (!taken_.insert(reference).second) {
      reference.name = name + ":" + std::to_string(done.announced.ordinal);
      taken_.insert(reference);
    }
    return reference;
  }

 private:
  std::set<model::Reference> taken_;
};

// A million resources; as upkeep has it.
constexpr std::size_t kMaxKeptManifest = std::size_t{1} << 30U;

// One that is damaged is as good as none: nothing that is put back depends on it.
model::ManifestPtr find_declared(const blobs::BlobStore& blobs, const Digest& manifest) {
  if (manifest.empty() || !blobs.contains(manifest)) return nullptr;
  const auto bytes = blobs.read(manifest, kMaxKeptManifest);
  if (!bytes) return nullptr;
  auto decoded = codec::decode_manifest(*bytes);
  return decoded ? std::move(*decoded) : nullptr;
}

class Builder {
 public:
  Builder(const blobs::BlobStore& blobs, PassId pass, const core::State& state)
      : blobs_(blobs),
        pass_(pass),
        state_(state),
        content_(std::make_shared<KeptContents>(blobs)) {}

  Result<UndoingPtr> run(const DonePass& pass) {
    auto undoing = std::make_shared<Undoing>();
    undoing->reversal.pass = pass_;
    if (pass.started.reverts == 0) undoing->reversal.manifest = pass.started.declaration.manifest;
    for (const auto& [target, done] : pass.done) add(done, pass, undoing->reversal);
    manifest_.host = state_.host;
    manifest_.source = "what was there before pass " + std::to_string(pass_);
    DATUM_TRY(model::finish_manifest(manifest_));
    // It stands in records: a digest over contents would tell of sensitive ones.
    manifest_.digest = crypto::sha256(
        as_bytes("datum revert " + state_.store.hex() + " " + std::to_string(pass_)));
    undoing->manifest = std::make_shared<const model::Manifest>(std::move(manifest_));
    undoing->content = content_;
    undoing->former = std::make_shared<const resource::FormerStates>(std::move(former_));
    undoing->declared = find_declared(blobs_, state_.last_declared);
    return UndoingPtr(std::move(undoing));
  }

 private:
  void add(const Done& done, const DonePass& pass, core::Reversal& reversal) {
    core::Undo undo;
    undo.target = done.announced.target;
    undo.origin = done.reference;
    undo.left = done.left;
    undo.traces = done.traces;
    undo.disowns = done.disowns;
    undo.owned = done.owned;
    undo.restores = done.announced.before != core::Found::absent;
    const auto shape = undo.restores ? done.announced.before : done.left.found;
    const bool is_path = undo.target.family == model::TargetFamily::path;
    undo.reference = is_path ? names_.make(type_of(shape), done) : done.reference;
    add_notifications(pass, undo);
    auto resource = declare(done, undo);
    if (resource)
      manifest_.resources.push_back(std::move(*resource));
    else
      undo.refusal = resource.error().message();
    reversal.undos.push_back(std::move(undo));
  }

  void add_notifications(const DonePass& pass, core::Undo& undo) const {
    for (const auto& planned : pass.notifications) {
      if (!std::binary_search(planned.by.begin(), planned.by.end(), undo.origin)) continue;
      for (const auto& [target, known] : state_.resources)
        if (known.reference == planned.service)
          undo.notifications.push_back({target, planned.service, planned.restart});
    }
  }

  Result<model::ResourcePtr> declare(const Done& done, const core::Undo& undo) {
    using core::Found;
    if (undo.target.family == model::TargetFamily::sysctl) return declare_sysctl(done, undo);
    if (is_part(undo.target.family)) return declare_part(done, undo);
    if (undo.target.family != model::TargetFamily::path)
      return fail(ErrorCode::unsupported, std::string("what a ")
                                              .append(to_string(undo.target.family))
                                              .append(" was before is not recorded"));
    if (!done.tellable)
      return fail(ErrorCode::conflict, "nobody can tell whether the action took effect");
    model::Resource resource;
    resource.reference = undo.reference;
    set(resource, Field::path, undo.target.name.str());
    switch (done.announced.before) {
      case Found::absent:
        set(resource, Field::state, std::string("absent"));
        break;
      case Found::file:
        DATUM_TRY(declare_file(done, resource));
        break;
      case Found::directory:
        DATUM_TRY(declare_metadata(done, resource));
        break;
      case Found::symlink:
        DATUM_TRY(declare_link(done, resource));
        break;
      default:
        return fail(ErrorCode::unsupported, "what was there was no file, folder or link");
    }
    model::finish_resource(resource);
    return std::make_shared<const model::Resource>(std::move(resource));
  }

  // A name, a zone, a key, a value, a mount, a timer.
  Result<model::ResourcePtr> declare_part(const Done& done, const core::Undo& undo) {
    if (!done.tellable)
      return fail(ErrorCode::conflict, "nobody can tell whether the action took effect");
    std::string old;
    if (done.announced.before != core::Found::absent && !done.announced.old_content.empty()) {
      DATUM_ASSIGN(auto read, read_content(done, kMaxPart));
      if (read.size > kMaxPart) return fail(ErrorCode::limit_exceeded, "its old file is too large");
      old = std::move(read.bytes);
    }
    DATUM_ASSIGN(auto fields, former_part(done, undo.target, old));
    model::Resource resource;
    resource.reference = undo.reference;
    resource.fields = std::move(fields);
    model::finish_resource(resource);
    return std::make_shared<const model::Resource>(std::move(resource));
  }

  // What the kernel had beside its drop-in goes with the drop-in.
  Result<model::ResourcePtr> declare_sysctl(const Done& done, const core::Undo& undo) {
    if (!done.tellable)
      return fail(ErrorCode::conflict, "nobody can tell whether the action took effect");
    model::Resource resource;
    resource.reference = undo.reference;
    set(resource, Field::key, undo.target.name.str());
    if (done.announced.before == core::Found::absent) {
      set(resource, Field::state, std::string("absent"));
    } else {
      if (done.announced.old_content.empty())
        return fail(ErrorCode::not_found, "no other drop-in of it was kept");
      DATUM_ASSIGN(const auto read, read_content(done, kMaxDropIn));
      auto value = resource::find_persisted_value(read.bytes, undo.target.name);
      if (!value) return fail(ErrorCode::not_found, "its old drop-in did not set it");
      set(resource, Field::value, std::move(*value));
    }
    model::finish_resource(resource);
    return std::make_shared<const model::Resource>(std::move(resource));
  }

  static void set(model::Resource& resource, Field field, model::Value value) {
    resource.fields.push_back({field, std::move(value)});
  }

  static Status check_content(const Done& done) {
    if (done.announced.kind == core::ActionKind::update && !done.changes && !done.told &&
        done.announced.old_content.empty())
      return fail(ErrorCode::not_found, "the plan of that pass is not kept any more");
    if (!changes_content(done) || !done.announced.old_content.empty()) return {};
    return fail(ErrorCode::not_found,
                "its old content was not kept" +
                    (done.not_kept.empty() ? std::string() : ": " + done.not_kept));
  }

  Result<Read> read_content(const Done& done, std::size_t keep) const {
    auto read = read_kept(blobs_, done.announced.old_content, keep);
    if (read) return read;
    if (read.error().code() == ErrorCode::not_found)
      return fail(ErrorCode::not_found, "its old content is not kept any more");
    return fail(std::move(read).error().context("its old content cannot be read"));
  }

  Status declare_file(const Done& done, model::Resource& resource) {
    DATUM_TRY(check_content(done));
    bool sensitive = false;
    if (changes_content(done)) {
      DATUM_ASSIGN(auto read, read_content(done, model::kInlineContent));
      sensitive = read.sensitive;
      content_->add(read.plain, done.announced.old_content);
      set(resource, Field::content, model::Content{read.plain, read.size, {}, false, false, {}});
    }
    if (sensitive) set(resource, Field::sensitive, true);
    // A file that was written in place, or only given another owner, may have other names.
    const bool same_object =
        done.announced.kind == core::ActionKind::update && (!done.atomic || !changes_content(done));
    if (same_object) set(resource, Field::hard_links, std::string("inPlace"));
    if (!done.atomic) set(resource, Field::replace, std::string("inPlace"));
    return declare_metadata(done, resource);
  }

  Status declare_link(const Done& done, model::Resource& resource) {
    DATUM_TRY(check_content(done));
    DATUM_ASSIGN(auto read, read_content(done, model::kMaxPath));
    set(resource, Field::target, std::move(read.bytes));
    former_[done.announced.target].traces = done.announced.traces;
    return {};
  }

  Status declare_metadata(const Done& done, model::Resource& resource) {
    const auto& before = done.announced.traces;
    if (!before) return fail(ErrorCode::not_found, "its owner and mode were not recorded");
    resource::Former former;
    former.traces = before;
    if (!done.announced.attributes.empty()) {
      DATUM_ASSIGN(former.attributes, read_attributes(done.announced.attributes));
    }
    former_[done.announced.target] = std::move(former);
    set(resource, Field::owner, std::to_string(before->uid));
    set(resource, Field::group, std::to_string(before->gid));
    set(resource, Field::mode, octal(before->mode));
    constexpr std::uint32_t kPrivileged = 06002;
    if ((before->mode & kPrivileged) != 0) set(resource, Field::allow_privileged, true);
    return {};
  }

  Result<std::vector<os::Attribute>> read_attributes(const Digest& digest) const {
    auto read = read_kept(blobs_, digest, kMaxAttributes);
    auto attributes = read ? resource::decode_attributes(as_bytes(read->bytes))
                           : Result<std::vector<os::Attribute>>(fail(std::move(read).error()));
    if (!attributes)
      return fail(std::move(attributes).error().context("its attributes are not at hand"));
    return attributes;
  }

  const blobs::BlobStore& blobs_;
  PassId pass_;
  const core::State& state_;
  std::shared_ptr<KeptContents> content_;
  Names names_;
  model::Manifest manifest_;
  resource::FormerStates former_;
};

// What of the state the pool may see: the loop's own goes on evolving.
core::State excerpt(const core::State& state) {
  core::State part;
  part.store = state.store;
  part.host = state.host;
  part.last_declared = state.last_declared;
  for (const auto& [target, resource] : state.resources)
    if (target.family == model::TargetFamily::unit) part.resources.emplace(target, resource);
  return part;
}

}  // namespace

loop::Task<Result<UndoingPtr>> prepare_undoing(loop::Loop& loop, Store& store, PassId pass) {
  auto durable = wait_durable(*store.history);
  DATUM_CO_TRY(co_await durable);
  DATUM_CO_ASSIGN(auto live, store.history->log()->make_reader());
  DATUM_CO_ASSIGN(const std::shared_ptr<journal::Reader> reader,
                  journal::join_archive(std::move(live), history::archive_folder(store.folder)));
  std::function<Result<UndoingPtr>()> work =
      [reader, pass, blobs = store.blobs.get(),
       state = excerpt(store.history->state())]() -> Result<UndoingPtr> {
    DATUM_ASSIGN(const auto done, read_done(*reader, *blobs, pass));
    return Builder(*blobs, pass, state).run(done);
  };
  auto preparing = loop::run_on<Result<UndoingPtr>>(loop.pool(), std::move(work));
  co_return co_await preparing;
}

}  // namespace datum::engine
