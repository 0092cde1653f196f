#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "datum/crypto/digest.hpp"
#include "datum/model/manifest.hpp"

using namespace datum;
using namespace datum::model;

namespace {

Resource motd() {
  Resource resource;
  resource.reference = {ResourceType::file, "motd"};
  resource.fields = {{Field::mode, std::string("0644")}, {Field::path, std::string("/etc/motd")}};
  resource.requirements = {{ResourceType::package, "b"}, {ResourceType::package, "a"}};
  return resource;
}

Digest digest_of(Resource resource) {
  finish_resource(resource);
  return resource.digest;
}

}  // namespace

TEST_CASE("model: references sort as their texts do, byte by byte") {
  std::vector<Reference> list;
  for (const auto type : {ResourceType::user, ResourceType::file, ResourceType::sysctl})
    for (const auto* name : {"a", "a:", "aB", "a_", "a.b", "ab", "a+b", "A"})
      list.push_back({type, name});
  auto by_text = list;
  std::sort(by_text.begin(), by_text.end(),
            [](const Reference& a, const Reference& b) { return a.text() < b.text(); });
  std::sort(list.begin(), list.end());
  CHECK(list == by_text);
}

TEST_CASE("model: a reference is exact in case and space") {
  CHECK(find_reference("File[motd]") == Reference{ResourceType::file, "motd"});
  CHECK(find_reference("Service[getty@tty1]") == Reference{ResourceType::service, "getty@tty1"});
  for (const auto* wrong : {"", "File", "File[]", "file[motd]", "File[motd] ", " File[motd]",
                            "File[a b]", "File[a/b]", "File[motd", "File]motd[", "Exec[rm]", "[a]"})
    CHECK_FALSE(find_reference(wrong));
  CHECK_FALSE(find_reference("File[" + std::string(257, 'a') + "]"));
}

TEST_CASE("model: every type is found by its name and every field by its key") {
  std::set<std::string_view> names;
  for (const auto& type : all_types()) {
    CHECK(find_type(type.name) == type.type);
    CHECK(&describe(type.type) == &type);
    std::set<Field> ids;
    for (const auto& field : type.fields) {
      CHECK(find_field(type, field.name) == &field);
      CHECK(ids.insert(field.id).second);
      CHECK_FALSE(field.summary.empty());
      CHECK((field.kind == FieldKind::choice) == !field.choices.empty());
    }
    CHECK(find_field(type, type.target_field) != nullptr);
    CHECK(type.target_from_name != find_field(type, type.target_field)->required);
    names.insert(type.name);
  }
  CHECK(names.size() == 15);
  CHECK(find_field(describe(ResourceType::symlink), "owner") == nullptr);
}

TEST_CASE("model: modes are normalised to four digits, and nothing else is a mode") {
  CHECK(*normalise_mode("750") == "0750");
  CHECK(*normalise_mode("4755") == "4755");
  CHECK(mode_bits("4755") == 04755);
  for (const auto* wrong : {"", "75", "07550", "u+x", "0o75", "789", "64 "})
    CHECK_FALSE(normalise_mode(wrong));
}

TEST_CASE("model: a path that is not normalised is refused with the corrected path") {
  CHECK(check_path("/"));
  CHECK(check_path("/etc/a..b/.c"));
  const std::pair<const char*, const char*> wrong[] = {{"/etc//motd", "/etc/motd"},
                                                       {"/etc/./motd", "/etc/motd"},
                                                       {"/etc/", "/etc"},
                                                       {"/etc/../motd", "/motd"},
                                                       {"/..", "/"},
                                                       {"//", "/"},
                                                       {"/etc/.", "/etc"}};
  for (const auto& [written, right] : wrong) {
    const auto status = check_path(written);
    REQUIRE_FALSE(status);
    CHECK(status.error().message() == std::string("write it as ") + right);
  }
  CHECK(check_path("etc/motd").error().message() == "a path begins with /");
  CHECK(check_path("").error().message() == "a path begins with /");
  CHECK(check_path("/" + std::string(4096, 'a')).error().code() == ErrorCode::limit_exceeded);
  CHECK_FALSE(check_path(std::string_view("/a\0b", 4)));
}

