// Manifests for tests, with one resource of every type and contents on both sides of the limit.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "datum/base/content.hpp"
#include "datum/model/manifest.hpp"

namespace datum::test {

// Contents that stand in memory.
class FixedContents : public ContentSource {
 public:
  std::map<Digest, std::string> texts;

  // Remembers the text; the content names it and does not carry it.
  model::Content add(std::string text);
  [[nodiscard]] Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override;
};

[[nodiscard]] model::ResourcePtr make_file(const std::string& name, const std::string& path,
                                           model::Content content);
[[nodiscard]] model::Manifest make_manifest(FixedContents& contents);

}  // namespace datum::test
