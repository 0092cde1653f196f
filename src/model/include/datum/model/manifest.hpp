// The desired state of one host: all its resources, merged and canonical. Values only; immutable
// once finished, shared between hosts and threads by pointer to const.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/base/ids.hpp"
#include "datum/model/descriptor.hpp"
#include "datum/model/reference.hpp"

namespace datum::model {

// Content up to this size stands in the manifest itself; larger content is named by digest.
inline constexpr std::size_t kInlineContent = 256;

// What a File must contain. Exactly one of three forms:
//   bytes known here or elsewhere: `digest` and `size` set, `bytes` holds them if size ≤
//   kInlineContent
//     (and always while they come from a `content` key, so that the fleet need not be read again);
//   a template in which secrets are still to be filled in on the host: `has_secrets`, and digest,
//   size
//     and bytes are those of the unresolved text;
//   a whole secret: `secret` is its name and nothing else is set.
struct Content {
  Digest digest;
  std::uint64_t size = 0;
  std::string bytes;
  bool has_bytes = false;
  bool has_secrets = false;
  std::string secret;

  bool operator==(const Content&) const = default;
};

// A content as a field's value: immutable, shared by its copies, equal by what it holds. It stands
// behind a pointer, since it is three times as large as every other value and most fields are short
// texts.
class SharedContent {
 public:
  // Not explicit: wherever a value is wanted, a content is one.
  SharedContent(Content content) : content_(std::make_shared<const Content>(std::move(content))) {}
  [[nodiscard]] const Content& get() const { return *content_; }
  bool operator==(const SharedContent& other) const {
    return content_ == other.content_ || *content_ == *other.content_;
  }

 private:
  std::shared_ptr<const Content> content_;
};

using Value =
    std::variant<std::string, std::int64_t, bool, std::vector<std::string>, SharedContent>;

// The content that `value` is; null if it is something else.
[[nodiscard]] inline const Content* find_content(const Value& value) {
  const auto* shared = std::get_if<SharedContent>(&value);
  return shared ? &shared->get() : nullptr;
}

struct FieldValue {
  Field field;
  Value value;
  bool operator==(const FieldValue&) const = default;
};

// Where a resource's documents stand, for people: "layers/base/ssh.yaml:12". Not part of any
// digest.
struct Origin {
  SharedText file;
  std::uint32_t line = 0;
  SharedText layer;
};

struct Resource {
  Reference reference;
  Target target;
  std::vector<FieldValue> fields;       // sorted by field number, unique
  std::vector<Reference> requirements;  // `requires`; sorted, unique
  std::vector<Reference> restart_on;    // Service only; sorted, unique
  std::vector<Reference> reload_on;     // Service only; sorted, unique
  bool observe_only = false;            // `policy: observe`
  bool protect = false;
  Digest digest;                // of everything above; set by `finish_resource`
  std::vector<Origin> origins;  // lowest layer first; not in the digest

  [[nodiscard]] const Value* find(Field field) const;
  [[nodiscard]] std::string_view text(Field field, std::string_view otherwise = {}) const;
  [[nodiscard]] bool flag(Field field, bool otherwise = false) const;
  [[nodiscard]] const Content* content() const;
  [[nodiscard]] bool absent() const { return text(Field::state) == "absent"; }
  // A File whose content or old content must never be shown (design §7 "Sensitive"), as far as the
  // document tells: declared so, a secret, a template with secrets, or a mode that denies reading
  // to others.
  [[nodiscard]] bool sensitive() const;
};
using ResourcePtr = std::shared_ptr<const Resource>;

struct Manifest {
  std::string host;
  std::vector<ResourcePtr> resources;  // sorted by reference, unique
  Digest digest;                       // over the sorted list of (reference, resource digest)
  bool final = false;                  // may be empty: retirement, `--final`
  std::string revision;                // of the fleet it was resolved from, empty if unknown
  std::string source;                  // "fleet /srv/fleet", "manifest FILE": for people

  [[nodiscard]] const Resource* find(const Reference& reference) const;  // binary search
};
using ManifestPtr = std::shared_ptr<const Manifest>;

// Which resource of a manifest manages a target. Borrows the manifest; one allocation, whatever the
// number of resources.
class TargetTable {
 public:
  explicit TargetTable(const Manifest& manifest);
  // Null if no resource declares it; the first in order if several do.
  [[nodiscard]] const Resource* find(const Target& target) const;
  // A resource whose target an earlier one has too; null if all differ.
  [[nodiscard]] const Resource* repeated() const { return repeated_; }

 private:
  struct Slot {
    std::uint32_t number = 0;  // the resource's place + 1, 0 where empty
    std::uint32_t tag = 0;  // upper half of the hash: others are told apart without a look at them
  };
  [[nodiscard]] std::size_t slot_of(const Target& target, std::size_t hash) const;

  const std::vector<ResourcePtr>& resources_;
  std::vector<Slot> slots_;  // at least half of them are empty
  const Resource* repeated_ = nullptr;
};

// Normalised spelling of a permission mode ("750" → "0750"); `invalid_argument` unless 3 or 4 octal
// digits.
[[nodiscard]] Result<std::string> normalise_mode(std::string_view written);
[[nodiscard]] std::uint32_t mode_bits(std::string_view normalised);

// A path of a document: absolute, no empty component, no `.` or `..`, no trailing slash (but "/").
// On failure the message shows the corrected path.
[[nodiscard]] Status check_path(std::string_view path);

// Milliseconds of "500ms", "2s", "5m" or "1h"; nothing for any other spelling or above a day.
[[nodiscard]] std::optional<std::int64_t> find_duration_ms(std::string_view text);

// The identity of what the resource manages, from its fields or its name.
[[nodiscard]] Target derive_target(const Resource& resource);

// Sorts what must be sorted, derives the target and computes the digest. The fields must already be
// complete and of the right kinds (asserted).
void finish_resource(Resource& resource);
// Sorts by reference and computes the digest; two resources of one reference are `already_exists`.
[[nodiscard]] Status finish_manifest(Manifest& manifest);
// The bytes that are hashed for a resource: little-endian, length-prefixed, in field order; the
// format stands in docs/formats/manifest.md.
[[nodiscard]] Bytes canonical_bytes(const Resource& resource);

}  // namespace datum::model