TEST_CASE("model: durations have a unit and end at a day") {
  CHECK(find_duration_ms("500ms") == 500);
  CHECK(find_duration_ms("2s") == 2000);
  CHECK(find_duration_ms("0s") == 0);
  CHECK(find_duration_ms("24h") == 86'400'000);
  for (const auto* wrong : {"", "2", "s", "-1s", "2 s", "25h", "99999999999999999999s", "2sec"})
    CHECK_FALSE(find_duration_ms(wrong));
}

TEST_CASE("model: targets are normalised by family, and three types share paths") {
  Resource service;
  service.reference = {ResourceType::service, "ssh"};
  finish_resource(service);
  CHECK(service.target == Target{TargetFamily::unit, "ssh.service"});
  CHECK(normalise_unit("dbus.socket") == "dbus.socket");
  CHECK(normalise_unit("foo.bar") == "foo.bar.service");
  CHECK(normalise_unit("getty@tty1") == "getty@tty1.service");
  CHECK(normalise_sysctl("net/ipv4/conf/eth0.100/rp_filter") == "net.ipv4.conf.eth0/100.rp_filter");
  CHECK(normalise_sysctl("net.ipv4.conf.eth0/100.rp_filter") == "net.ipv4.conf.eth0/100.rp_filter");
  auto file = motd();
  finish_resource(file);
  CHECK(file.target.text() == "/etc/motd");
  CHECK(family_of(ResourceType::directory) == family_of(ResourceType::symlink));
  CHECK(Target{TargetFamily::package, "nginx"}.text() == "package:nginx");
}

TEST_CASE("model: the order in which a resource is filled does not reach its digest") {
  auto resource = motd();
  std::reverse(resource.fields.begin(), resource.fields.end());
  std::reverse(resource.requirements.begin(), resource.requirements.end());
  resource.requirements.push_back(resource.requirements.front());
  CHECK(digest_of(resource) == digest_of(motd()));
}

TEST_CASE("model: supplementary groups are a set, components are not") {
  const auto with = [](ResourceType type, Field field, std::vector<std::string> list) {
    Resource resource;
    resource.reference = {type, "x"};
    resource.fields = {{field, std::move(list)}};
    return digest_of(resource);
  };
  CHECK(with(ResourceType::user, Field::groups, {"b", "a", "b"}) ==
        with(ResourceType::user, Field::groups, {"a", "b"}));
  CHECK(with(ResourceType::repository, Field::components, {"b", "a"}) !=
        with(ResourceType::repository, Field::components, {"a", "b"}));
}

TEST_CASE("model: everything declared reaches the digest, origins do not") {
  const auto base = digest_of(motd());
  const auto changed = [&](auto change) {
    auto resource = motd();
    change(resource);
    return digest_of(resource) != base;
  };
  CHECK(changed([](Resource& r) { r.reference.name = "motd2"; }));
  CHECK(changed([](Resource& r) { r.fields[0].value = std::string("0600"); }));
  CHECK(changed([](Resource& r) { r.fields.pop_back(); }));
  CHECK(changed([](Resource& r) { r.requirements.pop_back(); }));
  CHECK(changed([](Resource& r) { r.observe_only = true; }));
  CHECK(changed([](Resource& r) { r.protect = true; }));
  CHECK(changed([](Resource& r) {
    r.restart_on = r.requirements;
    r.requirements.clear();
  }));
  CHECK(changed([](Resource& r) {
    r.fields.push_back({Field::content, Content{crypto::sha256(as_bytes("x")), 1, "x", true}});
  }));
  CHECK_FALSE(changed([](Resource& r) { r.origins = {{"a.yaml", 1, "base"}}; }));
}

TEST_CASE("model: whether content travels inside does not change the digest, its secrets do") {
  const auto with = [](Content content) {
    auto resource = motd();
    resource.fields.push_back({Field::content, std::move(content)});
    return digest_of(resource);
  };
  const Content inside{crypto::sha256(as_bytes("x")), 1, "x", true};
  auto outside = inside;
  outside.bytes.clear();
  outside.has_bytes = false;
  auto templated = inside;
  templated.has_secrets = true;
  CHECK(with(inside) == with(outside));
  CHECK(with(inside) != with(templated));
}

