// Certificates of a mesh: X.509 with Ed25519 keys, two levels and no more: an authority, and what
// it issued to a control plane or a node. Who a certificate names stands in one URI,
// `datum://MESH/NAME`, as subject alternative name; subject and issuer are for people's tools.
// Whether a key was revoked is known elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/base/time.hpp"
#include "datum/crypto/keys.hpp"

namespace datum::crypto {

enum class Role : std::uint8_t {
  authority,  // issues, and does nothing else
  control,    // serves: extended key usage serverAuth
  node,       // connects: clientAuth
};
[[nodiscard]] std::string_view to_string(Role role);

// Names are of a DNS label's letters: a-z, 0-9, '-', '.', '_', 1 to 63 of them. A mesh name has no
// '/', so that the URI has one reading.
[[nodiscard]] bool is_name(std::string_view name);

struct Subject {
  Role role = Role::node;
  std::string mesh;
  std::string name;
  auto operator<=>(const Subject&) const = default;
};
[[nodiscard]] std::string to_uri(const Subject& subject);  // "datum://MESH/NAME"

// Whole seconds of wall clock, both ends included.
struct Validity {
  std::int64_t not_before_s = 0;
  std::int64_t not_after_s = 0;
  auto operator<=>(const Validity&) const = default;
};

// What a certificate says; nothing in it is checked against anybody's trust.
struct Certificate {
  Subject subject;
  PublicKey key;
  Validity validity;
  Id128 serial;
  Bytes der;  // at most kMaxCertificate

  // Of these bytes: what a revocation and a person name.
  [[nodiscard]] Digest digest() const;
};

// A certificate here takes about 400 bytes; a stranger's is not looked at beyond this.
inline constexpr std::size_t kMaxCertificate = 4096;

// Reads DER. `limit_exceeded` for more than kMaxCertificate, `corrupt` for what is no certificate,
// has bytes after it, another kind of key, no URI of a mesh, or no role.
[[nodiscard]] Result<Certificate> read_certificate(ByteView der);

// An authority's own certificate, signed by itself. `invalid_argument` for a name that is none.
[[nodiscard]] Result<Certificate> issue_authority(const PrivateKey& key, std::string_view mesh,
                                                  const Validity& validity, const Id128& serial);
// A certificate for `key`, in the authority's mesh. `invalid_argument` for a name that is none, for
// Role::authority, and for an end before the beginning.
[[nodiscard]] Result<Certificate> issue(const PrivateKey& authority_key,
                                        const Certificate& authority, const Subject& subject,
                                        const PublicKey& key, const Validity& validity,
                                        const Id128& serial);

// Why a certificate is not taken. Order is the order of the checks: a matter of clocks is told only
// of a certificate that is good but for the clock.
enum class Distrust : std::uint8_t { none, issuer, role, mesh, not_yet_valid, expired };

struct Judgement {
  Distrust distrust = Distrust::none;
  std::string why;  // for people; with both times where it is a matter of clocks
};

// Judges what a peer showed: signed by one of `authorities` (each in force itself), for `role`, in
// `mesh`, at `now`.
[[nodiscard]] Judgement judge(const Certificate& shown, std::span<const Certificate> authorities,
                              Role role, std::string_view mesh, WallNs now);

}  // namespace datum::crypto
