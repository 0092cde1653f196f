// schema/manifest.capnp into manifests. Lenient in nothing: order, uniqueness, values and digests
// are what they would be had the manifest just been resolved, or the bytes are corrupt.
#include "datum/base/assert.hpp"
#include "datum/codec/manifest_file.hpp"
#include "decoder.hpp"
#include "manifest.capnp.h"
#include "manifest_check.hpp"
#include "manifest_parts.hpp"
#include "message.hpp"
#include "value_fields.hpp"

namespace datum::codec {
namespace {

constexpr std::string_view kManifestWhat = "manifest";

template <class Stored>
std::string owned(Stored stored) {
  return {reinterpret_cast<const char*>(stored.begin()), stored.size()};
}

Result<Digest> read_digest(capnp::Data::Reader stored) {
  Digest digest;
  if (stored.size() != Digest::kSize) return fail(ErrorCode::corrupt, "a digest of another length");
  std::copy(stored.begin(), stored.end(), digest.bytes.begin());
  return digest;
}

// Both fill in place: values are large, and moving them costs more than reading them.
Status read_content(schema::Content::Reader from, model::Content& content) {
  content.secret = owned(from.getSecret());
  if (content.secret.empty() || from.hasDigest()) {
    DATUM_ASSIGN(content.digest, read_digest(from.getDigest()));
  }
  content.size = from.getSize();
  content.bytes = owned(from.getBytes());
  content.has_bytes = content.secret.empty() && content.size <= model::kInlineContent;
  content.has_secrets = from.getHasSecrets();
  return {};
}

Status read_value(schema::FieldValue::Reader from, model::Value& value) {
  switch (from.which()) {
    case schema::FieldValue::TEXT:
      value.emplace<std::string>(owned(from.getText()));
      return {};
    case schema::FieldValue::INTEGER:
      value.emplace<std::int64_t>(from.getInteger());
      return {};
    case schema::FieldValue::BOOLEAN:
      value.emplace<bool>(from.getBoolean());
      return {};
    case schema::FieldValue::LIST: {
      auto& list = value.emplace<std::vector<std::string>>();
      for (const auto each : from.getList()) list.push_back(owned(each));
      return {};
    }
    case schema::FieldValue::CONTENT: {
      model::Content content;
      DATUM_TRY(read_content(from.getContent(), content));
      value.emplace<model::SharedContent>(std::move(content));
      return {};
    }
  }
  return fail(ErrorCode::corrupt, "a value of no known form");
}

class ManifestDecoder {
 public:
  explicit ManifestDecoder(std::size_t words) : elements_left_(words) {}

  Result<model::ManifestPtr> read(schema::Manifest::Reader root) {
    auto manifest = std::make_shared<model::Manifest>();
    manifest->host = owned(root.getHost());
    manifest->final = root.getFinal();
    manifest->revision = owned(root.getRevision());
    manifest->source = owned(root.getSource());
    DATUM_ASSIGN(const auto stated, read_digest(root.getDigest()));
    DATUM_TRY(read_names(root.getNames()));
    const auto resources = root.getResources();
    DATUM_TRY(take(resources.size()));
    manifest->resources.reserve(resources.size());
    for (const auto each : resources) {
      DATUM_ASSIGN(auto resource, read_resource(each));
      if (!manifest->resources.empty() &&
          !(manifest->resources.back()->reference < resource->reference))
        return fail(ErrorCode::corrupt, resource->reference.text() + " out of order");
      manifest->resources.push_back(std::move(resource));
    }
    if (const auto status = model::finish_manifest(*manifest); !status)
      return fail(ErrorCode::corrupt, status.error().message());
    if (manifest->digest != stated)
      return fail(ErrorCode::corrupt, "the digest is not that of its resources");
    DATUM_TRY(check_graph(*manifest));
    return manifest;
  }

 private:
  Status read_names(capnp::List<capnp::Text>::Reader stored) {
    names_.reserve(stored.size());
    for (const auto each : stored) {
      names_.push_back(owned(each));
      if (names_.size() > 1 && !(names_[names_.size() - 2] < names_.back()))
        return fail(ErrorCode::corrupt, "names of documents do not ascend");
    }
    return {};
  }

  Result<std::shared_ptr<const model::Resource>> read_resource(schema::Resource::Reader from) {
    auto resource = std::make_shared<model::Resource>();
    DATUM_ASSIGN(resource->reference,
                 decode_fields<model::Reference>(from.getReference(), 0, kManifestWhat));
    if (auto status = read_body(from, *resource); !status)
      return fail(std::move(status).error().context(resource->reference.text()));
    model::finish_resource(*resource);
    if (auto status = codec::check_target(resource->target); !status)
      return fail(std::move(status).error().context(resource->reference.text()));
    return resource;
  }

  Status read_body(schema::Resource::Reader from, model::Resource& resource) {
    resource.observe_only = from.getObserveOnly();
    resource.protect = from.getProtect();
    const auto& type = model::describe(resource.reference.type);
    auto last = model::Field{};
    const auto fields = from.getFields();
    DATUM_TRY(take(fields.size()));
    resource.fields.reserve(fields.size());
    for (const auto each : fields) {
      const auto number = static_cast<model::Field>(each.getField());
      auto& field = resource.fields.emplace_back();
      field.field = number;
      DATUM_TRY(read_value(each, field.value));
      DATUM_TRY(check_field(type, last, field));
      last = number;
    }
    DATUM_TRY(read_references(from.getRequirements(), resource.requirements));
    DATUM_TRY(read_references(from.getRestartOn(), resource.restart_on));
    DATUM_TRY(read_references(from.getReloadOn(), resource.reload_on));
    const auto origins = from.getOrigins();
    DATUM_TRY(take(origins.size()));
    resource.origins.reserve(origins.size());
    for (const auto each : origins) {
      if (each.getFile() >= names_.size() || each.getLayer() >= names_.size())
        return fail(ErrorCode::corrupt, "comes from a document that is not listed");
      resource.origins.push_back({names_[each.getFile()], each.getLine(), names_[each.getLayer()]});
    }
    return check_resource(resource);
  }

  Status read_references(capnp::List<schema::Reference>::Reader stored,
                         std::vector<model::Reference>& list) {
    DATUM_TRY(take(stored.size()));
    list.reserve(stored.size());
    for (const auto each : stored) {
      DATUM_ASSIGN(auto reference, decode_fields<model::Reference>(each, 0, kManifestWhat));
      list.push_back(std::move(reference));
    }
    return {};
  }

  // As in decoder.hpp: what was written as structs takes a word each.
  Status take(std::size_t elements) {
    if (elements > elements_left_)
      return fail(ErrorCode::corrupt, "more elements than there is room for");
    elements_left_ -= elements;
    return {};
  }

  std::vector<SharedText> names_;
  std::size_t origin_bytes_ = 0;
  std::size_t elements_left_;
};

}  // namespace

Result<model::ManifestPtr> decode_manifest(ByteView bytes) {
  return read_message<schema::Manifest>(
      bytes, kManifestWhat,
      [](schema::Manifest::Reader root, std::size_t words) -> Result<model::ManifestPtr> {
        auto manifest = ManifestDecoder(words).read(root);
        if (!manifest) return fail(std::move(manifest).error().context(kManifestWhat));
        return manifest;
      });
}

}  // namespace datum::codec
