# What a witness of a store knows of it (docs/formats/witness.md). It can always be written anew
# from the store: a change of it, or of what it has of state.capnp, takes the next format number.
@0xc2a1f2a7d0b84e63;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Value = import "value.capnp";
using State = import "state.capnp";

struct WitnessFile {
  format @0 :UInt16;  # 1
  witness @1 :Witness;
}

struct Witness {
  head @0 :Value.WitnessedHead;
  root @1 :Text;
  host @2 :Text;
  declaration @3 :Value.DeclarationId;  # null: none was accepted or stored
  owned @4 :List(State.OwnedEntry);
}
