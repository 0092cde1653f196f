# A compiled manifest: all resources of one host, merged and canonical. Digests of resources are not
# stored: readers compute them, so they cannot disagree. File layout: docs/formats/manifest-file.md;
# numbers of fields: docs/formats/manifest.md. Rules of change: README.md.
@0xc46d56243769d600;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("datum::schema");

using Value = import "value.capnp";

struct Manifest {
  host @0 :Text;
  digest @1 :Data;  # over the sorted list of (reference, resource digest)
  final @2 :Bool;
  revision @3 :Text;
  source @4 :Text;
  names @5 :List(Text);  # files and layers of origins, sorted, unique
  resources @6 :List(Resource);  # sorted by reference, unique
}

struct Resource {
  reference @0 :Value.Reference;
  observeOnly @1 :Bool;
  protect @2 :Bool;
  fields @3 :List(FieldValue);  # sorted by number, unique
  requirements @4 :List(Value.Reference);  # sorted, unique, as the next two
  restartOn @5 :List(Value.Reference);
  reloadOn @6 :List(Value.Reference);
  origins @7 :List(Origin);  # lowest layer first
}

struct FieldValue {
  field @0 :UInt8;
  union {
    text @1 :Text;
    integer @2 :Int64;
    boolean @3 :Bool;
    list @4 :List(Text);
    content @5 :Content;
  }
}

# Known bytes up to 256 stand in `bytes`, others are named by digest; a whole secret has `secret`
# alone.
struct Content {
  digest @0 :Data;
  size @1 :UInt64;
  bytes @2 :Data;
  hasSecrets @3 :Bool;
  secret @4 :Text;
}

# Indexes of `names`.
struct Origin {
  file @0 :UInt32;
  line @1 :UInt32;
  layer @2 :UInt32;
}
