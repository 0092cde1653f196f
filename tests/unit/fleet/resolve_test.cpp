#include <catch2/catch.hpp>

#include "datum/crypto/digest.hpp"
#include "datum/fleet/explain.hpp"
#include "datum/fleet/validate.hpp"
#include "scratch_fleet.hpp"

using namespace datum;
using model::Field;
using test::ScratchFleet;

namespace {

const model::Resource& only(const model::ManifestPtr& manifest) {
  REQUIRE(manifest->resources.size() == 1);
  return *manifest->resources[0];
}

std::string file(const std::string& desired) {
  return "datum: v1alpha1\ntype: File\nname: a\ndesired:\n" + desired;
}

}  // namespace

TEST_CASE("fleet: a file of one layer reaches the host with its fields and its origin") {
  ScratchFleet fleet;
  fleet.resource("File", "motd",
                 "desired:\n  path: /etc/motd\n  mode: \"644\"\n  content: |\n    hello\n");
  const auto manifest = fleet.manifest();
  const auto& motd = only(manifest);
  CHECK(manifest->host == "h");
  CHECK(motd.reference.text() == "File[motd]");
  CHECK(motd.text(Field::mode) == "0644");
  CHECK(motd.content()->bytes == "hello\n");
  CHECK(motd.content()->digest == crypto::sha256(as_bytes("hello\n")));
  REQUIRE(motd.origins.size() == 1);
  CHECK(motd.origins[0].file == "base/File-motd.yaml");
  CHECK(motd.origins[0].line == 1);
  CHECK(motd.origins[0].layer == "base");
}

TEST_CASE("fleet: higher precedence wins field by field, and lists of references unite") {
  ScratchFleet fleet;
  fleet.layer("top", 10).layer("middle", 5);
  fleet.write("base/a.yaml",
              "datum: v1alpha1\ntype: File\nname: a\nrequires: [\"Package[p]\"]\npolicy: observe\n"
              "desired: {path: /a, mode: \"600\", owner: root, content: low}\n---\n"
              "datum: v1alpha1\ntype: Package\nname: p\ndesired: {state: present}\n---\n"
              "datum: v1alpha1\ntype: Package\nname: q\ndesired: {state: present}\n");
  fleet.write("middle/a.yaml", file("  mode: \"640\"\n  owner: daemon\n"));
  fleet.write("top/a.yaml",
              "datum: v1alpha1\ntype: File\nname: a\nrequires: [\"Package[q]\"]\nprotect: true\n"
              "desired: {mode: \"0755\", source: data}\n");
  fleet.write("top/data", "high");
  const auto manifest = fleet.manifest();
  const auto* a = manifest->find({model::ResourceType::file, "a"});
  REQUIRE(a);
  CHECK(a->text(Field::mode) == "0755");
  CHECK(a->text(Field::owner) == "daemon");
  CHECK(a->text(Field::path) == "/a");
  CHECK(a->content()->bytes == "high");
  CHECK(a->requirements.size() == 2);
  CHECK(a->observe_only);
  CHECK(a->protect);
  REQUIRE(a->origins.size() == 3);
  CHECK(a->origins[0].layer == "base");
  CHECK(a->origins[2].layer == "top");
}

TEST_CASE("fleet: lists are replaced, and the nearest layer owns a document") {
  ScratchFleet fleet;
  fleet.write("base/inner/layer.yaml",
              "datum: v1alpha1\ntype: Layer\nname: inner\nprecedence: 1\n");
  fleet.resource("User", "u", "desired: {state: present, groups: [b, a]}\n");
  fleet.write("base/inner/deep/u.yaml",
              "datum: v1alpha1\ntype: User\nname: u\ndesired: {groups: [c]}\n");
  const auto manifest = fleet.manifest();
  const auto* groups = only(manifest).find(Field::groups);
  REQUIRE(groups);
  CHECK(std::get<std::vector<std::string>>(*groups) == std::vector<std::string>{"c"});
  CHECK(only(manifest).origins[1].layer == "inner");
}

