// Reading and judging certificates. Issuing stands in certificate_issue.cpp.
#include "datum/crypto/certificate.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "datum/base/assert.hpp"
#include "datum/base/rfc3339.hpp"
#include "datum/crypto/digest.hpp"
#include "openssl_types.hpp"

namespace datum::crypto {
namespace {

constexpr std::string_view kScheme = "datum://";
constexpr std::size_t kMaxName = 63;  // of a DNS label

using NamesHandle = std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>>;
using UsageHandle = std::unique_ptr<EXTENDED_KEY_USAGE, Freed<EXTENDED_KEY_USAGE_free>>;

std::optional<std::int64_t> find_seconds(const ASN1_TIME* time) {
  std::tm broken{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &broken) != 1) return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&broken));
}

std::optional<Id128> find_serial(const X509* certificate) {
  const auto* integer = X509_get0_serialNumber(certificate);
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(integer));
  Id128 serial;
  if (size == 0 || size > serial.bytes.size()) return std::nullopt;
  std::copy_n(ASN1_STRING_get0_data(integer), size,
              serial.bytes.end() - static_cast<std::ptrdiff_t>(size));
  return serial;
}

// The only name of the certificate, if it is a URI of a mesh.
std::optional<Subject> find_subject(const X509* certificate) {
  const NamesHandle names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) return std::nullopt;
  const auto* name = sk_GENERAL_NAME_value(names.get(), 0);
  if (name->type != GEN_URI) return std::nullopt;
  const auto* text = name->d.uniformResourceIdentifier;
  std::string_view uri(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                       static_cast<std::size_t>(ASN1_STRING_length(text)));
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const auto slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Subject subject;
  subject.mesh = uri.substr(0, slash);
  subject.name = uri.substr(slash + 1);
  if (!is_name(subject.mesh) || !is_name(subject.name)) return std::nullopt;
  return subject;
}

// An authority issues; everything else has exactly one extended key usage.
std::optional<Role> find_role(X509* certificate) {
  const bool may_issue = X509_check_ca(certificate) == 1;
  const UsageHandle usage(static_cast<EXTENDED_KEY_USAGE*>(
      X509_get_ext_d2i(certificate, NID_ext_key_usage, nullptr, nullptr)));
  if (may_issue) return usage ? std::nullopt : std::optional(Role::authority);
  if (!usage || sk_ASN1_OBJECT_num(usage.get()) != 1) return std::nullopt;
  switch (OBJ_obj2nid(sk_ASN1_OBJECT_value(usage.get(), 0))) {
    case NID_server_auth:
      return Role::control;
    case NID_client_auth:
      return Role::node;
    default:
      return std::nullopt;
  }
}

CertificateHandle parse(ByteView der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const auto* end = at + der.size();
  CertificateHandle handle(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  if (at != end) handle.reset();
  return handle;
}

// An extension that must be understood and is not makes the whole certificate unusable.
bool has_unknown_critical(const X509* certificate) {
  for (int i = 0; i < X509_get_ext_count(certificate); ++i) {
    auto* extension = X509_get_ext(certificate, i);
    if (X509_EXTENSION_get_critical(extension) == 1 && X509_supported_extension(extension) != 1)
      return true;
  }
  return false;
}

bool is_signed_by(const Certificate& shown, const Certificate& authority) {
  const auto handle = parse(shown.der);
  const auto key = make_public_handle(authority.key);
  const bool good = handle && key && X509_verify(handle.get(), key.get()) == 1;
  ERR_clear_error();
  return good;
}

std::string time_of(std::int64_t seconds) {
  return format_rfc3339(WallNs{seconds * kNsPerSecond});
}

Distrust judge_time(const Validity& validity, WallNs now) {
  const auto now_s = now.ns / kNsPerSecond;
  if (now_s < validity.not_before_s) return Distrust::not_yet_valid;
  return now_s > validity.not_after_s ? Distrust::expired : Distrust::none;
}

std::string describe_time(const Certificate& certificate, Distrust distrust, WallNs now) {
  const auto who = to_uri(certificate.subject);
  if (distrust == Distrust::expired)
    return "the certificate of " + who + " ended at " + time_of(certificate.validity.not_after_s) +
           ", and here it is " + format_rfc3339(now) + ": renew it, or set the clock";
  return "the certificate of " + who + " begins at " + time_of(certificate.validity.not_before_s) +
         ", and here it is " + format_rfc3339(now) + ": set the clock";
}

}  // namespace

