// Compiled manifests: what is written is what is read, and nothing else is read at all.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "datum/codec/manifest_file.hpp"
#include "datum/model/content_hash.hpp"
#include "manifests.hpp"

using namespace datum;
using test::FixedContents;
using test::make_file;
using test::make_manifest;

namespace {

Bytes written(const model::Manifest& manifest, const ContentSource& contents) {
  Bytes file;
  const auto status = codec::write_manifest(manifest, contents, [&file](ByteView bytes) -> Status {
    file.insert(file.end(), bytes.begin(), bytes.end());
    return {};
  });
  INFO((status ? std::string() : status.error().message()));
  REQUIRE(status);
  return file;
}

Result<codec::OpenedManifest> opened(const Bytes& bytes) {
  const auto owner = std::make_shared<const Bytes>(bytes);
  return codec::open_manifest(*owner, owner);
}

ErrorCode code_of(const Bytes& bytes) {
  const auto result = opened(bytes);
  REQUIRE_FALSE(result);
  return result.error().code();
}

Result<std::string> read_all(const ContentSource& contents, const Digest& digest) {
  DATUM_ASSIGN(const auto stream, contents.open(digest));
  std::string text;
  Bytes buffer(1'000);
  for (;;) {
    DATUM_ASSIGN(const auto count, stream->read(buffer));
    if (count == 0) return text;
    text += as_text(ByteView(buffer).first(count));
  }
}

void check_equal(const model::Manifest& a, const model::Manifest& b) {
  CHECK(a.host == b.host);
  CHECK(a.digest == b.digest);
  CHECK(a.final == b.final);
  CHECK(a.revision == b.revision);
  CHECK(a.source == b.source);
  REQUIRE(a.resources.size() == b.resources.size());
  for (std::size_t i = 0; i < a.resources.size(); ++i) {
    const auto& left = *a.resources[i];
    const auto& right = *b.resources[i];
    INFO(left.reference.text());
    CHECK(left.reference == right.reference);
    CHECK(left.target == right.target);
    CHECK(left.digest == right.digest);
    CHECK(model::canonical_bytes(left) == model::canonical_bytes(right));
    REQUIRE(left.origins.size() == right.origins.size());
    for (std::size_t k = 0; k < left.origins.size(); ++k) {
      CHECK(left.origins[k].file == right.origins[k].file);
      CHECK(left.origins[k].line == right.origins[k].line);
      CHECK(left.origins[k].layer == right.origins[k].layer);
    }
  }
}

// The manifest of one resource, made by hand and not finished by the rules: what a reader must
// refuse.
Bytes encoded(std::vector<model::Resource> resources) {
  model::Manifest manifest;
  manifest.host = "host";
  for (auto& each : resources) {
    each.digest = model::content_digest(model::canonical_bytes(each));
    manifest.resources.push_back(std::make_shared<const model::Resource>(std::move(each)));
  }
  if (manifest.resources.size() == 1) (void)model::finish_manifest(manifest);
  const auto bytes = codec::encode_manifest(manifest, FixedContents{});
  REQUIRE(bytes);
  return *bytes;
}

std::string refusal(std::vector<model::Resource> resources) {
  const auto manifest = codec::decode_manifest(encoded(std::move(resources)));
  REQUIRE_FALSE(manifest);
  CHECK(manifest.error().code() == ErrorCode::corrupt);
  return manifest.error().message();
}

model::Resource file_with(std::vector<model::FieldValue> fields) {
  model::Resource resource;
  resource.reference = {model::ResourceType::file, "a"};
  resource.fields = std::move(fields);
  resource.target = {model::TargetFamily::path, "/a"};
  return resource;
}

const model::FieldValue kPathA{model::Field::path, std::string("/a")};

}  // namespace

TEST_CASE("codec: a manifest file gives back the manifest, its origins and its contents") {
  FixedContents contents;
  const auto manifest = make_manifest(contents);
  const auto file = written(manifest, contents);
  const auto back = opened(file);
  INFO((back ? std::string() : back.error().message()));
  REQUIRE(back);
  check_equal(manifest, *back->manifest);
  for (const auto& [digest, text] : contents.texts) {
    if (text.size() <= model::kInlineContent) continue;
    const auto read = read_all(*back->contents, digest);
    REQUIRE(read);
    CHECK(*read == text);
  }
  CHECK(written(*back->manifest, *back->contents) == file);
}

TEST_CASE("codec: content of 256 bytes stands in the manifest, of 257 beside it, each once") {
  FixedContents contents;
  model::Manifest manifest;
  manifest.host = "host";
  for (const std::size_t size : {0, 1, 255, 256, 257}) {
    for (const auto* twin : {"a", "b"}) {
      const auto name = twin + std::to_string(size);
      manifest.resources.push_back(
          make_file(name, "/" + name, contents.add(std::string(size, 'c'))));
    }
  }
  REQUIRE(model::finish_manifest(manifest));
  const auto file = written(manifest, contents);
  CHECK(load_le<std::uint64_t>(file.data() + 24) == 1);
  CHECK(load_le<std::uint64_t>(file.data() + 32) == 257);
  const auto back = opened(file);
  REQUIRE(back);
  for (const auto& resource : back->manifest->resources) {
    const auto* content = resource->content();
    REQUIRE(content);
    CHECK(content->has_bytes == (content->size <= 256));
    if (content->has_bytes) CHECK(content->bytes == std::string(content->size, 'c'));
  }
}

TEST_CASE("codec: an empty manifest that is final comes back") {
  model::Manifest manifest;
  manifest.host = "host";
  manifest.final = true;
  REQUIRE(model::finish_manifest(manifest));
  const auto back = opened(written(manifest, FixedContents{}));
  REQUIRE(back);
  check_equal(manifest, *back->manifest);
}

TEST_CASE("codec: content the manifest carries needs no source, and leaves the reader's memory") {
  model::Manifest manifest;
  manifest.host = "host";
  model::Content content;
  content.bytes = std::string(5'000, 'x');
  content.size = content.bytes.size();
  content.has_bytes = true;
  content.digest = model::content_digest(as_bytes(content.bytes));
  manifest.resources.push_back(make_file("a", "/a", content));
  REQUIRE(model::finish_manifest(manifest));
  const auto back = opened(written(manifest, FixedContents{}));
  REQUIRE(back);
  CHECK_FALSE(back->manifest->resources[0]->content()->has_bytes);
  const auto read = read_all(*back->contents, content.digest);
  REQUIRE(read);
  CHECK(*read == content.bytes);
}

TEST_CASE("codec: the writer hands on large content in pieces") {
  FixedContents contents;
  model::Manifest manifest;
  manifest.host = "host";
  constexpr std::size_t kSize = 8U << 20;
  manifest.resources.push_back(make_file("a", "/a", contents.add(std::string(kSize, 'z'))));
  REQUIRE(model::finish_manifest(manifest));
  std::size_t largest = 0;
  std::size_t total = 0;
  REQUIRE(codec::write_manifest(manifest, contents, [&](ByteView bytes) -> Status {
    largest = std::max(largest, bytes.size());
    total += bytes.size();
    return {};
  }));
  CHECK(total > kSize);
  CHECK(largest <= 1U << 20);
}

TEST_CASE("codec: content that changed or is gone ends the writing") {
  for (const auto size : {100, 1'000}) {
    FixedContents contents;
    model::Manifest manifest;
    const auto content = contents.add(std::string(static_cast<std::size_t>(size), 'c'));
    manifest.resources.push_back(make_file("a", "/a", content));
    REQUIRE(model::finish_manifest(manifest));
    const auto nowhere = [](ByteView) -> Status { return {}; };
    const auto code = [&] {
      const auto status = codec::write_manifest(manifest, contents, nowhere);
      REQUIRE_FALSE(status);
      return status.error().code();
    };
    contents.texts[content.digest].front() = 'd';
    CHECK(code() == ErrorCode::conflict);
    contents.texts[content.digest] = std::string(static_cast<std::size_t>(size) + 1, 'c');
    CHECK(code() == ErrorCode::conflict);
    contents.texts[content.digest] = std::string(static_cast<std::size_t>(size) - 1, 'c');
    CHECK(code() == ErrorCode::conflict);
    contents.texts.clear();
    CHECK(code() == ErrorCode::not_found);
  }
}

TEST_CASE("codec: the sink's error ends the writing and is handed back") {
  FixedContents contents;
  const auto manifest = make_manifest(contents);
  for (int fails_at = 0; fails_at < 5; ++fails_at) {
    int calls = 0;
    const auto status = codec::write_manifest(manifest, contents, [&](ByteView) -> Status {
      if (calls++ == fails_at) return fail(ErrorCode::no_space, "disk full");
      return {};
    });
    REQUIRE_FALSE(status);
    CHECK(status.error().code() == ErrorCode::no_space);
    CHECK(calls == fails_at + 1);
  }
}

TEST_CASE("codec: every altered byte of a manifest file is found, in contents when they are read") {
  FixedContents contents;
  const auto manifest = make_manifest(contents);
  const auto file = written(manifest, contents);
  const auto tail = load_le<std::uint64_t>(file.data() + 32);
  for (std::size_t at = 0; at < file.size(); ++at) {
    auto altered = file;
    altered[at] ^= std::byte{0x10};
    const auto back = opened(altered);
    if (at < file.size() - tail) {
      INFO(at);
      CHECK_FALSE(back);
      continue;
    }
    REQUIRE(back);
    bool found = false;
    for (const auto& [digest, text] : contents.texts) {
      if (text.size() <= model::kInlineContent) continue;
      const auto read = read_all(*back->contents, digest);
      if (read) CHECK(*read == text);
      if (!read) {
        CHECK(read.error().code() == ErrorCode::corrupt);
        found = true;
      }
    }
    CHECK(found);
  }
}

TEST_CASE(
    "codec: a manifest file cut short anywhere, or longer, is corrupt; a newer one is named so") {
  FixedContents contents;
  const auto file = written(make_manifest(contents), contents);
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK(code_of(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size))) ==
          ErrorCode::corrupt);
  auto longer = file;
  longer.push_back(std::byte{});
  CHECK(code_of(longer) == ErrorCode::corrupt);
  auto newer = file;
  store_le<std::uint32_t>(newer.data() + 8, 2);
  CHECK(code_of(newer) == ErrorCode::unsupported_version);
  CHECK(code_of(to_bytes("datum: v1alpha1\n")) == ErrorCode::corrupt);
}

TEST_CASE("codec: a stream of contents outlives the file that was opened") {
  FixedContents contents;
  const auto manifest = make_manifest(contents);
  auto owner = std::make_shared<const Bytes>(written(manifest, contents));
  std::weak_ptr<const Bytes> watched = owner;
  auto back = codec::open_manifest(*owner, owner);
  owner.reset();
  REQUIRE(back);
  const auto large = std::find_if(contents.texts.begin(), contents.texts.end(), [](auto& each) {
    return each.second.size() > model::kInlineContent;
  });
  auto stream = back->contents->open(large->first);
  REQUIRE(stream);
  back = fail(ErrorCode::cancelled, "dropped");
  CHECK_FALSE(watched.expired());
  Bytes buffer(1'000'000);
  CHECK((*stream)->read(buffer).value() == large->second.size());
  stream = fail(ErrorCode::cancelled, "dropped");
  CHECK(watched.expired());
}

TEST_CASE("codec: a resource that no document could be is corrupt") {
  using model::Field;
  const auto says = [](const std::string& message, const char* part) {
    INFO(message);
    return message.find(part) != std::string::npos;
  };
  REQUIRE(codec::decode_manifest(encoded({file_with({kPathA})})));
  CHECK(says(refusal({file_with({})}), "lacks the field path"));
  CHECK(says(refusal({file_with({kPathA, kPathA})}), "out of order"));
  CHECK(says(refusal({file_with({{Field::owner, std::string("root")}, kPathA})}), "out of order"));
  CHECK(says(refusal({file_with({kPathA, {Field::url, std::string("x")}})}), "has no field"));
  CHECK(says(refusal({file_with({{Field::path, std::string("/a/../b")}})}), "path"));
  CHECK(says(refusal({file_with({kPathA, {Field::mode, std::string("750")}})}), "mode"));
  CHECK(says(refusal({file_with({kPathA, {Field::mode, std::int64_t{750}}})}), "mode"));
  CHECK(says(refusal({file_with({kPathA, {Field::state, std::string("gone")}})}), "choices"));
  CHECK(says(refusal({file_with({kPathA, {Field::owner, std::string("a\nb")}})}), "control"));
  CHECK(says(refusal({file_with({kPathA, {Field::owner, std::string(300, 'o')}})}), "too long"));
  CHECK(says(refusal({file_with({kPathA, {Field::sensitive, std::string("true")}})}), "boolean"));
  auto other = file_with({kPathA});
  other.restart_on = {{model::ResourceType::file, "a"}};
  CHECK(says(refusal({other}), "only a Service"));
  auto nameless = file_with({kPathA});
  nameless.reference.name = "no name";
  CHECK(says(refusal({nameless}), "name"));
}

TEST_CASE("codec: small content must be what its digest says") {
  model::Content content;
  content.bytes = "hello";
  content.size = 5;
  content.has_bytes = true;
  content.digest = model::content_digest(as_bytes("world"));
  CHECK(refusal({file_with({kPathA, {model::Field::content, content}})}).find("digest") !=
        std::string::npos);
}

TEST_CASE("codec: references that lead nowhere, cycles and shared targets are corrupt") {
  auto lonely = file_with({kPathA});
  lonely.requirements = {{model::ResourceType::file, "b"}};
  CHECK(refusal({lonely}).find("not in the manifest") != std::string::npos);
  auto itself = file_with({kPathA});
  itself.requirements = {{model::ResourceType::file, "a"}};
  CHECK(refusal({itself}).find("cycle") != std::string::npos);

  model::Manifest manifest;
  FixedContents contents;
  manifest.resources.push_back(make_file("a", "/a", contents.add("x")));
  manifest.resources.push_back(make_file("b", "/a", contents.add("x")));
  REQUIRE(model::finish_manifest(manifest));
  const auto bytes = codec::encode_manifest(manifest, contents);
  REQUIRE(bytes);
  const auto back = codec::decode_manifest(*bytes);
  REQUIRE_FALSE(back);
  CHECK(back.error().message().find("two resources") != std::string::npos);
}

TEST_CASE("codec: a manifest whose digest is not that of its resources is corrupt") {
  FixedContents contents;
  auto manifest = make_manifest(contents);
  manifest.digest.bytes[0] ^= 1;
  const auto bytes = codec::encode_manifest(manifest, contents);
  REQUIRE(bytes);
  const auto back = codec::decode_manifest(*bytes);
  REQUIRE_FALSE(back);
  CHECK(back.error().code() == ErrorCode::corrupt);
}

TEST_CASE("codec: contents that no resource names, or of another size, make a file corrupt") {
  // A file put together by hand from two that are sound: the header's digest is made to fit.
  FixedContents contents;
  model::Manifest with;
  with.host = "host";
  with.resources.push_back(make_file("a", "/a", contents.add(std::string(500, 'a'))));
  REQUIRE(model::finish_manifest(with));
  model::Manifest without;
  without.host = "host";
  REQUIRE(model::finish_manifest(without));
  const auto donor = written(with, contents);
  const auto part = codec::encode_manifest(without, contents);
  REQUIRE(part);

  const auto assemble = [&](const Bytes& body, std::uint64_t offset, std::uint64_t size) {
    Bytes file(donor.begin(), donor.begin() + 96);
    store_le<std::uint64_t>(file.data() + 16, body.size());
    store_le<std::uint64_t>(file.data() + 32, size);
    file.insert(file.end(), body.begin(), body.end());
    const auto entry = donor.end() - 500 - 48;
    file.insert(file.end(), entry, entry + 48);
    store_le(file.data() + 96 + body.size() + 32, offset);
    store_le(file.data() + 96 + body.size() + 40, size);
    Bytes hashed(file.begin(), file.begin() + 40);
    hashed.insert(hashed.end(), file.begin() + 96, file.end());
    const auto digest = model::content_digest(hashed);
    std::copy(digest.view().begin(), digest.view().end(), file.begin() + 40);
    file.insert(file.end(), donor.end() - 500, donor.end() - 500 + static_cast<long>(size));
    return file;
  };
  const Bytes own(donor.begin() + 96, donor.end() - 500 - 48);
  CHECK(assemble(own, 96 + own.size() + 48, 500) == donor);
  CHECK(code_of(assemble(*part, 96 + part->size() + 48, 500)) == ErrorCode::corrupt);
  CHECK(code_of(assemble(own, 96 + own.size() + 48, 499)) == ErrorCode::corrupt);
  CHECK(code_of(assemble(own, 96 + own.size() + 47, 500)) == ErrorCode::corrupt);
}
