// TLS by libssl over two memory BIOs. Buffers of a session are given back while it is idle.
#include "datum/wire/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <utility>

#include "datum/base/assert.hpp"
#include "datum/crypto/openssl_handles.hpp"

namespace datum::wire {
namespace {

using ContextHandle = std::unique_ptr<SSL_CTX, crypto::Freed<SSL_CTX_free>>;
using SessionHandle = std::unique_ptr<SSL, crypto::Freed<SSL_free>>;

// The largest record of TLS 1.3 with its head.
constexpr std::size_t kRecord = 16 * 1024 + 256 + 5;
constexpr std::size_t kBinding = 32;
// Certificates of a peer in all: two of 4 KiB at most are of use.
constexpr long kMaxShown = 16 * 1024;

const unsigned char* as_octets(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// What the judge said of the peer.
struct Verdict {
  const JudgePeer* judge = nullptr;
  Status status;
  bool was_asked = false;
};

int verdict_slot() {
  static const int slot = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return slot;
}

std::vector<Bytes> chain_of(X509_STORE_CTX* shown) {
  std::vector<Bytes> chain;
  const auto* untrusted = X509_STORE_CTX_get0_untrusted(shown);
  for (int i = 0; i < sk_X509_num(untrusted); ++i)
    chain.push_back(crypto::to_der(sk_X509_value(untrusted, i)));
  if (chain.empty()) chain.push_back(crypto::to_der(X509_STORE_CTX_get0_cert(shown)));
  return chain;
}

// In place of libcrypto's own chain building.
int judge_shown(X509_STORE_CTX* shown, void*) {
  auto* session =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(shown, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* verdict = static_cast<Verdict*>(SSL_get_ex_data(session, verdict_slot()));
  verdict->was_asked = true;
  verdict->status = (*verdict->judge)(chain_of(shown));
  if (verdict->status) return 1;
  X509_STORE_CTX_set_error(shown, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

Status use_identity(SSL_CTX* context, const TlsIdentity& identity) {
  const auto certificate = as_octets(identity.certificate);
  const auto key = as_octets(identity.private_key);
  const bool good =
      SSL_CTX_use_certificate_ASN1(context, static_cast<int>(identity.certificate.size()),
                                   certificate) == 1 &&
      SSL_CTX_use_PrivateKey_ASN1(EVP_PKEY_ED25519, context, key,
                                  static_cast<long>(identity.private_key.size())) == 1 &&
      SSL_CTX_check_private_key(context) == 1;
  ERR_clear_error();
  if (!good)
    return fail(ErrorCode::invalid_argument,
                "the certificate and the key of this end do not belong together");
  if (identity.authority.empty()) return {};
  const auto* at = as_octets(identity.authority);
  auto* authority = d2i_X509(nullptr, &at, static_cast<long>(identity.authority.size()));
  if (authority == nullptr || SSL_CTX_add_extra_chain_cert(context, authority) != 1) {
    X509_free(authority);
    ERR_clear_error();
    return fail(ErrorCode::invalid_argument, "the authority's certificate cannot be read");
  }
  return {};
}

void configure(SSL_CTX* context) {
  DATUM_ASSERT(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  DATUM_ASSERT(SSL_CTX_set_num_tickets(context, 0) == 1);
  DATUM_ASSERT(SSL_CTX_set_max_early_data(context, 0) == 1);
  // One suite and one curve on both ends: there is no other peer than Datum.
  DATUM_ASSERT(SSL_CTX_set_ciphersuites(
                   context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1);
  DATUM_ASSERT(SSL_CTX_set1_groups_list(context, "X25519") == 1);
  DATUM_ASSERT(SSL_CTX_set1_sigalgs_list(context, "ed25519") == 1);
  SSL_CTX_set_max_cert_list(context, kMaxShown);
  // Whoever connects without a certificate is let in as far as enrolment; who serves has to show.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, judge_shown, nullptr);
}

}  // namespace

struct TlsContext::Impl {
  ContextHandle context;
  JudgePeer judge;
  TlsEnd end = TlsEnd::connects;
};

TlsContext::TlsContext(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::TlsContext(TlsContext&&) noexcept = default;
TlsContext& TlsContext::operator=(TlsContext&&) noexcept = default;
TlsContext::~TlsContext() = default;

Result<TlsContext> TlsContext::make(TlsEnd end, const TlsIdentity& identity, JudgePeer judge) {
  auto impl = std::make_shared<Impl>();
  impl->context.reset(SSL_CTX_new(TLS_method()));
  DATUM_ASSERT(impl->context != nullptr);
  impl->judge = std::move(judge);
  impl->end = end;
  configure(impl->context.get());
  if (!identity.certificate.empty()) DATUM_TRY(use_identity(impl->context.get(), identity));
  return TlsContext(std::move(impl));
}

struct TlsSession::Impl {
  explicit Impl(std::shared_ptr<TlsContext::Impl> its_context) : context(std::move(its_context)) {
    session.reset(SSL_new(context->context.get()));
    in = BIO_new(BIO_s_mem());
    out = BIO_new(BIO_s_mem());
    DATUM_ASSERT(session != nullptr && in != nullptr && out != nullptr);
    BIO_set_mem_eof_return(in, -1);  // empty is "later", not the end
    SSL_set_bio(session.get(), in, out);
    verdict.judge = &context->judge;
    DATUM_ASSERT(SSL_set_ex_data(session.get(), verdict_slot(), &verdict) == 1);
    if (context->end == TlsEnd::connects)
      SSL_set_connect_state(session.get());
    else
      SSL_set_accept_state(session.get());
  }

  [[nodiscard]] Status shake_hands();
  [[nodiscard]] Status read_text(Bytes& text);
  // Why a call of libssl did not succeed; success if it only waits for bytes.
  [[nodiscard]] Status reason(int result);

  std::shared_ptr<TlsContext::Impl> context;
  SessionHandle session;
  BIO* in = nullptr;   // owned by the session
  BIO* out = nullptr;  // likewise
  Verdict verdict;
  bool peer_ended = false;
};

Status TlsSession::Impl::reason(int result) {
  const int kind = SSL_get_error(session.get(), result);
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) return {};
  if (kind == SSL_ERROR_ZERO_RETURN) {
    peer_ended = true;
    return {};
  }
  if (!verdict.status) return verdict.status;
  const auto* text = ERR_reason_error_string(code);
  const std::string said = text != nullptr ? text : "no reason given";
  // Alerts of the peer have reasons from SSL_AD_REASON_OFFSET on.
  if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET)
    return fail(ErrorCode::refused, "the peer ended the connection: " + said);
  return fail(ErrorCode::corrupt, "no TLS 1.3, or changed on the way: " + said);
}

Status TlsSession::Impl::shake_hands() {
  if (SSL_is_init_finished(session.get())) return {};
  ERR_clear_error();
  const int result = SSL_do_handshake(session.get());
  return result == 1 ? Status() : reason(result);
}

Status TlsSession::Impl::read_text(Bytes& text) {
  std::array<std::byte, kRecord> buffer;
  for (;;) {
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session.get(), buffer.data(), buffer.size(), &count);
    if (result != 1) return reason(result);
    text.insert(text.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

TlsSession::TlsSession(const TlsContext& context) : impl_(std::make_unique<Impl>(context.impl())) {
  const auto begun = impl_->shake_hands();  // the end that connects speaks first
  DATUM_ASSERT(begun.has_value());
}
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession& TlsSession::operator=(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

Status TlsSession::receive(ByteView bytes, Bytes& text) {
  // In pieces: a memory BIO takes an int, and a peer's bytes are worked off as they come.
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kRecord));
    bytes = bytes.subspan(piece.size());
    DATUM_ASSERT(BIO_write(impl_->in, piece.data(), static_cast<int>(piece.size())) ==
                 static_cast<int>(piece.size()));
    DATUM_TRY(impl_->shake_hands());
    if (SSL_is_init_finished(impl_->session.get())) DATUM_TRY(impl_->read_text(text));
  }
  return {};
}

Status TlsSession::send(ByteView text) {
  DATUM_ASSERT(is_established());
  while (!text.empty()) {
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(impl_->session.get(), text.data(), text.size(), &count);
    if (result != 1) {
      DATUM_TRY(impl_->reason(result));
      return fail(ErrorCode::internal, "libssl took no text");
    }
    text = text.subspan(count);
  }
  return {};
}

void TlsSession::end() {
  if (!SSL_is_init_finished(impl_->session.get())) return;
  SSL_shutdown(impl_->session.get());
  ERR_clear_error();
}

Bytes TlsSession::take_output() {
  Bytes bytes(BIO_ctrl_pending(impl_->out));
  if (!bytes.empty())
    DATUM_ASSERT(BIO_read(impl_->out, bytes.data(), static_cast<int>(bytes.size())) ==
                 static_cast<int>(bytes.size()));
  return bytes;
}

bool TlsSession::has_output() const {
  return BIO_ctrl_pending(impl_->out) > 0;
}

bool TlsSession::is_established() const {
  return SSL_is_init_finished(impl_->session.get()) && impl_->verdict.status;
}

bool TlsSession::peer_ended() const {
  return impl_->peer_ended;
}

std::optional<Bytes> TlsSession::peer_certificate() const {
  if (!is_established()) return std::nullopt;
  const auto* certificate = SSL_get0_peer_certificate(impl_->session.get());
  if (certificate == nullptr) return std::nullopt;
  return crypto::to_der(certificate);
}

Bytes TlsSession::binding(std::string_view label) const {
  DATUM_ASSERT(is_established());
  Bytes bytes(kBinding);
  DATUM_ASSERT(SSL_export_keying_material(
                   impl_->session.get(), reinterpret_cast<unsigned char*>(bytes.data()),
                   bytes.size(), label.data(), label.size(), nullptr, 0, 0) == 1);
  return bytes;
}

}  // namespace datum::wire
