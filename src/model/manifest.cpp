// Access to resources and manifests, and the bytes that their digests are taken over. The layout is
// described in docs/formats/manifest.md; a change to it changes every digest and needs a new format
// number.
#include "datum/model/manifest.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "datum/base/assert.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/model/spelled_target.hpp"

namespace datum::model {
namespace {

constexpr std::uint8_t kFormat = 1;
constexpr std::uint8_t kObserveOnly = 1;
constexpr std::uint8_t kProtect = 2;
constexpr std::uint8_t kHasSecrets = 1;

// Numbers of the forms of a value in the canonical bytes.
enum class Form : std::uint8_t { text = 1, integer = 2, boolean = 3, list = 4, content = 5 };

class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  template <class T>
  void number(T value) {
    const auto at = out_.size();
    out_.resize(at + sizeof value);
    store_le(out_.data() + at, value);
  }
  void raw(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    raw(as_bytes(value));
  }
  void form(Form value) { number(static_cast<std::uint8_t>(value)); }
  void references(const std::vector<Reference>& list) {
    number(static_cast<std::uint32_t>(list.size()));
    for (const auto& each : list) {
      number(static_cast<std::uint8_t>(each.type));
      text(each.name);
    }
  }

  void operator()(const std::string& value) {
    form(Form::text);
    text(value);
  }
  void operator()(std::int64_t value) {
    form(Form::integer);
    number(static_cast<std::uint64_t>(value));
  }
  void operator()(bool value) {
    form(Form::boolean);
    number(static_cast<std::uint8_t>(value ? 1 : 0));
  }
  void operator()(const std::vector<std::string>& list) {
    form(Form::list);
    number(static_cast<std::uint32_t>(list.size()));
    for (const auto& each : list) text(each);
  }
  // The bytes themselves are left out: whether they travel inside must not change the digest.
  void operator()(const SharedContent& shared) {
    const auto& content = shared.get();
    form(Form::content);
    number(static_cast<std::uint8_t>(content.has_secrets ? kHasSecrets : 0));
    raw(content.digest.view());
    number(content.size);
    text(content.secret);
  }

 private:
  Bytes& out_;
};

void sort_unique(std::vector<Reference>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool fits(const Value& value, FieldKind kind) {
  switch (kind) {
    case FieldKind::integer:
      return std::holds_alternative<std::int64_t>(value);
    case FieldKind::boolean:
      return std::holds_alternative<bool>(value);
    case FieldKind::text_list:
      return std::holds_alternative<std::vector<std::string>>(value);
    case FieldKind::content:
    case FieldKind::fleet_file:
      return std::holds_alternative<SharedContent>(value);
    default:
      return std::holds_alternative<std::string>(value);
  }
}

void sort_fields(Resource& resource) {
  auto& fields = resource.fields;
  const auto& type = describe(resource.reference.type);
  std::sort(fields.begin(), fields.end(),
            [](const FieldValue& a, const FieldValue& b) { return a.field < b.field; });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    DATUM_ASSERT(i == 0 || fields[i - 1].field != fields[i].field);
    const auto* descriptor = find_field(type, fields[i].field);
    DATUM_ASSERT(descriptor != nullptr && fits(fields[i].value, descriptor->kind));
    if (fields[i].field != Field::groups) continue;
    auto& groups = std::get<std::vector<std::string>>(fields[i].value);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  }
}

}  // namespace

const Value* Resource::find(Field field) const {
  for (const auto& each : fields)
    if (each.field == field) return &each.value;
  return nullptr;
}

std::string_view Resource::text(Field field, std::string_view otherwise) const {
  const auto* value = find(field);
  const auto* found = value ? std::get_if<std::string>(value) : nullptr;
  return found ? std::string_view(*found) : otherwise;
}

bool Resource::flag(Field field, bool otherwise) const {
  const auto* value = find(field);
  const auto* found = value ? std::get_if<bool>(value) : nullptr;
  return found ? *found : otherwise;
}

const Content* Resource::content() const {
  const auto* value = find(Field::content);
  return value ? find_content(*value) : nullptr;
}

bool Resource::sensitive() const {
  if (reference.type != ResourceType::file) return false;
  if (flag(Field::sensitive)) return true;
  if (const auto* body = content(); body && (body->has_secrets || !body->secret.empty()))
    return true;
  constexpr std::uint32_t kReadableByOthers = 04;
  const auto mode = text(Field::mode);
  return !mode.empty() && (mode_bits(mode) & kReadableByOthers) == 0;
}

