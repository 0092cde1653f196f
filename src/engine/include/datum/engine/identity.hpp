// Who this machine is in a mesh, as files in the store's folder (docs/formats/identity.md): the
// key, made once and never replaced, and what the control plane granted. Both are durable before
// anybody is told of them; both appear whole or not at all. Calls block on the disk; one thread at
// a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "datum/core/link_message.hpp"
#include "datum/crypto/certificate.hpp"
#include "datum/crypto/keys.hpp"
#include "datum/loop/loop.hpp"
#include "datum/os/files.hpp"
#include "datum/wire/tls.hpp"

namespace datum::engine {

inline constexpr std::string_view kIdentityFolder = "identity";
inline constexpr std::string_view kOrderFile = "order";  // in it: the number carried out last

struct NodeIdentity {
  std::string mesh, node;
  Id128 mesh_id;
  std::vector<core::Fact> labels;
  crypto::Certificate certificate;
  std::vector<crypto::Certificate> authorities;
  std::vector<crypto::PublicKey> signers;
  std::vector<std::string> addresses;  // of the control plane that granted it
};

// Whether a grant is one: certificates that can be read, of the mesh and name that it says, for
// `key`, issued by one of its authorities. The clock is not asked: a machine whose clock is wrong
// keeps what it was given. `refused`, in words.
[[nodiscard]] Result<NodeIdentity> check_grant(const core::EnrolmentGrant& grant,
                                               const crypto::PublicKey& key);

class IdentityFiles {
 public:
  // In the store's folder, which exists. Nothing is made yet.
  IdentityFiles(os::Files& files, std::string store_folder);

  // nullopt: there is none. `corrupt`: it lies there and is none.
  [[nodiscard]] Result<std::optional<crypto::PrivateKey>> read_key() const;
  struct OwnKey {
    crypto::PrivateKey key;
    bool made = false;  // by this call
  };
  // A key that exists is taken as it is. On return it is durable, with its folder.
  [[nodiscard]] Result<OwnKey> read_or_make_key() const;
  // For a machine whose key is not taken any more: what lies there goes to another name, and the
  // next read_or_make_key makes a new one. Nothing there: nothing happens.
  [[nodiscard]] Status set_key_aside() const;

  // nullopt: the machine was never enrolled. `corrupt` names the file.
  [[nodiscard]] Result<std::optional<NodeIdentity>> read() const;
  // Durable on success; what was there before stays until then.
  [[nodiscard]] Status write(const core::EnrolmentGrant& grant,
                             const std::vector<std::string>& addresses) const;
  // The machine is no node any more. Its key stays.
  [[nodiscard]] Status remove() const;

 private:
  [[nodiscard]] Result<os::Handle> open_folder() const;
  os::Files& files_;
  std::string folder_;
};

// What this node shows and whom it takes for its control plane. `clock` is borrowed.
[[nodiscard]] Result<wire::TlsContext> make_link_context(const NodeIdentity& identity,
                                                         const crypto::PrivateKey& key,
                                                         loop::Clock& clock);

}  // namespace datum::engine
