// Members of a store's witness (schema/witness.capnp).
#pragma once

#include "datum/core/witness.hpp"
#include "fields.hpp"

namespace datum::codec {

DATUM_STRUCT(core::Witness) {
  DATUM_FIELD(head, Head);
  DATUM_FIELD(root, Root);
  DATUM_FIELD(host, Host);
  DATUM_FIELD(declaration, Declaration);
  DATUM_FIELD(owned, Owned);
}

}  // namespace datum::codec
