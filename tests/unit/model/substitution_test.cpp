#include "datum/model/substitution.hpp"

#include <catch2/catch.hpp>

#include "datum/model/reserved.hpp"

using namespace datum;
using namespace datum::model;

namespace {

Pieces pieces_of(std::string_view text) {
  return std::get<Pieces>(parse_substitutions(text));
}

Result<std::string> name_itself(std::string_view name) {
  return "<" + std::string(name) + ">";
}

}  // namespace

TEST_CASE("substitution: labels, host and secrets are told apart from literal text") {
  const auto pieces = pieces_of("a {{ host }}{{labels.datum/os}} {{{{ b }} {{ secrets.tls/key }}");
  REQUIRE(pieces.size() == 5);
  CHECK(pieces[0].text == "a ");
  CHECK(pieces[1].kind == PieceKind::host);
  CHECK(pieces[1].offset == 2);
  CHECK(pieces[2].text == "datum/os");
  CHECK(pieces[3].text == " {{ b }} ");
  CHECK(pieces[4].kind == PieceKind::secret);
  CHECK(pieces[4].text == "tls/key");
}

TEST_CASE("substitution: any other {{ }} is a fault at its place") {
  for (const auto* text : {"ab{{ labels }}", "ab{{ hosts }}", "ab{{ labels.a b }}", "ab{{ host",
                           "ab{{ host\n}}", "ab{{}}", "ab{{{ host }}}", "ab{{ secrets.../x }}",
                           "ab{{ secrets./x }}", "ab{{ 1 + 1 }}"}) {
    const auto parsed = parse_substitutions(text);
    REQUIRE(std::holds_alternative<SubstitutionFault>(parsed));
    CHECK(std::get<SubstitutionFault>(parsed).offset == 2);
  }
}

TEST_CASE("substitution: text with open secrets parses back to the same pieces, braces included") {
  for (const auto* literal : {"", "{", "{{", "{{{", "{{{{ x }}", "}}", "a{{ host }}"}) {
    const Pieces pieces{{PieceKind::secret, "k", 0}, {PieceKind::literal, literal, 0}};
    const auto joined = join_with_secrets(pieces);
    REQUIRE(joined);
    CHECK(*fill_secrets(*joined, name_itself) == std::string("<k>") + literal);
  }
  const auto before = [](const char* literal) {
    return join_with_secrets({{PieceKind::literal, literal, 0}, {PieceKind::secret, "k", 0}});
  };
  CHECK(*fill_secrets(*before("{{"), name_itself) == "{{<k>");
  CHECK_FALSE(before("x{"));
  CHECK_FALSE(before("{{{"));
  CHECK_FALSE(join_with_secrets({{PieceKind::label, "a", 0}}));
}

TEST_CASE("substitution: a secret's value is taken literally and a missing one fails") {
  CHECK(*fill_secrets("{{ secrets.a }}!", [](std::string_view) -> Result<std::string> {
    return "{{ secrets.b }}";
  }) == "{{ secrets.b }}!");
  CHECK(fill_secrets("{{ secrets.a }}",
                     [](std::string_view name) -> Result<std::string> {
                       return fail(ErrorCode::not_found, std::string(name));
                     })
            .error()
            .code() == ErrorCode::not_found);
  CHECK(fill_secrets("{{ host }}", name_itself).error().code() == ErrorCode::corrupt);
  CHECK(*secret_names("{{ secrets.b }}{{ secrets.a }}{{ secrets.b }}") ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("reserved: Datum's own paths, units and their parents are known") {
  for (const auto* own :
       {"/etc/datum", "/etc/datum/agent.yaml", "/var/lib/datum/x", "/run/datum", "/usr/bin/datum",
        "/usr/sbin/datum-host", "/etc/systemd/system/datum-host.service",
        "/etc/systemd/system/datum-host.service.d/x.conf",
        "/lib/systemd/system/datum-rollback.service"})
    CHECK(is_own_path(own));
  for (const auto* other : {"/etc", "/etc/datum2", "/usr/bin/datum2", "/var/lib"})
    CHECK_FALSE(is_own_path(other));
  for (const auto* parent : {"/", "/etc", "/var", "/var/lib", "/usr/bin", "/etc/systemd/system"})
    CHECK(is_parent_of_own_path(parent));
  CHECK_FALSE(is_parent_of_own_path("/etc/datum/agent.yaml"));
  CHECK_FALSE(is_parent_of_own_path("/srv"));
  CHECK(is_own_unit("datum-host.service"));
  CHECK_FALSE(is_own_unit("ssh.service"));
}

TEST_CASE("reserved: paths that providers write") {
  CHECK(find_provider_of("/etc/shadow") == "User and Group");
  CHECK(find_provider_of("/etc/sysctl.d/70-datum-a.conf") == "Sysctl");
  CHECK_FALSE(find_provider_of("/etc/sysctl.d/99-local.conf"));
  CHECK(sysctl_drop_in("net.ipv4.conf.eth0/1.rp_filter") ==
        "/etc/sysctl.d/70-datum-net.ipv4.conf.eth0%2F1.rp_filter.conf");
  CHECK(repository_files("docker").apt_source == "/etc/apt/sources.list.d/docker.sources");
}

TEST_CASE("reserved: a target that a tool could take for something else is refused") {
  const auto refused = [](TargetFamily family, const char* name) {
    return !check_target({family, name}).has_value();
  };
  CHECK(refused(TargetFamily::package, "-o"));
  CHECK(refused(TargetFamily::package, "a=1"));
  CHECK_FALSE(refused(TargetFamily::package, "libstdc++6"));
  CHECK_FALSE(refused(TargetFamily::package, "libc6:amd64"));
  CHECK(refused(TargetFamily::user, "a:b"));
  CHECK(refused(TargetFamily::group, "100"));
  CHECK_FALSE(refused(TargetFamily::user, "www-data"));
  CHECK(refused(TargetFamily::sysctl, "net.//.x"));
  CHECK(refused(TargetFamily::sysctl, "net..x"));
  CHECK_FALSE(refused(TargetFamily::sysctl, "net.ipv4.conf.eth0/100.rp_filter"));
  CHECK(refused(TargetFamily::repository, ".."));
  CHECK(refused(TargetFamily::unit, "../x.service"));
  CHECK(refused(TargetFamily::path, "/a/"));
}