Bytes to_der(const X509* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509(certificate, &der);
  DATUM_ASSERT(size > 0);
  const auto* begin = reinterpret_cast<const std::byte*>(der);
  Bytes bytes(begin, begin + size);
  OPENSSL_free(der);
  return bytes;
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::authority:
      return "authority";
    case Role::control:
      return "control plane";
    case Role::node:
      return "node";
  }
  return "?";
}

bool is_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  };
  return !name.empty() && name.size() <= kMaxName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

std::string to_uri(const Subject& subject) {
  return std::string(kScheme) + subject.mesh + "/" + subject.name;
}

Digest Certificate::digest() const {
  return sha256(der);
}

Result<Certificate> read_certificate(ByteView der) {
  if (der.size() > kMaxCertificate)
    return fail(ErrorCode::limit_exceeded, "a certificate of " + std::to_string(der.size()) +
                                               " bytes; at most " +
                                               std::to_string(kMaxCertificate));
  const auto handle = parse(der);
  if (!handle) return fail(ErrorCode::corrupt, "these bytes are no X.509 certificate");
  if (has_unknown_critical(handle.get()))
    return fail(ErrorCode::corrupt, "the certificate demands an extension that is not known");
  const auto key = find_public(X509_get0_pubkey(handle.get()));
  if (!key) return fail(ErrorCode::corrupt, "the certificate's key is not an Ed25519 key");
  auto subject = find_subject(handle.get());
  if (!subject)
    return fail(ErrorCode::corrupt, "the certificate names no datum://MESH/NAME, or more than it");
  const auto role = find_role(handle.get());
  if (!role) return fail(ErrorCode::corrupt, "the certificate is for no role of a mesh");
  subject->role = *role;
  const auto begin = find_seconds(X509_get0_notBefore(handle.get()));
  const auto end = find_seconds(X509_get0_notAfter(handle.get()));
  const auto serial = find_serial(handle.get());
  ERR_clear_error();
  if (!begin || !end || !serial)
    return fail(ErrorCode::corrupt, "the certificate's times or serial number cannot be read");
  return Certificate{std::move(*subject), *key, {*begin, *end}, *serial, {der.begin(), der.end()}};
}

Judgement judge(const Certificate& shown, std::span<const Certificate> authorities, Role role,
                std::string_view mesh, WallNs now) {
  const auto who = to_uri(shown.subject);
  const auto issuer =
      std::find_if(authorities.begin(), authorities.end(), [&](const Certificate& each) {
        return each.subject.role == Role::authority && is_signed_by(shown, each);
      });
  if (issuer == authorities.end())
    return {Distrust::issuer, "the certificate of " + who + " is of no authority known here"};
  if (shown.subject.role != role)
    return {Distrust::role, "the certificate of " + who + " is that of a " +
                                std::string(to_string(shown.subject.role)) + ", not of a " +
                                std::string(to_string(role))};
  if (shown.subject.mesh != mesh || issuer->subject.mesh != mesh)
    return {Distrust::mesh,
            "the certificate of " + who + " is of another mesh than " + std::string(mesh)};
  for (const auto* each : {&*issuer, &shown})
    if (const auto distrust = judge_time(each->validity, now); distrust != Distrust::none)
      return {distrust, describe_time(*each, distrust, now)};
  return {};
}

}  // namespace datum::crypto
