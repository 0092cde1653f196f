#include <catch2/catch.hpp>

#include "datum/fleet/affected.hpp"
#include "datum/fleet/render.hpp"
#include "datum/fleet/schema.hpp"
#include "datum/fleet/starter.hpp"
#include "datum/fleet/validate.hpp"
#include "scratch_fleet.hpp"

using namespace datum;
using test::ScratchFleet;

namespace {

std::string text_of(const fleet::ResourceChange& change) {
  auto text = std::string(to_string(change.change)) + " " + change.reference.text();
  for (const auto& field : change.fields) text.append(" ").append(field);
  return text + (change.enforcement_begins ? " enforces" : "");
}

std::vector<std::string> hosts_touched(const fleet::FleetPtr& fleet, const std::string& file) {
  const auto touched = fleet::touched_hosts(fleet, {file});
  REQUIRE(touched.size() == 1);
  CHECK(touched[0].file == file);
  return touched[0].hosts;
}

void add_second_host(ScratchFleet& fleet) {
  fleet.write("i.yaml", "datum: v1alpha1\ntype: Host\nname: i\nlabels: {site: muc}\n");
}

}  // namespace

TEST_CASE("affected: a change names the hosts, resources and fields that it reaches") {
  ScratchFleet before;
  ScratchFleet after;
  for (auto* each : {&before, &after}) {
    add_second_host(*each);
    each->resource("File", "same", "desired: {path: /same}\n");
    each->layer("muc", 1, "match: {labels: {site: muc}}\n");
  }
  before.resource("File", "gone", "desired: {path: /gone}\n");
  before.resource("File", "held", "policy: observe\ndesired: {path: /held, mode: \"0600\"}\n");
  after.resource("File", "held", "desired: {path: /held, mode: \"0644\"}\n");
  after.write("muc/new.yaml",
              "datum: v1alpha1\ntype: Group\nname: new\ndesired: {state: present}\n");
  after.write("j.yaml", "datum: v1alpha1\ntype: Host\nname: j\n");
  const auto result = fleet::affected(before.sound(), after.sound());
  CHECK(result.errors.empty());
  CHECK(result.compared == 3);
  REQUIRE(result.hosts.size() == 3);
  CHECK(result.hosts[0].host == "h");
  std::vector<std::string> changes;
  for (const auto& change : result.hosts[0].resources) changes.push_back(text_of(change));
  CHECK(changes ==
        std::vector<std::string>{"removed File[gone]", "changed File[held] mode policy enforces"});
  CHECK(result.hosts[1].host == "i");
  REQUIRE(result.hosts[1].resources.size() == 3);
  CHECK(text_of(result.hosts[1].resources[2]) == "added Group[new]");
  CHECK(result.hosts[2].host == "j");
  CHECK(result.hosts[2].change == fleet::Change::added);
  CHECK(result.hosts[2].before.empty());
}

TEST_CASE("affected: equal fleets affect nobody, and a faulty one is reported and not compared") {
  ScratchFleet before;
  ScratchFleet after;
  before.resource("File", "a", "desired: {path: /a}\n");
  after.resource("File", "b", "desired: {path: /a}\n");
  CHECK(fleet::affected(before.sound(), before.sound()).hosts.empty());
  after.resource("File", "a", "desired: {path: /a}\n");
  const auto result = fleet::affected(before.sound(), after.sound());
  CHECK(result.compared == 0);
  REQUIRE(result.errors.size() == 1);
  CHECK(result.errors[0].diagnostic.message.find("after: File[b] and File[a] have one target") ==
        0);
  CHECK(result.errors[0].hosts == std::vector<std::string>{"h"});
}

TEST_CASE("affected: a file reaches the hosts whose manifest rests on it") {
  ScratchFleet fleet;
  add_second_host(fleet);
  fleet.layer("muc", 1, "match: {labels: {site: muc}}\n");
  fleet.write("muc/files/big", "x").write("muc/motd.ber", "x").write("muc/motd.muc", "y");
  fleet.write("muc/a.yaml",
              "datum: v1alpha1\ntype: File\nname: a\ndesired:\n  path: /a\n"
              "  source: files/big\n---\n"
              "datum: v1alpha1\ntype: File\nname: b\ndesired:\n  path: /b\n"
              "  source: \"motd.{{ labels.site }}\"\n");
  fleet.resource("File", "c", "desired: {path: /c}\n");
  const auto loaded = fleet.sound();
  using Hosts = std::vector<std::string>;
  CHECK(hosts_touched(loaded, "base/File-c.yaml") == Hosts{"h", "i"});
  CHECK(hosts_touched(loaded, "base/layer.yaml") == Hosts{"h", "i"});
  CHECK(hosts_touched(loaded, "datum.yaml") == Hosts{"h", "i"});
  CHECK(hosts_touched(loaded, "i.yaml") == Hosts{"i"});
  CHECK(hosts_touched(loaded, "muc/a.yaml") == Hosts{"i"});
  CHECK(hosts_touched(loaded, "muc/files/big") == Hosts{"i"});
  CHECK(hosts_touched(loaded, "muc/motd.muc") == Hosts{"i"});
  CHECK(hosts_touched(loaded, "muc/motd.ber").empty());
  CHECK_FALSE(fleet::touched_hosts(loaded, {"README.md"})[0].known);
}

