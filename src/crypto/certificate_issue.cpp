// Writing certificates.
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "datum/base/assert.hpp"
#include "datum/crypto/certificate.hpp"
#include "openssl_types.hpp"

namespace datum::crypto {
namespace {

// What goes into one certificate.
struct Draft {
  const Subject& subject;
  const PublicKey& key;
  const Validity& validity;
  const Id128& serial;
};

void add_extension(X509* certificate, int kind, const std::string& value) {
  const ExtensionHandle extension(X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  DATUM_ASSERT(extension != nullptr);
  DATUM_ASSERT(X509_add_ext(certificate, extension.get(), -1) == 1);
}

void add_extensions(X509* certificate, const Subject& subject) {
  const bool may_issue = subject.role == Role::authority;
  add_extension(certificate, NID_basic_constraints,
                may_issue ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE");
  add_extension(certificate, NID_key_usage,
                may_issue ? "critical,keyCertSign" : "critical,digitalSignature");
  if (!may_issue)
    add_extension(certificate, NID_ext_key_usage,
                  subject.role == Role::control ? "serverAuth" : "clientAuth");
  add_extension(certificate, NID_subject_alt_name, "URI:" + to_uri(subject));
}

// The end of a URI that is longer than a common name may be: it is for people, and the whole stands
// in the subject alternative name, which is what is read. The end, because it has the whole
// "/NAME": cut at the other side, a node of a mesh with a long name would be called as its
// authority is, and be taken for one that issued itself.
NameHandle make_name(const std::string& uri) {
  constexpr std::size_t kMaxCommonName = 64;  // bytes: ub-common-name of RFC 5280
  const auto text = uri.substr(uri.size() - std::min(uri.size(), kMaxCommonName));
  NameHandle name(X509_NAME_new());
  DATUM_ASSERT(name != nullptr);
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  DATUM_ASSERT(X509_NAME_add_entry_by_NID(name.get(), NID_commonName, MBSTRING_UTF8, bytes,
                                          static_cast<int>(text.size()), -1, 0) == 1);
  return name;
}

// 16 bytes as a positive number: the first bit is left out, as RFC 5280 wants it.
void set_serial(X509* certificate, Id128 serial) {
  serial.bytes[0] &= 0x7f;
  auto* number = BN_bin2bn(serial.bytes.data(), static_cast<int>(serial.bytes.size()), nullptr);
  DATUM_ASSERT(number != nullptr);
  const IntegerHandle integer(BN_to_ASN1_INTEGER(number, nullptr));
  BN_free(number);
  DATUM_ASSERT(integer != nullptr && X509_set_serialNumber(certificate, integer.get()) == 1);
}

void set_times(X509* certificate, const Validity& validity) {
  DATUM_ASSERT(ASN1_TIME_set(X509_getm_notBefore(certificate), validity.not_before_s) != nullptr);
  DATUM_ASSERT(ASN1_TIME_set(X509_getm_notAfter(certificate), validity.not_after_s) != nullptr);
}

// Last second that X.509 can write, 9999-12-31.
constexpr std::int64_t kLastSecond = 253'402'300'799;

Status check(const Draft& draft) {
  for (const auto& name : {draft.subject.mesh, draft.subject.name})
    if (!is_name(name))
      return fail(ErrorCode::invalid_argument,
                  "'" + name + "' is no name: 1 to 63 of a-z, 0-9, '-', '.', '_'");
  const auto& validity = draft.validity;
  if (validity.not_before_s < 0 || validity.not_after_s > kLastSecond ||
      validity.not_after_s <= validity.not_before_s)
    return fail(ErrorCode::invalid_argument, "the certificate would end before it begins");
  return {};
}

Result<Certificate> write(const PrivateKey& signer, const Subject& issuer, const Draft& draft) {
  DATUM_TRY(check(draft));
  const CertificateHandle handle(X509_new());
  DATUM_ASSERT(handle != nullptr && X509_set_version(handle.get(), X509_VERSION_3) == 1);
  set_serial(handle.get(), draft.serial);
  set_times(handle.get(), draft.validity);
  const auto key = make_public_handle(draft.key);
  if (!key) return fail(ErrorCode::invalid_argument, "the key is no Ed25519 key");
  DATUM_ASSERT(X509_set_pubkey(handle.get(), key.get()) == 1);
  const auto subject = make_name(to_uri(draft.subject));
  const auto by = make_name(to_uri(issuer));
  DATUM_ASSERT(X509_set_subject_name(handle.get(), subject.get()) == 1);
  DATUM_ASSERT(X509_set_issuer_name(handle.get(), by.get()) == 1);
  add_extensions(handle.get(), draft.subject);
  const bool is_signed = X509_sign(handle.get(), signer.impl().key.get(), nullptr) > 0;
  ERR_clear_error();
  if (!is_signed) return fail(ErrorCode::internal, "libcrypto signed no certificate");
  return read_certificate(to_der(handle.get()));
}

}  // namespace

Result<Certificate> issue_authority(const PrivateKey& key, std::string_view mesh,
                                    const Validity& validity, const Id128& serial) {
  const Subject subject{Role::authority, std::string(mesh), "authority"};
  return write(key, subject, {subject, key.public_key(), validity, serial});
}

Result<Certificate> issue(const PrivateKey& authority_key, const Certificate& authority,
                          const Subject& subject, const PublicKey& key, const Validity& validity,
                          const Id128& serial) {
  if (subject.role == Role::authority)
    return fail(ErrorCode::invalid_argument, "an authority is issued by itself only");
  if (subject.mesh != authority.subject.mesh)
    return fail(ErrorCode::invalid_argument,
                "the authority is of mesh " + authority.subject.mesh + ", not of " + subject.mesh);
  DATUM_ASSERT(authority_key.public_key() == authority.key);
  return write(authority_key, authority.subject, {subject, key, validity, serial});
}

}  // namespace datum::crypto
