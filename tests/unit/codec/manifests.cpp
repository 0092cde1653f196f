#include "manifests.hpp"

#include <algorithm>

#include "datum/base/assert.hpp"
#include "datum/model/content_hash.hpp"

namespace datum::test {
namespace {

using model::Field;
using model::ResourceType;

class TextStream : public ByteSource {
 public:
  explicit TextStream(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(MutableByteView out) override {
    // Never all that is asked for at once: readers must ask again.
    const auto count = std::min({out.size(), text_.size() - at_, std::size_t{100'000}});
    std::copy_n(as_bytes(text_).begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

model::Resource make(ResourceType type, const std::string& name,
                     std::vector<model::FieldValue> fields) {
  model::Resource resource;
  resource.reference = {type, name};
  resource.fields = std::move(fields);
  resource.origins = {{"layers/base/all.yaml", 12, "base"}, {"layers/web/all.yaml", 3, "web"}};
  return resource;
}

std::string text(const char* value) {
  return value;
}

}  // namespace

model::Content FixedContents::add(std::string text) {
  model::Content content;
  content.size = text.size();
  content.digest = model::content_digest(as_bytes(text));
  texts[content.digest] = std::move(text);
  return content;
}

Result<std::unique_ptr<ByteSource>> FixedContents::open(const Digest& digest) const {
  const auto at = texts.find(digest);
  if (at == texts.end()) return fail(ErrorCode::not_found, "no such content");
  return std::make_unique<TextStream>(at->second);
}

model::ResourcePtr make_file(const std::string& name, const std::string& path,
                             model::Content content) {
  auto resource =
      make(ResourceType::file, name, {{Field::path, path}, {Field::content, std::move(content)}});
  model::finish_resource(resource);
  return std::make_shared<const model::Resource>(std::move(resource));
}

model::Manifest make_manifest(FixedContents& contents) {
  std::vector<model::Resource> list;
  model::Content secret;
  secret.secret = "web/tls-key";
  auto with_secrets = contents.add("password={{ secrets.db }}\n");
  with_secrets.has_secrets = true;

  list.push_back(make(ResourceType::file, "small",
                      {{Field::path, text("/etc/small")},
                       {Field::content, contents.add("small\n")},
                       {Field::mode, text("0640")},
                       {Field::sensitive, true}}));
  list.push_back(make(ResourceType::file, "large",
                      {{Field::path, text("/etc/large")},
                       {Field::content, contents.add(std::string(1'000, 'l'))}}));
  list.push_back(make(ResourceType::file, "secret",
                      {{Field::path, text("/etc/secret")}, {Field::content, secret}}));
  list.push_back(make(ResourceType::file, "template",
                      {{Field::path, text("/etc/template")}, {Field::content, with_secrets}}));
  list.back().observe_only = true;
  list.push_back(make(ResourceType::directory, "web",
                      {{Field::path, text("/srv/web")}, {Field::purge, true}}));
  list.back().protect = true;
  list.push_back(make(ResourceType::symlink, "link",
                      {{Field::path, text("/srv/link")}, {Field::target, text("web")}}));
  list.push_back(make(ResourceType::package, "nginx", {{Field::state, text("present")}}));
  list.push_back(make(ResourceType::repository, "tools",
                      {{Field::id, text("tools")},
                       {Field::url, text("https://example.org/tools")},
                       {Field::components, std::vector<std::string>{"main", "contrib"}},
                       {Field::signing_key, contents.add(std::string(2'000, 'k'))},
                       {Field::priority, std::int64_t{-10}}}));
  auto& service = list.emplace_back(make(
      ResourceType::service, "nginx", {{Field::state, text("running")}, {Field::enabled, false}}));
  service.requirements = {{ResourceType::package, "nginx"}};
  service.restart_on = {{ResourceType::file, "large"}};
  service.reload_on = {{ResourceType::file, "small"}};
  list.push_back(make(ResourceType::user, "web",
                      {{Field::state, text("present")},
                       {Field::uid, std::int64_t{990}},
                       {Field::groups, std::vector<std::string>{"adm", "ssl-cert"}}}));
  list.push_back(make(ResourceType::group, "web", {{Field::state, text("absent")}}));
  list.push_back(make(ResourceType::sysctl, "net.ipv4.ip_forward", {{Field::value, text("1")}}));

  model::Manifest manifest;
  manifest.host = "web-1";
  manifest.revision = "0123abc";
  manifest.source = "fleet /srv/fleet";
  for (auto& each : list) {
    model::finish_resource(each);
    manifest.resources.push_back(std::make_shared<const model::Resource>(std::move(each)));
  }
  const auto status = model::finish_manifest(manifest);
  DATUM_ASSERT(status);
  return manifest;
}

}  // namespace datum::test