TEST_CASE("fleet: every form of match decides, and all that are there must hold") {
  struct Row {
    const char* match;
    bool takes;
  };
  const Row rows[] = {
      {"", true},
      {"match: {}\n", true},
      {"match: {labels: {site: ber}}\n", true},
      {"match: {labels: {site: muc}}\n", false},
      {"match: {labels: {gone: x}}\n", false},
      {"match: {labels: {datum/host: h}}\n", true},
      {"match: {oneOf: {site: [muc, ber]}}\n", true},
      {"match: {oneOf: {site: [muc]}}\n", false},
      {"match: {oneOf: {gone: [x]}}\n", false},
      {"match: {noneOf: {site: [muc]}}\n", true},
      {"match: {noneOf: {site: [ber]}}\n", false},
      {"match: {noneOf: {gone: [x]}}\n", true},
      {"match: {has: [site]}\n", true},
      {"match: {has: [gone]}\n", false},
      {"match: {missing: [gone]}\n", true},
      {"match: {missing: [site]}\n", false},
      {"match: {labels: {site: ber}, missing: [site]}\n", false},
  };
  for (const auto& row : rows) {
    INFO(row.match);
    ScratchFleet fleet;
    fleet.layer("extra", 1, row.match);
    const auto resolved = fleet.resolve();
    CHECK(resolved.layers.size() == (row.takes ? 2 : 1));
  }
}

TEST_CASE("fleet: an absent profile fact is named only where the result hangs on it") {
  const auto facts = [](const char* match) {
    ScratchFleet fleet;
    fleet.layer("extra", 1, match);
    return fleet.resolve().missing_facts;
  };
  using Facts = std::vector<std::string>;
  CHECK(facts("match: {labels: {datum/os: debian}}\n") == Facts{"datum/os"});
  CHECK(facts("match: {noneOf: {datum/os: [debian]}}\n") == Facts{"datum/os"});
  CHECK(facts("match: {missing: [datum/arch]}\n") == Facts{"datum/arch"});
  CHECK(facts("match: {labels: {datum/os: debian, site: muc}}\n").empty());
  CHECK(facts("match: {has: [datum/unknown]}\n").empty());
}

TEST_CASE("fleet: a profile supplies facts, and unknown facts are refused") {
  ScratchFleet fleet;
  fleet.layer("deb", 1, "match: {labels: {datum/os: debian}}\n");
  const auto parsed = fleet::parse_profile("p.yaml", "os: debian\ndatum/arch: x86_64\n");
  REQUIRE(parsed.errors.empty());
  const auto resolved = fleet.resolve("h", parsed.profile);
  CHECK(resolved.layers == std::vector<std::string>{"base", "deb"});
  CHECK(resolved.missing_facts.empty());
  const auto wrong = fleet::parse_profile("p.yaml", "os: debian\nkernel: 6\n");
  REQUIRE(wrong.errors.size() == 1);
  CHECK(to_string(wrong.errors[0]).find("p.yaml:2:1: unknown key \"kernel\"") == 0);
}

TEST_CASE("fleet: labels and host are filled in, and the text is not looked at again") {
  ScratchFleet fleet;
  fleet.write("hosts.yaml", "datum: v1alpha1\ntype: Host\nname: h\nlabels: {a: \"{{ host }}\"}\n");
  fleet.resource("File", "x",
                 "desired:\n  path: \"/srv/{{ host }}/x\"\n  content: |\n    {{ labels.a }} {{{{ b "
                 "}} {{ labels.datum/host }}\n");
  const auto manifest = fleet.manifest();
  CHECK(only(manifest).text(Field::path) == "/srv/h/x");
  CHECK(only(manifest).content()->bytes == "{{ host }} {{ b }} h\n");
}

