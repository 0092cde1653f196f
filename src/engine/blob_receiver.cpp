#include "datum/engine/blob_receiver.hpp"

#include <utility>

#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

tl::unexpected<Error> not_as_named(const Digest& wanted) {
  return fail(ErrorCode::corrupt, "the blob " + wanted.hex() + " came with other bytes");
}

class OpenFileSource final : public ByteSource {
 public:
  OpenFileSource(os::Files& files, const os::Handle& file) : files_(files), file_(file) {}
  Result<std::size_t> read(MutableByteView out) override { return files_.read(file_, out); }

 private:
  os::Files& files_;
  const os::Handle& file_;
};

}  // namespace

// Only jobs of the worker touch it.
struct BlobReceiver::Spool {
  os::Handle folder, file;
  crypto::Sha256 sha;

  Status open(os::Files& files, const std::string& store) {
    DATUM_ASSIGN(folder, files.open_root(store));
    DATUM_TRY(remove_if_there(files, folder, kIncomingName));
    DATUM_ASSIGN(file, files.create_file(folder, kIncomingName));
    return {};
  }
  Status write(os::Files& files, ByteView bytes) {
    sha.update(bytes);
    return files.write(file, bytes);
  }
  Status store(os::Files& files, blobs::BlobStore& blobs, const Digest& wanted) {
    if (sha.finish() != wanted) return not_as_named(wanted);
    DATUM_TRY(files.seek(file, 0));
    OpenFileSource source(files, file);
    DATUM_ASSIGN(const auto stored, blobs.put_stream(source));
    if (stored.digest != wanted) return not_as_named(wanted);
    return files.remove_file(folder, kIncomingName);
  }
};

BlobReceiver::BlobReceiver(os::Files& files, std::string store_folder, blobs::BlobStore& blobs,
                           loop::Worker& worker)
    : files_(files), folder_(std::move(store_folder)), blobs_(blobs), worker_(worker) {}
BlobReceiver::~BlobReceiver() = default;

bool BlobReceiver::is_behind() const {
  return behind_ > kMostBytesBehind;
}

void BlobReceiver::begin(std::vector<WantedBlob> wanted, std::function<void(Status)> done) {
  DATUM_ASSERT(!done_ && !wanted.empty());
  ++turn_;
  wanted_.assign(wanted.begin(), wanted.end());
  done_ = std::move(done);
  begin_next();
}

void BlobReceiver::cancel() {
  ++turn_;
  done_ = nullptr;
  wanted_.clear();
  gathered_ = {};
  spool_.reset();
}

void BlobReceiver::begin_next() {
  offset_ = 0;
  gathered_ = {};
  spool_.reset();
  if (wanted_.front().size <= blobs::kPartSize) return;
  spool_ = std::make_shared<Spool>();
  submit([spool = spool_, &files = files_, folder = folder_] { return spool->open(files, folder); },
         0, {});
}

// Jobs run one after the other, so the first that fails ends the rest of its turn.
void BlobReceiver::submit(std::function<Status()> work, std::size_t bytes,
                          std::function<void()> then) {
  behind_ += bytes;
  const auto result = std::make_shared<Status>();
  const std::weak_ptr<bool> alive = alive_;
  worker_.submit([work = std::move(work), result] { *result = work(); },
                 [this, alive, result, bytes, turn = turn_, then = std::move(then)] {
                   if (alive.expired()) return;
                   behind_ -= bytes;
                   if (turn != turn_ || !done_) return;
                   if (!*result) return finish(*result);
                   if (then) then();
                 });
}

void BlobReceiver::take(core::BlobPart part) {
  if (!done_ || wanted_.empty()) return;
  const auto& wanted = wanted_.front();
  if (part.blob == wanted.digest && part.size == 0 && part.bytes.empty())
    return finish(fail(ErrorCode::not_found, "the control plane has no blob " + part.blob.hex()));
  const bool fits = part.blob == wanted.digest && part.size == wanted.size &&
                    part.offset == offset_ && !part.bytes.empty() &&
                    part.bytes.size() <= wanted.size - offset_;
  if (!fits)
    return finish(fail(ErrorCode::corrupt, "a part of blob " + part.blob.hex() +
                                               " came where one of " + wanted.digest.hex() +
                                               " was expected"));
  offset_ += part.bytes.size();
  if (spool_) {
    const auto size = part.bytes.size();
    const auto bytes = std::make_shared<const Bytes>(std::move(part.bytes));
    submit([spool = spool_, bytes, &files = files_] { return spool->write(files, *bytes); }, size,
           {});
  } else {
    gathered_.insert(gathered_.end(), part.bytes.begin(), part.bytes.end());
  }
  if (offset_ == wanted.size) store_front();
}

void BlobReceiver::store_front() {
  const auto digest = wanted_.front().digest;
  std::function<Status()> work;
  std::size_t bytes = 0;
  if (spool_) {
    work = [spool = spool_, &files = files_, &blobs = blobs_, digest] {
      return spool->store(files, blobs, digest);
    };
  } else {
    bytes = gathered_.size();
    work = [content = std::make_shared<const Bytes>(std::move(gathered_)), &blobs = blobs_,
            digest]() -> Status {
      if (crypto::sha256(*content) != digest) return not_as_named(digest);
      DATUM_TRY(blobs.put(*content));
      return {};
    };
  }
  wanted_.pop_front();
  const bool is_last = wanted_.empty();
  std::function<void()> then;
  if (is_last) then = [this] { finish({}); };
  submit(std::move(work), bytes, std::move(then));
  if (!is_last) begin_next();
}

void BlobReceiver::finish(Status status) {
  const auto call = std::exchange(done_, nullptr);
  cancel();
  call(std::move(status));
}

}  // namespace datum::engine
