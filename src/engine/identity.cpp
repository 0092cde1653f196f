// Files of an identity, and what makes a grant one.
#include "datum/engine/identity.hpp"

#include <algorithm>
#include <utility>

#include "datum/codec/link.hpp"
#include "datum/link/trust.hpp"
#include "sealed_file.hpp"

namespace datum::engine {
namespace {

constexpr std::string_view kKeyFile = "key.pem";
constexpr std::string_view kGrantFile = "grant";
constexpr std::string_view kMagic = "DATUMID1";
// A grant with its certificates takes about 2 KiB; its frame bounds it.
constexpr std::size_t kMaxGrantFile = 512 * 1024;
constexpr std::size_t kGrantHead = 16;
// Roots and signers of one mesh: a few, and as many again while they change.
constexpr std::size_t kMostAuthorities = 16;
constexpr std::size_t kMostSigners = 64;

tl::unexpected<Error> bad_grant(std::string_view what) {
  return fail(ErrorCode::refused, "the grant is not good: " + std::string(what));
}

// Magic, sizes of both parts, addresses as lines, the grant as on the link; sealed.
Bytes encode_grant_file(const core::EnrolmentGrant& grant,
                        const std::vector<std::string>& addresses) {
  std::string lines;
  for (const auto& address : addresses) lines += address + "\n";
  const auto message = codec::encode_link(core::LinkMessage(grant));
  Bytes bytes = to_bytes(kMagic);
  bytes.resize(kGrantHead);
  store_le(bytes.data() + 8, static_cast<std::uint32_t>(lines.size()));
  store_le(bytes.data() + 12, static_cast<std::uint32_t>(message.size()));
  const auto text = as_bytes(lines);
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.insert(bytes.end(), message.begin(), message.end());
  return bytes;
}

struct GrantFile {
  core::EnrolmentGrant grant;
  std::vector<std::string> addresses;
};

Result<GrantFile> decode_grant_file(ByteView body) {
  const auto corrupt = [] { return fail(ErrorCode::corrupt, "identity/grant is damaged"); };
  if (body.size() < kGrantHead || as_text(body.first(kMagic.size())) != kMagic) return corrupt();
  const std::size_t lines = load_le<std::uint32_t>(body.data() + 8);
  const std::size_t message = load_le<std::uint32_t>(body.data() + 12);
  if (kGrantHead + lines + message != body.size()) return corrupt();
  GrantFile file;
  auto text = as_text(body.subspan(kGrantHead, lines));
  while (!text.empty()) {
    const auto end = text.find('\n');
    file.addresses.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  // Aligned: the decoder reads in place.
  const Bytes copy(body.begin() + static_cast<std::ptrdiff_t>(kGrantHead + lines), body.end());
  DATUM_ASSIGN(auto read, codec::decode_link(
                              static_cast<std::uint8_t>(core::LinkKind::enrolment_grant), copy));
  auto* grant = read ? std::get_if<core::EnrolmentGrant>(&*read) : nullptr;
  if (grant == nullptr) return corrupt();
  file.grant = std::move(*grant);
  return file;
}

Status read_authorities(const core::EnrolmentGrant& grant, NodeIdentity& identity) {
  if (grant.authorities.empty() || grant.authorities.size() > kMostAuthorities)
    return bad_grant("it names " + std::to_string(grant.authorities.size()) + " authorities");
  for (const auto& der : grant.authorities) {
    auto authority = crypto::read_certificate(der);
    if (!authority || authority->subject.role != crypto::Role::authority ||
        authority->subject.mesh != grant.mesh)
      return bad_grant("one of its authorities is none of " + grant.mesh);
    identity.authorities.push_back(std::move(*authority));
  }
  return {};
}

}  // namespace

Result<NodeIdentity> check_grant(const core::EnrolmentGrant& grant, const crypto::PublicKey& key) {
  NodeIdentity identity;
  identity.mesh = grant.mesh;
  identity.node = grant.node;
  identity.mesh_id = grant.mesh_id;
  identity.labels = grant.labels;
  if (!crypto::is_name(grant.mesh) || !crypto::is_name(grant.node))
    return bad_grant("a name in it is none");
  if (grant.mesh_id.empty()) return bad_grant("it does not say which mesh it is of");
  DATUM_TRY(read_authorities(grant, identity));
  auto certificate = crypto::read_certificate(grant.certificate);
  if (!certificate) return bad_grant(certificate.error().message());
  if (certificate->key != key) return bad_grant("its certificate is for another key");
  if (certificate->subject.name != grant.node)
    return bad_grant("its certificate names " + certificate->subject.name + ", not " + grant.node);
  // At a moment at which it is valid by itself: clocks are another matter.
  const WallNs within{certificate->validity.not_before_s * kNsPerSecond};
  const auto judged =
      crypto::judge(*certificate, identity.authorities, crypto::Role::node, grant.mesh, within);
  const bool is_clock = judged.distrust == crypto::Distrust::not_yet_valid ||
                        judged.distrust == crypto::Distrust::expired;
  if (judged.distrust != crypto::Distrust::none && !is_clock) return bad_grant(judged.why);
  identity.certificate = std::move(*certificate);
  if (grant.signers.empty() || grant.signers.size() > kMostSigners)
    return bad_grant("it names " + std::to_string(grant.signers.size()) + " signers");
  for (const auto& bytes : grant.signers) {
    auto signer = crypto::PublicKey::from_bytes(bytes);
    if (!signer) return bad_grant("one of its signers is no key");
    identity.signers.push_back(*signer);
  }
  return identity;
}

IdentityFiles::IdentityFiles(os::Files& files, std::string store_folder)
    : files_(files), folder_(std::move(store_folder)) {}

Result<os::Handle> IdentityFiles::open_folder() const {
  DATUM_ASSIGN(const auto store, files_.open_root(folder_));
  return files_.open_directory(store, kIdentityFolder, os::Follow::no);
}

Result<std::optional<crypto::PrivateKey>> IdentityFiles::read_key() const {
  const auto folder = open_folder();
  if (!folder && folder.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!folder) return fail(folder.error());
  const auto found = files_.stat_at(*folder, kKeyFile);
  if (found && (found->mode & 077U) != 0)
    return fail(
        ErrorCode::refused,
        "identity/key.pem: others may read or write it: chmod 600 it, or enrol with a new key");
  auto bytes = read_whole(files_, *folder, kKeyFile, crypto::PrivateKey::kMaxPem);
  if (!bytes && bytes.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!bytes) return fail(std::move(bytes).error());
  auto key = crypto::PrivateKey::from_pem(as_text(*bytes));
  crypto::wipe(*bytes);
  if (!key) return fail(std::move(key).error().context("identity/key.pem"));
  return std::optional<crypto::PrivateKey>(std::move(*key));
}

Result<IdentityFiles::OwnKey> IdentityFiles::read_or_make_key() const {
  DATUM_ASSIGN(auto found, read_key());
  if (found) return OwnKey{std::move(*found), false};
  DATUM_ASSIGN(const auto folder, make_store_folder(files_, folder_, kIdentityFolder));
  DATUM_ASSIGN(auto key, crypto::PrivateKey::generate());
  auto pem = key.to_pem();
  auto written = write_whole(files_, folder, kKeyFile, as_bytes(pem), true);
  crypto::wipe(pem);
  if (!written) return fail(std::move(written).error());
  return OwnKey{std::move(key), true};
}

Status IdentityFiles::set_key_aside() const {
  DATUM_ASSIGN(const auto key, read_key());
  if (!key) return {};
  DATUM_ASSIGN(const auto folder, open_folder());
  constexpr std::size_t kEnough = 16;  // hexadecimal digits: to tell a few keys apart
  const auto aside = "key." + key->public_key().fingerprint().hex().substr(0, kEnough) + ".pem";
  DATUM_TRY(files_.rename(folder, kKeyFile, folder, aside, false));
  return files_.sync(folder);
}

Result<std::optional<NodeIdentity>> IdentityFiles::read() const {
  const auto folder = open_folder();
  if (!folder && folder.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!folder) return fail(folder.error());
  auto bytes = read_sealed(files_, *folder, kGrantFile, kMaxGrantFile);
  if (!bytes && bytes.error().code() == ErrorCode::not_found) return std::nullopt;
  if (!bytes) return fail(std::move(bytes).error());
  DATUM_ASSIGN(auto file, decode_grant_file(*bytes));
  DATUM_ASSIGN(const auto key, read_key());
  if (!key)
    return fail(ErrorCode::corrupt,
                "identity/key.pem is missing beside identity/grant: this machine cannot show that "
                "it is " +
                    file.grant.node + " any more; enrol it again");
  DATUM_ASSIGN(auto identity, check_grant(file.grant, key->public_key()));
  identity.addresses = std::move(file.addresses);
  return std::optional<NodeIdentity>(std::move(identity));
}

Status IdentityFiles::write(const core::EnrolmentGrant& grant,
                            const std::vector<std::string>& addresses) const {
  DATUM_ASSIGN(const auto folder, make_store_folder(files_, folder_, kIdentityFolder));
  return write_sealed(files_, folder, kGrantFile, encode_grant_file(grant, addresses));
}

Status IdentityFiles::remove() const {
  const auto folder = open_folder();
  if (!folder && folder.error().code() == ErrorCode::not_found) return {};
  if (!folder) return fail(folder.error());
  DATUM_TRY(remove_if_there(files_, *folder, kGrantFile));
  // Another mesh numbers its orders anew.
  DATUM_TRY(remove_if_there(files_, *folder, kOrderFile));
  return files_.sync(*folder);
}

Result<wire::TlsContext> make_link_context(const NodeIdentity& identity,
                                           const crypto::PrivateKey& key, loop::Clock& clock) {
  wire::TlsIdentity shown;
  shown.certificate = identity.certificate.der;
  shown.private_key = key.to_der();
  auto context =
      wire::TlsContext::make(wire::TlsEnd::connects, shown,
                             link::trust_authorities(identity.authorities, identity.mesh, clock));
  crypto::wipe(shown.private_key);
  return context;
}

}  // namespace datum::engine
