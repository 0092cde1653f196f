// libcrypto's objects as owned values. Private to crypto.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>

#include "datum/crypto/keys.hpp"
#include "datum/crypto/openssl_handles.hpp"

namespace datum::crypto {

using KeyHandle = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using DigestHandle = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using CertificateHandle = std::unique_ptr<X509, Freed<X509_free>>;
using NameHandle = std::unique_ptr<X509_NAME, Freed<X509_NAME_free>>;
using ExtensionHandle = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using IntegerHandle = std::unique_ptr<ASN1_INTEGER, Freed<ASN1_INTEGER_free>>;

struct PrivateKey::Impl {
  explicit Impl(KeyHandle handle) : key(std::move(handle)) {}
  KeyHandle key;
};

// Null for bytes that libcrypto does not take.
[[nodiscard]] KeyHandle make_public_handle(const PublicKey& key);
// Nothing for a key of another kind.
[[nodiscard]] std::optional<PublicKey> find_public(const EVP_PKEY* key);

}  // namespace datum::crypto
