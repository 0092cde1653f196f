// What the halves of manifest files share: which contents a manifest names beside itself.
#pragma once

#include <map>
#include <string_view>

#include "datum/base/content.hpp"
#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::codec {

// A content too large to stand in the manifest. `bytes` is set where the manifest carries it anyway
// (a `content` key), borrowed from the manifest.
struct NamedContent {
  std::uint64_t size = 0;
  const std::string* bytes = nullptr;
};
// By digest, hence each once and in the order in which a file holds them.
using NamedContents = std::map<Digest, NamedContent>;

// Names of documents and layers in the origins of all resources, spelled out: a hundred times what
// 10,000 resources of three layers each need. In the file a name stands once, so without a limit a
// small file could ask for any amount of memory.
inline constexpr std::size_t kMaxOriginBytes = 256U << 20;

// Whether the content lies outside the manifest part.
[[nodiscard]] inline bool is_named(const model::Content& content) {
  return content.secret.empty() && content.size > model::kInlineContent;
}

// Calls `visit(content)` for each content of the manifest until one returns an error.
template <class Visit>
[[nodiscard]] Status visit_contents(const model::Manifest& manifest, const Visit& visit) {
  for (const auto& resource : manifest.resources)
    for (const auto& field : resource->fields)
      if (const auto* content = model::find_content(field.value)) DATUM_TRY(visit(*content));
  return {};
}

// `conflict`: one digest with two sizes.
[[nodiscard]] Result<NamedContents> named_contents(const model::Manifest& manifest);

}  // namespace datum::codec