const Resource* Manifest::find(const Reference& reference) const {
  const auto at = std::lower_bound(
      resources.begin(), resources.end(), reference,
      [](const ResourcePtr& each, const Reference& wanted) { return each->reference < wanted; });
  return at != resources.end() && (*at)->reference == reference ? at->get() : nullptr;
}

TargetTable::TargetTable(const Manifest& manifest)
    : resources_(manifest.resources), slots_(std::bit_ceil(2 * resources_.size() + 1)) {
  for (std::uint32_t i = 0; i < resources_.size(); ++i) {
    const auto hash = TargetHash{}(resources_[i]->target);
    auto& slot = slots_[slot_of(resources_[i]->target, hash)];
    if (slot.number == 0)
      slot = {i + 1, static_cast<std::uint32_t>(hash >> 32U)};
    else if (repeated_ == nullptr)
      repeated_ = resources_[i].get();
  }
}

// Where the target stands, or the empty slot where it would.
std::size_t TargetTable::slot_of(const Target& target, std::size_t hash) const {
  const auto mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  auto at = hash & mask;
  while (slots_[at].number != 0 &&
         (slots_[at].tag != tag || resources_[slots_[at].number - 1]->target != target))
    at = (at + 1) & mask;
  return at;
}

const Resource* TargetTable::find(const Target& target) const {
  const auto number = slots_[slot_of(target, TargetHash{}(target))].number;
  return number == 0 ? nullptr : resources_[number - 1].get();
}

Target derive_target(const Resource& resource) {
  const auto& type = describe(resource.reference.type);
  const auto name = resource.text(
      type.target_field, type.target_from_name ? std::string_view(resource.reference.name) : "");
  const auto family = family_of(type.type);
  if (auto spelled = find_spelled_target(resource)) return std::move(*spelled);
  if (family == TargetFamily::unit) return {family, normalise_unit(name)};
  if (family == TargetFamily::sysctl) return {family, normalise_sysctl(name)};
  return {family, name};
}

Bytes canonical_bytes(const Resource& resource) {
  Bytes bytes;
  bytes.reserve(256);
  Writer writer(bytes);
  writer.number(kFormat);
  writer.number(static_cast<std::uint8_t>(resource.reference.type));
  writer.text(resource.reference.name);
  writer.number(static_cast<std::uint8_t>(resource.target.family));
  writer.text(resource.target.name);
  writer.number(static_cast<std::uint8_t>((resource.observe_only ? kObserveOnly : 0) |
                                          (resource.protect ? kProtect : 0)));
  writer.number(static_cast<std::uint16_t>(resource.fields.size()));
  for (const auto& each : resource.fields) {
    writer.number(static_cast<std::uint8_t>(each.field));
    std::visit(writer, each.value);
  }
  writer.references(resource.requirements);
  writer.references(resource.restart_on);
  writer.references(resource.reload_on);
  return bytes;
}

void finish_resource(Resource& resource) {
  sort_fields(resource);
  sort_unique(resource.requirements);
  sort_unique(resource.restart_on);
  sort_unique(resource.reload_on);
  resource.target = derive_target(resource);
  resource.digest = crypto::sha256(canonical_bytes(resource));
}

Status finish_manifest(Manifest& manifest) {
  auto& list = manifest.resources;
  const auto before = [](const ResourcePtr& a, const ResourcePtr& b) {
    return a->reference < b->reference;
  };
  const auto not_ascending = [&](const ResourcePtr& a, const ResourcePtr& b) {
    return !before(a, b);
  };
  if (std::adjacent_find(list.begin(), list.end(), not_ascending) != list.end()) {
    std::sort(list.begin(), list.end(), before);
    const auto twice = std::adjacent_find(list.begin(), list.end(), not_ascending);
    if (twice != list.end())
      return fail(ErrorCode::already_exists, (*twice)->reference.text() + " stands twice");
  }

  // Gathered in pieces: one call per resource would cost more than the hashing.
  constexpr std::size_t kPiece = 64 * 1024;
  crypto::Sha256 hasher;
  std::string piece;
  piece.reserve(kPiece + 1024);
  std::array<std::byte, sizeof(std::uint32_t)> size{};
  for (const auto& each : list) {
    const auto type = to_string(each->reference.type);
    const auto& name = each->reference.name;
    store_le(size.data(), static_cast<std::uint32_t>(type.size() + name.size() + 2));
    piece.append(as_text(size)).append(type).append(1, '[').append(name).append(1, ']');
    piece.append(as_text(each->digest.view()));
    if (piece.size() < kPiece) continue;
    hasher.update(as_bytes(piece));
    piece.clear();
  }
  hasher.update(as_bytes(piece));
  manifest.digest = hasher.finish();
  return {};
}

}  // namespace datum::model
