// Commands about what a machine is to a mesh: its key and enrolment, the declarations that reach
// it, its link. See decide.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datum/core/facts.hpp"

namespace datum::core {

// The key that this machine shows from now on lies durable in its store. The same one again appends
// nothing, but only the caller can know that: no State holds keys.
struct RecordKeyCreated {
  Digest fingerprint;
};
struct RequestEnrolment {
  std::string address, token_id;
  Digest profile;  // of what was reported
  Actor actor;
};
// Certificate and trust lie durable. With it the machine is enrolled, in the same append.
struct RecordEnrolment {
  Id128 mesh;
  std::string mesh_name, node, serial;
  WallNs not_after;
  std::vector<std::string> labels;
  Actor actor;
};
struct RefuseEnrolment {
  std::string reason, remedy;  // bounded
};
struct RecordCertificate {
  std::string serial;
  WallNs not_after;
};

// A declaration whose signature, mesh and node were found good. Refused unless its generation is
// above the accepted one, and not below the stored one.
struct ReceiveDeclaration {
  DeclarationId declaration;
};
// Manifest and all content lie durable. Refused as above; one that is stored already appends
// nothing, one that was stored before and never accepted is told as superseded.
struct StoreDeclaration {
  DeclarationId declaration;
  Provenance provenance;
};
// What is stored becomes what this host enforces. Refused (`conflict`) for any other, and while a
// pass runs: it ends first.
struct AcceptDeclaration {
  DeclarationId declaration;
  Provenance provenance;
  Actor actor;
};
struct RejectDeclaration {
  DeclarationId declaration;
  std::string reason;  // bounded
};

// Refused while no store is open.
struct RecordLinkUp {
  std::string address;
};
struct RecordLinkDown {
  std::string reason;  // bounded
};
// So many more pairs of both came too close together to be told one by one; 0 appends nothing.
struct RecordLinkPairs {
  std::uint32_t pairs = 0;
};

}  // namespace datum::core