TEST_CASE("model: the canonical bytes of a small resource are these") {
  auto resource = motd();
  finish_resource(resource);
  CHECK(to_hex(canonical_bytes(resource)) ==
        "01"  // format
        "01"
        "04000000"
        "6d6f7464"  // File, "motd"
        "01"
        "09000000"
        "2f6574632f6d6f7464"  // path, "/etc/motd"
        "00"                  // flags
        "0200"                // two fields
        "01"
        "01"
        "09000000"
        "2f6574632f6d6f7464"
        "05"
        "01"
        "04000000"
        "30363434"
        "02000000"
        "04"
        "01000000"
        "61"
        "04"
        "01000000"
        "62"
        "00000000"
        "00000000");
}

TEST_CASE("model: a manifest sorts its resources and refuses one reference twice") {
  const auto make = [](const char* name) {
    auto resource = motd();
    resource.reference.name = name;
    finish_resource(resource);
    return std::make_shared<const Resource>(std::move(resource));
  };
  Manifest forward;
  forward.resources = {make("a"), make("b"), make("c")};
  Manifest backward;
  backward.resources = {make("c"), make("b"), make("a")};
  REQUIRE(finish_manifest(forward));
  REQUIRE(finish_manifest(backward));
  CHECK(forward.digest == backward.digest);
  CHECK(backward.find({ResourceType::file, "b"})->reference.name == "b");
  CHECK(backward.find({ResourceType::file, "d"}) == nullptr);
  backward.resources.push_back(make("a"));
  const auto status = finish_manifest(backward);
  REQUIRE_FALSE(status);
  CHECK(status.error().message() == "File[a] stands twice");
}

TEST_CASE("model: a manifest's digest is over sorted references and resource digests") {
  Manifest manifest;
  auto resource = motd();
  finish_resource(resource);
  manifest.resources = {std::make_shared<const Resource>(resource)};
  REQUIRE(finish_manifest(manifest));
  Bytes expected(4);
  store_le<std::uint32_t>(expected.data(), 10);
  const auto append = [&](ByteView view) {
    expected.insert(expected.end(), view.begin(), view.end());
  };
  append(as_bytes("File[motd]"));
  append(resource.digest.view());
  CHECK(manifest.digest == crypto::sha256(expected));
}

TEST_CASE("model: a file is sensitive by word, by secret, or by a mode that others cannot read") {
  auto resource = motd();
  CHECK_FALSE(resource.sensitive());
  resource.fields[0].value = std::string("0640");
  CHECK(resource.sensitive());
  resource.fields[0].value = std::string("0644");
  resource.fields.push_back({Field::sensitive, true});
  CHECK(resource.sensitive());
  resource.fields.back() = {Field::content, Content{{}, 0, "", false, false, "tls/key"}};
  CHECK(resource.sensitive());
}

TEST_CASE("model: a table of targets finds each, and names a resource whose target stands twice") {
  Manifest manifest;
  const auto add = [&manifest](const std::string& name, const std::string& path) {
    auto resource = std::make_shared<Resource>();
    resource->reference = {ResourceType::file, name};
    resource->target = {TargetFamily::path, path};
    manifest.resources.push_back(std::move(resource));
  };
  CHECK(TargetTable(manifest).find({TargetFamily::path, "/a"}) == nullptr);
  for (int i = 0; i < 1000; ++i) add("f" + std::to_string(i), "/a/" + std::to_string(i));
  const TargetTable table(manifest);
  CHECK(table.repeated() == nullptr);
  for (const auto& resource : manifest.resources)
    CHECK(table.find(resource->target) == resource.get());
  CHECK(table.find({TargetFamily::path, "/a"}) == nullptr);
  CHECK(table.find({TargetFamily::unit, "/a/1"}) == nullptr);
  add("again", "/a/500");
  const TargetTable repeated(manifest);
  REQUIRE(repeated.repeated() != nullptr);
  CHECK(repeated.repeated()->reference.name == "again");
  CHECK(repeated.find({TargetFamily::path, "/a/500"})->reference.name == "f500");
}

TEST_CASE("model: a path is normalised or shown as it should be written") {
  for (const auto* good : {"/", "/a", "/a/b", "/...", "/a/.b", "/a/..b", "/ a"})
    CHECK(check_path(good));
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"/a/", "/a"}, {"//a", "/a"},     {"/a//b", "/a/b"}, {"/./a", "/a"}, {"/a/.", "/a"},
      {"/..", "/"},  {"/a/../b", "/b"}, {"/a/..", "/"},    {"//", "/"}};
  for (const auto& [path, right] : wrong) {
    const auto checked = check_path(path);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().message() == "write it as " + right);
  }
}
