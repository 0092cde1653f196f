// Manifests into schema/manifest.capnp. Paths of documents and names of layers repeat in nearly
// every resource, so they stand once in a sorted list and resources name them by index.
#include <algorithm>

#include "datum/base/assert.hpp"
#include "datum/codec/manifest_file.hpp"
#include "datum/model/content_hash.hpp"
#include "encoder.hpp"
#include "manifest.capnp.h"
#include "manifest_parts.hpp"
#include "message.hpp"
#include "value_fields.hpp"

namespace datum::codec {
namespace {

using SmallContents = std::map<Digest, std::string>;

// The bytes of a content of at most model::kInlineContent bytes, checked.
Result<std::string> read_small(const ContentSource& contents, const model::Content& wanted) {
  DATUM_ASSIGN(const auto stream, contents.open(wanted.digest));
  // One byte more than can be right, so that a longer content is seen.
  std::array<std::byte, model::kInlineContent + 1> buffer{};
  std::size_t size = 0;
  while (size < buffer.size()) {
    DATUM_ASSIGN(const auto count, stream->read(MutableByteView(buffer).subspan(size)));
    if (count == 0) break;
    size += count;
  }
  const auto bytes = ByteView(buffer).first(size);
  if (size != wanted.size || model::content_digest(bytes) != wanted.digest)
    return fail(ErrorCode::conflict,
                "content " + wanted.digest.hex() + " has changed since it was resolved");
  return std::string(as_text(bytes));
}

Result<SmallContents> read_small_contents(const model::Manifest& manifest,
                                          const ContentSource& contents) {
  SmallContents small;
  DATUM_TRY(visit_contents(manifest, [&](const model::Content& content) -> Status {
    if (content.has_bytes || !content.secret.empty() || is_named(content)) return {};
    if (small.count(content.digest) != 0) return {};
    DATUM_ASSIGN(small[content.digest], read_small(contents, content));
    return {};
  }));
  return small;
}

Status check_origins(const model::Manifest& manifest) {
  std::size_t bytes = 0;
  for (const auto& resource : manifest.resources)
    for (const auto& origin : resource->origins) bytes += origin.file.size() + origin.layer.size();
  if (bytes <= kMaxOriginBytes) return {};
  return fail(ErrorCode::limit_exceeded, "names of documents: more than 256 MiB");
}

std::vector<std::string> names_of_origins(const model::Manifest& manifest) {
  std::vector<std::string> names;
  for (const auto& resource : manifest.resources)
    for (const auto& origin : resource->origins)
      for (const auto* name : {&origin.file, &origin.layer})
        // Neighbours mostly come from one document: what was just added is not added again.
        if (names.size() < 2 || (names.back() != *name && names[names.size() - 2] != *name))
          names.push_back(*name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

class ManifestEncoder {
 public:
  ManifestEncoder(const model::Manifest& manifest, const SmallContents& small)
      : manifest_(manifest), small_(small), names_(names_of_origins(manifest)) {}

  void write(schema::Manifest::Builder root) const {
    put(manifest_.host, [&](auto text) { root.setHost(text); });
    root.setDigest(stored_data(manifest_.digest));
    root.setFinal(manifest_.final);
    put(manifest_.revision, [&](auto text) { root.setRevision(text); });
    put(manifest_.source, [&](auto text) { root.setSource(text); });
    auto names = root.initNames(count(names_));
    for (unsigned i = 0; i < names.size(); ++i) names.set(i, stored_text(names_[i]));
    auto resources = root.initResources(count(manifest_.resources));
    for (unsigned i = 0; i < resources.size(); ++i)
      write_resource(resources[i], *manifest_.resources[i]);
  }

 private:
  template <class List>
  static unsigned count(const List& list) {
    return static_cast<unsigned>(list.size());
  }
  template <class Set>
  static void put(const std::string& text, const Set& set) {
    if (!text.empty()) set(stored_text(text));
  }
  template <class Init>
  static void write_references(const std::vector<model::Reference>& list, const Init& init) {
    if (list.empty()) return;
    auto out = init(count(list));
    for (unsigned i = 0; i < out.size(); ++i) encode_fields(out[i], list[i]);
  }

  void write_resource(schema::Resource::Builder out, const model::Resource& resource) const {
    encode_fields(out.initReference(), resource.reference);
    out.setObserveOnly(resource.observe_only);
    out.setProtect(resource.protect);
    auto fields = out.initFields(count(resource.fields));
    for (unsigned i = 0; i < fields.size(); ++i) write_field(fields[i], resource.fields[i]);
    write_references(resource.requirements, [&](unsigned n) { return out.initRequirements(n); });
    write_references(resource.restart_on, [&](unsigned n) { return out.initRestartOn(n); });
    write_references(resource.reload_on, [&](unsigned n) { return out.initReloadOn(n); });
    if (resource.origins.empty()) return;
    auto origins = out.initOrigins(count(resource.origins));
    for (unsigned i = 0; i < origins.size(); ++i) {
      const auto& origin = resource.origins[i];
      origins[i].setFile(index_of(origin.file));
      origins[i].setLine(origin.line);
      origins[i].setLayer(index_of(origin.layer));
    }
  }

  void write_field(schema::FieldValue::Builder out, const model::FieldValue& field) const {
    out.setField(static_cast<std::uint8_t>(field.field));
    if (const auto* text = std::get_if<std::string>(&field.value)) {
      out.setText(stored_text(*text));
    } else if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
      out.setInteger(*number);
    } else if (const auto* boolean = std::get_if<bool>(&field.value)) {
      out.setBoolean(*boolean);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&field.value)) {
      auto items = out.initList(count(*list));
      for (unsigned i = 0; i < items.size(); ++i) items.set(i, stored_text((*list)[i]));
    } else {
      write_content(out.initContent(), std::get<model::SharedContent>(field.value).get());
    }
  }

  void write_content(schema::Content::Builder out, const model::Content& content) const {
    put(content.secret, [&](auto text) { out.setSecret(text); });
    if (!content.secret.empty()) return;
    out.setDigest(stored_data(content.digest));
    out.setSize(content.size);
    out.setHasSecrets(content.has_secrets);
    if (is_named(content)) return;
    const auto& bytes = content.has_bytes ? content.bytes : small_.at(content.digest);
    DATUM_ASSERT(bytes.size() == content.size);
    if (!bytes.empty())
      out.setBytes({reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()});
  }

  std::uint32_t index_of(const std::string& name) const {
    const auto at = std::lower_bound(names_.begin(), names_.end(), name);
    return static_cast<std::uint32_t>(at - names_.begin());
  }

  const model::Manifest& manifest_;
  const SmallContents& small_;
  std::vector<std::string> names_;
};

}  // namespace

Result<NamedContents> named_contents(const model::Manifest& manifest) {
  NamedContents named;
  DATUM_TRY(visit_contents(manifest, [&named](const model::Content& content) -> Status {
    if (!is_named(content)) return {};
    auto [at, added] = named.try_emplace(content.digest, NamedContent{content.size, nullptr});
    if (at->second.size != content.size)
      return fail(ErrorCode::conflict, "content " + content.digest.hex() + " has two sizes");
    if (content.has_bytes) at->second.bytes = &content.bytes;
    return {};
  }));
  return named;
}

Result<Bytes> encode_manifest(const model::Manifest& manifest, const ContentSource& contents) {
  DATUM_TRY(check_origins(manifest));
  DATUM_ASSIGN(const auto small, read_small_contents(manifest, contents));
  const ManifestEncoder encoder(manifest, small);
  Bytes bytes;
  build_message<schema::Manifest>(
      bytes, [&encoder](schema::Manifest::Builder root) { encoder.write(root); });
  return bytes;
}

}  // namespace datum::codec