TEST_CASE("fleet: a template is filled in, and its secrets stay open for the host") {
  ScratchFleet fleet;
  fleet.write("base/t.conf", "site={{ labels.site }}\nkey={{ secrets.db/key }}\nbrace={{{{\n");
  fleet.resource("File", "x", "desired: {path: /x, template: t.conf}\n");
  const auto manifest = fleet.manifest();
  const auto& content = *only(manifest).content();
  CHECK(content.has_secrets);
  CHECK(content.bytes == "site=ber\nkey={{ secrets.db/key }}\nbrace={{{{\n");
  CHECK(only(manifest).sensitive());
  CHECK(*model::fill_secrets(content.bytes, [](std::string_view) -> Result<std::string> {
    return "K";
  }) == "site=ber\nkey=K\nbrace={{\n");
}

TEST_CASE("fleet: a whole secret is a name and nothing else") {
  ScratchFleet fleet;
  fleet.resource("File", "x", "desired: {path: /x, secretRef: \"tls/{{ host }}\"}\n");
  const auto manifest = fleet.manifest();
  CHECK(only(manifest).content()->secret == "tls/h");
  CHECK(only(manifest).content()->digest.empty());
}

TEST_CASE("fleet: a signing key is content of the fleet, by the layer's folder or the root") {
  ScratchFleet fleet;
  const std::string big(1000, 'k');
  fleet.write("base/near.asc", "near").write("keys/far.asc", big);
  for (const auto* path : {"near.asc", "keys/far.asc"}) {
    fleet.resource(
        "Repository", "r",
        "desired: {id: r, url: \"https://example.org\", signingKey: " + std::string(path) + "}\n");
    const auto manifest = fleet.manifest();
    const auto* key = only(manifest).find(Field::signing_key);
    REQUIRE(key);
    const auto& content = std::get<model::SharedContent>(*key).get();
    const std::string expected = path == std::string("near.asc") ? "near" : big;
    CHECK(content.digest == crypto::sha256(as_bytes(expected)));
    CHECK(content.has_bytes == (expected.size() <= model::kInlineContent));
  }
}

TEST_CASE("fleet: hosts share what does not vary, and differ in what does") {
  ScratchFleet fleet;
  fleet.write("more.yaml", "datum: v1alpha1\ntype: Host\nname: i\n");
  fleet.resource("File", "same", "desired: {path: /same, content: x}\n");
  fleet.resource("File", "own", "desired: {path: /own, content: \"{{ host }}\"}\n");
  std::map<std::string, fleet::Resolved> by_host;
  fleet::Resolver resolver(fleet.sound());
  resolver.resolve_each({"h", "i"}, nullptr, [&](const std::string& host, fleet::Resolved got) {
    by_host.emplace(host, std::move(got));
  });
  const auto& h = by_host.at("h").manifest;
  const auto& i = by_host.at("i").manifest;
  REQUIRE((h && i));
  const model::Reference same{model::ResourceType::file, "same"};
  const model::Reference own{model::ResourceType::file, "own"};
  CHECK(h->find(same) == i->find(same));
  CHECK(h->find(own) != i->find(own));
  CHECK(h->find(own)->content()->bytes == "h");
  CHECK(h->digest != i->digest);
}