TEST_CASE("render: content of sensitive files and secrets is never shown") {
  ScratchFleet fleet;
  fleet.write("base/t", "password {{ secrets.db }} swordfish");
  fleet.resource("File", "a", "desired: {path: /a, content: swordfish, sensitive: true}\n");
  fleet.resource("File", "b", "desired: {path: /b, content: swordfish, mode: \"0640\"}\n");
  fleet.resource("File", "c", "desired: {path: /c, template: t}\n");
  fleet.resource("File", "d", "desired: {path: /d, secretRef: db}\n");
  const auto manifest = fleet.manifest();
  for (const auto& text : {fleet::render_text(*manifest), fleet::render_json(*manifest)}) {
    CHECK(text.find("swordfish") == std::string::npos);
    for (const auto& resource : manifest->resources)
      if (resource->content()->secret.empty())
        CHECK(text.find(resource->content()->digest.hex()) == std::string::npos);
  }
}

TEST_CASE("render: the text of a manifest reads back as the same resources") {
  ScratchFleet fleet;
  fleet.resource("File", "a",
                 "requires: [\"Group[g]\"]\nprotect: true\ndesired:\n  path: /a\n"
                 "  mode: \"0644\"\n  content: \"two {{{{ braces\\n  indented\\n\\nend\\n\"\n");
  fleet.resource("File", "b", "desired: {path: /b, content: \" leading\\n\"}\n");
  fleet.resource("File", "2",
                 "desired: {path: "
                 "/2}\n");
  fleet.resource("File", "c", "desired: {path: /c, content: \"tab\\tand no end\"}\n");
  fleet.resource("Group", "g", "policy: observe\ndesired: {state: present, gid: 7}\n");
  fleet.resource("User", "u",
                 "desired: {state: present, groups: [b, a], comment: \"{{{{\", shell: /bin/sh}\n");
  fleet.resource("Service", "s",
                 "restartOn: [\"File[a]\"]\nreloadOn: [\"File[b]\"]\n"
                 "desired: {state: running, enabled: true, settle: 5s}\n");
  const auto first = fleet.manifest();
  const auto text = fleet::render_text(*first);
  fleet.remove("base").write("base/layer.yaml", "datum: v1alpha1\ntype: Layer\nname: base\n");
  fleet.write("base/all.yaml", text);
  const auto second = fleet.manifest();
  CHECK(second->digest == first->digest);
  CHECK(fleet::render_text(*second) == text);
}

TEST_CASE("init: the starter fleet is sound, renders, and is only written into an empty folder") {
  ScratchFleet place;
  const auto folder = place.root() + "/deep/new";
  const auto written = fleet::write_starter_fleet(place.files(), folder, "web1");
  REQUIRE(written);
  CHECK(written->size() == 4);
  const auto loaded = fleet::load_fleet(place.files(), folder);
  REQUIRE(loaded.fleet);
  const auto validation = fleet::validate(loaded.fleet);
  CHECK(validation.sound());
  CHECK(validation.warnings.empty());
  const auto resolved = fleet::resolve(loaded.fleet, "web1");
  REQUIRE(resolved.manifest);
  REQUIRE(resolved.manifest->resources.size() == 1);
  CHECK(resolved.manifest->resources[0]->observe_only);
  const auto again = fleet::write_starter_fleet(place.files(), folder, "web1");
  REQUIRE_FALSE(again);
  CHECK(again.error().code() == ErrorCode::already_exists);
  const auto other = fleet::write_starter_fleet(place.files(), place.root() + "/deep", "web1");
  REQUIRE_FALSE(other);
  CHECK(other.error().code() == ErrorCode::not_empty);
  CHECK(fleet::starter_fleet("a b").error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("schema: it has every field of every type") {
  const auto schema = fleet::document_schema();
  for (const auto& type : model::all_types()) {
    CHECK(schema.find("\"#/definitions/" + std::string(type.name) + "\"") != std::string::npos);
    for (const auto& field : type.fields)
      CHECK(schema.find("\"" + std::string(field.name) + "\": {") != std::string::npos);
  }
  CHECK(schema.find("http://json-schema.org/draft-07/schema#") != std::string::npos);
}

TEST_CASE("fleet: loading on several threads yields the same fleet and the same faults") {
  ScratchFleet fleet;
  std::string many;
  for (int i = 0; i < 3000; ++i)
    many += "---\ndatum: v1alpha1\ntype: File\nname: f" + std::to_string(i) +
            "\ndesired:\n  path: /f" + std::to_string(i) + "\n  content: " + std::string(100, 'x') +
            "\n";
  fleet.write("base/many.yaml", many);
  fleet::LoadOptions backwards;
  backwards.parallel = [](std::size_t count, const std::function<void(std::size_t)>& work) {
    for (auto i = count; i > 0; --i) work(i - 1);
  };
  const auto one = fleet.manifest();
  const auto other = fleet::load_fleet(fleet.files(), fleet.root(), backwards);
  REQUIRE(other.fleet);
  CHECK(fleet::resolve(other.fleet, "h").manifest->digest == one->digest);
  many += "---\ndatum: v2\n";
  fleet.write("base/many.yaml", "datum: v0\n" + many);
  const auto faults = fleet::load_fleet(fleet.files(), fleet.root(), backwards).errors;
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].diagnostic.line == 1);
  CHECK(faults[1].diagnostic.line == 21003);
}

