// What a control plane may say to its node once it is known: frames as they come, each message read
// and handed to whoever takes it. A declaration or grant that nobody of the mesh signed is never
// taken; of parts of blobs only those become a blob that are exactly the bytes that were asked for,
// and the end is told once.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "datum/codec/link.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/blob_receiver.hpp"
#include "datum/engine/declaration_files.hpp"
#include "datum/wire/frame.hpp"
#include "support/model_files.hpp"
#include "support/sim_loop.hpp"

namespace {

using namespace datum;

void must(bool holds) {
  if (!holds) std::abort();
}

class FewBlobs final : public blobs::BlobStore {
 public:
  Result<blobs::Stored> put(ByteView content) override {
    const auto digest = crypto::sha256(content);
    kept[digest] = Bytes(content.begin(), content.end());
    return blobs::Stored{digest, content.size()};
  }
  Result<blobs::Stored> put_stream(ByteSource&) override {
    return fail(ErrorCode::unsupported, "no stream");
  }
  Status sync() override { return {}; }
  [[nodiscard]] bool contains(const Digest& digest) const override { return kept.contains(digest); }
  [[nodiscard]] Result<Bytes> read(const Digest& digest, std::size_t) const override {
    return kept.at(digest);
  }
  [[nodiscard]] Result<std::uint64_t> used() const override { return 0; }
  Status remove(const Digest&) override { return {}; }
  [[nodiscard]] Result<std::uint64_t> used_by(std::span<const Digest>) const override { return 0; }
  Result<std::uint64_t> sweep(const blobs::SweepRoots&, std::int64_t) override { return 0; }
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest&) const override {
    return fail(ErrorCode::not_found, "none");
  }
  std::map<Digest, Bytes> kept;
};

const std::array<Bytes, 2>& wanted_bytes() {
  static const std::array<Bytes, 2> bytes{to_bytes("first"), to_bytes("the second blob")};
  return bytes;
}

engine::NodeIdentity stranger_identity() {
  engine::NodeIdentity identity;
  identity.mesh = "prod";
  identity.node = "web-1";
  identity.mesh_id.bytes.fill(9);
  identity.signers.resize(1);  // a key that verifies nothing
  return identity;
}

class Node {
 public:
  Node() {
    files_.put_directory("/store", 0700);
    std::vector<engine::WantedBlob> wanted;
    for (const auto& bytes : wanted_bytes())
      wanted.push_back({crypto::sha256(bytes), bytes.size()});
    receiver_.begin(wanted, [this](const Status& status) {
      must(++ends_ == 1);
      if (!status) return;
      for (const auto& bytes : wanted_bytes()) must(blobs_.contains(crypto::sha256(bytes)));
    });
  }
  void take(std::uint8_t kind, ByteView message) {
    const Bytes aligned(message.begin(), message.end());
    auto read = codec::decode_link(kind, aligned);
    if (!read || !*read) return;
    if (const auto* pushed = std::get_if<core::PushedDeclaration>(&**read))
      must(!engine::verify_declaration(pushed->declaration, stranger_identity()));
    if (const auto* grant = std::get_if<core::EnrolmentGrant>(&**read))
      must(!engine::check_grant(*grant, crypto::PublicKey{}));
    if (auto* part = std::get_if<core::BlobPart>(&**read)) receiver_.take(std::move(*part));
    loop_.run_for(kNsPerMs);
  }
  void end() {
    loop_.run_for(kNsPerSecond);
    for (const auto& [digest, bytes] : blobs_.kept)
      must(bytes == wanted_bytes()[0] || bytes == wanted_bytes()[1]);
  }

 private:
  support::SimLoop loop_{1};
  support::ModelFiles files_;
  FewBlobs blobs_;
  std::unique_ptr<loop::Worker> worker_ = loop_.make_serial_worker();
  engine::BlobReceiver receiver_{files_, "/store", blobs_, *worker_};
  int ends_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteView rest(reinterpret_cast<const std::byte*>(data), size);
  Node node;
  while (rest.size() >= wire::kFrameHead) {
    const auto head = wire::read_frame_head(rest.first<wire::kFrameHead>(), wire::kMaxFrame);
    if (!head) break;
    rest = rest.subspan(wire::kFrameHead);
    const auto message = rest.first(std::min<std::size_t>(rest.size(), head->size));
    node.take(head->kind, message);
    rest = rest.subspan(message.size());
  }
  node.end();
  return 0;
}
