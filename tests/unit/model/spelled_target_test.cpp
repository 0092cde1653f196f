// Targets that are spelled out of several fields: there and back, and what is refused.
#include "datum/model/spelled_target.hpp"

#include <catch2/catch.hpp>

using namespace datum;
using namespace datum::model;

namespace {

// What `ssh-keygen -lf` says of this key stands in the test.
constexpr const char* kKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
constexpr const char* kFingerprint = "SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA";

Target target_of(ResourceType type, std::vector<FieldValue> fields) {
  Resource resource;
  resource.reference = {type, "name"};
  resource.fields = std::move(fields);
  finish_resource(resource);
  return resource.target;
}
FieldValue text(Field field, const char* value) {
  return {field, std::string(value)};
}

}  // namespace

TEST_CASE("spelled target: a key is named by the fingerprint that ssh-keygen shows") {
  const auto key = find_public_key(kKey);
  REQUIRE(key);
  CHECK(key->type == "ssh-ed25519");
  CHECK(key->fingerprint == kFingerprint);
  const auto target =
      target_of(ResourceType::authorized_key, {text(Field::user, "anna"), text(Field::key, kKey)});
  CHECK(target.text() == std::string("authorizedKey:anna ") + kFingerprint);
  CHECK(check_spelled_target(target));
  CHECK(find_key_target(target.name)->user == "anna");
  CHECK(find_key_target(target.name)->fingerprint == kFingerprint);
}

TEST_CASE("spelled target: what is no key, or is more than one, is refused") {
  const std::string blob(std::string_view(kKey).substr(12));
  for (const auto& wrong :
       {std::string(), std::string("ssh-ed25519"), "ssh-ed25519  " + blob, "ssh-rsa " + blob,
        "ssh-ed25519 " + blob + " anna@home", "ssh-ed25519 " + blob.substr(1),
        "ssh-ed25519 " + blob.substr(0, 40), "ssh-ed25519 " + blob.substr(0, 8) + "\n" + blob,
        std::string("no-pty ") + kKey, "ssh-ed25519 " + blob + "===="}) {
    CAPTURE(wrong);
    CHECK_FALSE(find_public_key(wrong));
    const auto target = target_of(ResourceType::authorized_key,
                                  {text(Field::user, "anna"), text(Field::key, wrong.c_str())});
    CHECK_FALSE(check_spelled_target(target));
  }
  CHECK_FALSE(check_spelled_target(
      target_of(ResourceType::authorized_key, {text(Field::user, "a:b"), text(Field::key, kKey)})));
}

TEST_CASE("spelled target: a value in a file is found again from its target alone") {
  const std::vector<SettingTarget> settings{
      {"/etc/x.ini", SettingFormat::ini, "main", "log level"},
      {"/etc/x.ini", SettingFormat::ini, "", "key"},
      {"/etc/x.ini", SettingFormat::ini, "a b", "key ="},
      {"/etc/x.conf", SettingFormat::equals, "", "vm.swappiness"},
      {"/etc/x.conf", SettingFormat::equals, "", "a b"},
      {"/etc/ssh/sshd_config", SettingFormat::words, "", "permitrootlogin"},
      {"/etc/x.conf", SettingFormat::equals, "", "{a} b"},
      {"/etc/x.conf", SettingFormat::words, "", "{a}"},
      {"/etc/x.json", SettingFormat::augeas, "", "dict/entry[. = 'a'] /string", "Json.lns"},
  };
  for (const auto& each : settings) {
    const auto name = setting_target(each);
    CAPTURE(name);
    const auto found = find_setting_target(name);
    REQUIRE(found);
    CHECK(found->path == each.path);
    CHECK(found->format == each.format);
    CHECK(found->section == each.section);
    CHECK(found->key == each.key);
    CHECK(found->lens == each.lens);
    CHECK(check_spelled_target({TargetFamily::setting, name}));
  }
  for (const auto* wrong : {"", "/etc/x", "/etc/x ", "/etc/x [main]", "/etc/x [main] ", "etc/x key",
                            "/etc/../x key", "/etc/x  =", "/etc/x {Json.lns} "})
    CHECK_FALSE(check_spelled_target({TargetFamily::setting, wrong}));
}

TEST_CASE("spelled target: keys of lines without an equals sign are one in any case") {
  const auto one = target_of(ResourceType::setting, {text(Field::path, "/etc/ssh/sshd_config"),
                                                     text(Field::format, "key value"),
                                                     text(Field::key, "PermitRootLogin")});
  CHECK(one.text() == "setting:/etc/ssh/sshd_config permitrootlogin");
}

TEST_CASE(
    "spelled target: a machine has one name and one zone, whatever the documents are called") {
  CHECK(target_of(ResourceType::hostname, {text(Field::hostname, "a")}).text() ==
        "hostname:/etc/hostname");
  CHECK(target_of(ResourceType::timezone, {text(Field::zone, "UTC")}).text() ==
        "timezone:/etc/localtime");
  CHECK(target_of(ResourceType::mount, {text(Field::path, "/srv")}).text() == "mount:/srv");
}

TEST_CASE("spelled target: a timer has its suffix, and no name of a template") {
  CHECK(target_of(ResourceType::timer, {}).text() == "timer:name.timer");
  CHECK(target_of(ResourceType::timer, {text(Field::timer, "x.timer")}).text() == "timer:x.timer");
  CHECK(timer_file("x.timer") == "/etc/systemd/system/x.timer");
  CHECK(check_spelled_target({TargetFamily::timer, "a-b_c.d.timer"}));
  for (const auto* wrong :
       {".timer", "a@.timer", "a@b.timer", "a/b.timer", "a b.timer", "a.service"})
    CHECK_FALSE(check_spelled_target({TargetFamily::timer, wrong}));
}