TEST_CASE(
    "fleet: content is found by digest, inline and from large files, and a change is noticed") {
  ScratchFleet fleet;
  const std::string big(700'000, 'b');
  fleet.write("base/big.bin", big);
  fleet.resource("File", "big", "desired: {path: /big, source: big.bin}\n");
  fleet.resource("File", "small", "desired: {path: /small, content: tiny}\n");
  const auto loaded = fleet.sound();
  const auto manifest = fleet::resolve(loaded, "h").manifest;
  REQUIRE(manifest);
  const auto source = fleet::make_content_source(loaded, manifest);
  const auto read_all = [&](const Digest& digest) -> Result<std::string> {
    DATUM_ASSIGN(const auto stream, source->open(digest));
    std::string text;
    Bytes piece(100'000);
    while (true) {
      DATUM_ASSIGN(const auto count, stream->read(piece));
      if (count == 0) return text;
      text.append(as_text(ByteView(piece).first(count)));
    }
  };
  CHECK(*read_all(crypto::sha256(as_bytes("tiny"))) == "tiny");
  CHECK(*read_all(crypto::sha256(as_bytes(big))) == big);
  CHECK(read_all(crypto::sha256(as_bytes("none"))).error().code() == ErrorCode::not_found);
  fleet.write("base/big.bin", std::string(700'000, 'c'));
  CHECK(read_all(crypto::sha256(as_bytes(big))).error().code() == ErrorCode::conflict);
}

TEST_CASE("fleet: dot names, excluded names and linked folders are not read") {
  ScratchFleet fleet;
  const std::string faulty = "datum: v9\n";
  fleet.write(".hidden/a.yaml", faulty).write("base/.b.yaml", faulty).write("docs/c.yaml", faulty);
  fleet.write("base/x.draft.yaml", faulty).write("base/old/deep/d.yml", faulty);
  fleet.write("datum.yaml", std::string(test::kFleetHead) +
                                "exclude: [docs, \"*.draft.yaml\", \"base/**/d.yml\"]\n");
  std::filesystem::create_directory_symlink(fleet.root() + "/docs", fleet.root() + "/base/link");
  std::filesystem::create_directory_symlink(fleet.root() + "/docs", fleet.root() + "/link.yaml");
  CHECK(fleet.errors() == "");
}

TEST_CASE("fleet: a YAML file that a source names is content and no document") {
  ScratchFleet fleet;
  fleet.write("base/app.yaml", "key: [value\n");
  fleet.resource("File", "app", "desired: {path: /app.yaml, source: app.yaml}\n");
  const auto manifest = fleet.manifest();
  CHECK(only(manifest).content()->bytes == "key: [value\n");
  fleet.write("base/app.yaml",
              "datum: v1alpha1\ntype: Group\nname: g\ndesired: {state: present}\n");
  const auto loaded = fleet.load();
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(to_string(loaded.warnings[0]).find("base/app.yaml: its 1 documents are not read") == 0);
}

TEST_CASE("fleet: an override that no lower layer completes is one error per missing field") {
  ScratchFleet fleet;
  fleet.resource("File", "a", "desired: {mode: \"0644\"}\n");
  CHECK(fleet.errors().find("base/File-a.yaml:1:1: File[a] has no path") == 0);
  fleet.resource("Symlink", "b", "desired: {path: /b, state: absent}\n").remove("base/File-a.yaml");
  CHECK(fleet.errors() == "");
}

TEST_CASE("fleet: protect: false lifts nothing and says so") {
  ScratchFleet fleet;
  fleet.layer("top", 1);
  fleet.resource("File", "a", "protect: true\ndesired: {path: /a}\n");
  fleet.write("top/a.yaml", "datum: v1alpha1\ntype: File\nname: a\nprotect: false\n");
  const auto resolved = fleet.resolve();
  REQUIRE(resolved.manifest);
  CHECK(only(resolved.manifest).protect);
  REQUIRE(resolved.warnings.size() == 1);
  CHECK(to_string(resolved.warnings[0]).find("top/a.yaml:4:10: protect: false lifts nothing") == 0);
}

TEST_CASE("fleet: sensitive content in the fleet is accepted with a warning") {
  ScratchFleet fleet;
  fleet.resource("File", "a", "desired: {path: /a, content: x, sensitive: true}\n");
  const auto resolved = fleet.resolve();
  CHECK(resolved.manifest);
  REQUIRE(resolved.warnings.size() == 1);
  CHECK(to_string(resolved.warnings[0])
            .find("File[a] is sensitive, but its content stands in the fleet") !=
        std::string::npos);
}

TEST_CASE("fleet: explain shows who set a field and what that overrode") {
  ScratchFleet fleet;
  fleet.layer("top", 10);
  fleet.resource("File", "a", "requires: [\"Group[g]\"]\ndesired:\n  path: /a\n  mode: \"0600\"\n");
  fleet.resource("Group", "g", "desired: {state: present}\n");
  fleet.write("top/a.yaml", file("  mode: \"0644\"\n  owner: \"{{ labels.site }}\"\n"));
  const auto explained = fleet::explain(fleet.sound(), "h", {model::ResourceType::file, "a"});
  REQUIRE(explained.explanation);
  const auto& fields = explained.explanation->fields;
  REQUIRE(fields.size() == 4);
  CHECK(fields[0].field == "path");
  CHECK(fields[1].field == "owner");
  CHECK(fields[1].value == "\"ber\"");
  CHECK(fields[2].field == "mode");
  CHECK(fields[2].value == "\"0644\"");
  CHECK(fields[2].set_by.file == "top/a.yaml");
  CHECK(fields[2].set_by.line == 5);
  CHECK(fields[2].set_by.layer == "top");
  REQUIRE(fields[2].overrode.size() == 1);
  CHECK(fields[2].overrode[0].value == "\"0600\"");
  CHECK(fields[2].overrode[0].file == "base/File-a.yaml");
  CHECK(fields[2].overrode[0].line == 7);
  CHECK(fields[3].field == "requires");
  CHECK(to_string(*explained.explanation)
            .find("    overrode \"0600\"  base/File-a.yaml:7  layer base (0)\n") !=
        std::string::npos);
  const auto none = fleet::explain(fleet.sound(), "h", {model::ResourceType::file, "zz"});
  REQUIRE(none.errors.size() == 1);
  CHECK(none.errors[0].diagnostic.message == "h has no File[zz]");
}

TEST_CASE("fleet: explain never shows content that stands in a document") {
  ScratchFleet fleet;
  fleet.resource("File", "a", "desired: {path: /a, sensitive: true, content: swordfish}\n");
  const auto explained = fleet::explain(fleet.sound(), "h", {model::ResourceType::file, "a"});
  REQUIRE(explained.explanation);
  CHECK(to_string(*explained.explanation).find("swordfish") == std::string::npos);
}

TEST_CASE("fleet: validate names all hosts of one fault and lists dependence on facts") {
  ScratchFleet fleet;
  fleet.write("more.yaml",
              "datum: v1alpha1\ntype: Host\nname: i\n---\n"
              "datum: v1alpha1\ntype: Host\nname: j\nlabels: {role: x}\n");
  fleet.resource("File", "a", "desired: {path: /a, content: \"{{ labels.role }}\"}\n");
  fleet.resource("File", "b", "desired: {path: /b, content: \"{{ labels.datum/os }}\"}\n");
  fleet.layer("never", 3, "match: {has: [nothing]}\n");
  for (const std::size_t width : {1, 3}) {
    fleet::ValidateOptions options;
    options.width = width;
    options.parallel = [](std::size_t count, const std::function<void(std::size_t)>& work) {
      for (std::size_t i = 0; i < count; ++i) work(i);
    };
    const auto validation = fleet::validate(fleet.sound(), options);
    REQUIRE(validation.errors.size() == 1);
    CHECK(to_string(validation.errors[0]) ==
          "base/File-a.yaml:4:30: label role has no value\n"
          "    add it to labels of the Host, or match only hosts that have it\n"
          "    hosts: h, i");
    CHECK(validation.hosts == 3);
    REQUIRE(validation.dependent.size() == 3);
    CHECK(validation.dependent[0].host == "h");
    CHECK(validation.dependent[0].facts == std::vector<std::string>{"datum/os"});
    REQUIRE(validation.warnings.size() == 1);
    CHECK(validation.warnings[0].diagnostic.message == "layer never matches no host");
  }
  const auto resolved = fleet.resolve("j");
  REQUIRE(resolved.errors.size() == 1);
  CHECK(to_string(resolved.errors[0]).find("label datum/os is a fact of the machine") !=
        std::string::npos);
}
