// The two ends of a mesh for tests of the link: an authority, a control plane, a node.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "datum/crypto/certificate.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/wire/tls.hpp"

namespace datum::test {

struct MeshScene {
  static constexpr crypto::Validity kValid{1'600'000'000, 2'000'000'000};

  [[nodiscard]] wire::TlsIdentity identity(crypto::Role role, const std::string& name) const {
    const auto its_key = crypto::PrivateKey::generate();
    REQUIRE(its_key);
    const auto made = crypto::issue(key, authority, {role, "prod", name}, its_key->public_key(),
                                    kValid, crypto::random_id());
    REQUIRE(made);
    return {made->der, its_key->to_der(), authority.der};
  }
  [[nodiscard]] static wire::TlsContext context(wire::TlsEnd end,
                                                const wire::TlsIdentity& identity) {
    auto made =
        wire::TlsContext::make(end, identity, [](const std::vector<Bytes>&) { return Status(); });
    REQUIRE(made);
    return std::move(*made);
  }

  crypto::PrivateKey key = *crypto::PrivateKey::generate();
  crypto::Certificate authority =
      *crypto::issue_authority(key, "prod", kValid, crypto::random_id());
  wire::TlsContext serving =
      context(wire::TlsEnd::serves, identity(crypto::Role::control, "control"));
  wire::TlsContext connecting =
      context(wire::TlsEnd::connects, identity(crypto::Role::node, "web-1"));
};

}  // namespace datum::test
