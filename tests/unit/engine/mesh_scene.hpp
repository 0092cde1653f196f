// A node's store in a scratch folder over a simulated loop, and the mesh that it belongs to.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datum/codec/link.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/engine/identity.hpp"
#include "datum/engine/store.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "support/scratch_folder.hpp"
#include "support/sim_loop.hpp"

namespace datum::test {

struct Mesh {
  static constexpr crypto::Validity kValid{1'600'000'000, 2'000'000'000};

  [[nodiscard]] core::EnrolmentGrant grant_for(const crypto::PublicKey& node_key,
                                               const std::string& name = "web-1",
                                               const crypto::Validity& valid = kValid) const {
    core::EnrolmentGrant grant;
    grant.mesh = "prod";
    grant.node = name;
    grant.mesh_id = id;
    grant.labels = {{"role", "web"}};
    grant.certificate = crypto::issue(key, authority, {crypto::Role::node, "prod", name}, node_key,
                                      valid, crypto::random_id())
                            ->der;
    grant.authorities = {authority.der};
    const auto signer = signer_key.public_key().bytes;
    grant.signers = {Bytes(signer.begin(), signer.end())};
    return grant;
  }
  [[nodiscard]] core::Signed sign(const core::DeclarationBody& body) const {
    core::Signed signed_body;
    signed_body.signer = signer_key.public_key().fingerprint();
    signed_body.body = codec::encode_declaration_body(body);
    const auto signature = signer_key.sign(crypto::SignedAs::declaration, signed_body.body).bytes;
    signed_body.signature.assign(signature.begin(), signature.end());
    return signed_body;
  }

  crypto::PrivateKey key = *crypto::PrivateKey::generate();
  crypto::PrivateKey signer_key = *crypto::PrivateKey::generate();
  Id128 id = crypto::random_id();
  crypto::Certificate authority =
      *crypto::issue_authority(key, "prod", kValid, crypto::random_id());
};

// A process: opens what lies in the folder, and may be dropped at any moment.
struct NodeLife {
  explicit NodeLife(const std::string& its_folder, std::uint64_t seed = 1,
                    const engine::StoreBinding& binding = {"/", "web-1", "local", "test", 0})
      : folder(its_folder), sim_loop(seed) {
    auto opened = engine::open_store(sim_loop, *files, folder, binding);
    if (!opened) FAIL(opened.error().message());
    store = std::move(*opened);
    sim_loop.run_for(kNsPerSecond);
  }
  void settle() {
    for (int turn = 0; turn < 50; ++turn) sim_loop.run_for(kNsPerSecond / 10);
  }
  [[nodiscard]] const core::State& state() const { return store.history->state(); }
  template <class T>
  [[nodiscard]] std::vector<T> events() {
    std::vector<T> found;
    auto reader = store.history->log()->make_reader();
    REQUIRE(reader);
    REQUIRE(history::scan_events(**reader, 1, [&](const history::StoredEvent& stored) {
      if (const auto* one = std::get_if<T>(&stored.event)) found.push_back(*one);
      return journal::Visit::go_on;
    }));
    return found;
  }

  std::string folder;
  support::SimLoop sim_loop;
  std::unique_ptr<os::Files> files = os_linux::make_files();
  engine::Store store;
};

}  // namespace datum::test