TEST_CASE("fleet: a root that is no folder is a finding and no crash") {
  ScratchFleet fleet;
  const auto loaded = fleet::load_fleet(fleet.files(), fleet.root() + "/none");
  CHECK_FALSE(loaded.fleet);
  REQUIRE(loaded.errors.size() == 1);
  CHECK(to_string(loaded.errors[0]).find("the fleet's folder cannot be read") != std::string::npos);
}

TEST_CASE("validate: a layer that only a fact could match is no unused layer") {
  ScratchFleet fleet;
  fleet.layer("deb", 1, "match: {labels: {datum/os: debian}}\n");
  fleet.layer("none", 2, "match: {labels: {datum/os: debian, site: muc}}\n");
  const auto validation = fleet::validate(fleet.sound());
  REQUIRE(validation.warnings.size() == 1);
  CHECK(validation.warnings[0].diagnostic.message == "layer none matches no host");
  REQUIRE(validation.dependent.size() == 1);
}

TEST_CASE("fleet: an unknown host is an error that names the nearest") {
  ScratchFleet fleet;
  fleet.write("more.yaml", "datum: v1alpha1\ntype: Host\nname: web-1\n");
  const auto resolved = fleet.resolve("web1");
  REQUIRE(resolved.errors.size() == 1);
  CHECK(to_string(resolved.errors[0]).find("the fleet has no Host web1") != std::string::npos);
  CHECK(resolved.errors[0].diagnostic.hint == "did you mean web-1?");
}

TEST_CASE("fleet: a layer of higher precedence does not settle a conflict below it") {
  ScratchFleet fleet;
  fleet.layer("left", 0).layer("top", 9);
  for (const auto* layer : {"base", "left", "top"})
    fleet.write(std::string(layer) + "/a.yaml",
                "datum: v1alpha1\ntype: File\nname: a\ndesired: {path: /a, owner: " +
                    std::string(layer) + "}\n");
  CHECK(fleet.errors().find("owner of File[a] has two values of equal precedence 0") !=
        std::string::npos);
}

TEST_CASE("fleet: layers of equal precedence may agree, modes in either spelling") {
  ScratchFleet fleet;
  fleet.layer("left", 0);
  fleet.resource("File", "a", "desired: {path: /a, mode: \"750\"}\n");
  fleet.write("left/a.yaml", "datum: v1alpha1\ntype: File\nname: a\ndesired: {mode: \"0750\"}\n");
  CHECK(fleet.errors() == "");
}

TEST_CASE("fleet: metadata of a provider's file and of a parent of Datum's files may be managed") {
  ScratchFleet fleet;
  fleet.resource("File", "passwd", "desired: {path: /etc/passwd, mode: \"0644\"}\n");
  fleet.resource("Directory", "etc", "desired: {path: /etc, owner: root, mode: \"0755\"}\n");
  fleet.resource("Directory", "tmp", "desired: {path: /tmp, mode: \"1777\"}\n");
  fleet.resource("File", "su", "desired: {path: /su, mode: \"4755\", allowPrivileged: true}\n");
  fleet.resource("Package", "datum", "desired: {state: present}\n");
  CHECK(fleet.errors() == "");
}
