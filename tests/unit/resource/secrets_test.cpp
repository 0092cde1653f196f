// The folder of secrets: what is found, what is refused in which words, and that nothing leads out.
#include <catch2/catch.hpp>

#include "scene.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::test;

namespace {

struct World {
  support::ModelFiles files;
  resource::FolderSecrets secrets{files, "/etc/datum/secrets", 0};

  World() {
    files.put_directory("/etc/datum/secrets/db", 0700);
    files.put_file("/etc/datum/secrets/api", "key\n", 0600);
    files.put_file("/etc/datum/secrets/db/password", "p", 0400);
  }
  std::string find(const std::string& name) {
    auto found = secrets.find(name);
    return found ? *found : "error: " + found.error().message();
  }
};

}  // namespace

TEST_CASE("secrets: a value is its file's bytes, a slash a folder") {
  World world;
  CHECK(world.find("api") == "key\n");
  CHECK(world.find("db/password") == "p");
  world.files.put_file("/etc/datum/secrets/api", "rotated", 0600);
  CHECK(world.find("api") == "rotated");
}

TEST_CASE("secrets: what others could read or change is refused with its owner and mode") {
  World world;
  for (const auto mode : {0640U, 0604U, 0644U, 0660U, 0610U}) {
    CAPTURE(mode);
    world.files.set_mode_of("/etc/datum/secrets/api", mode);
    CHECK(world.find("api").find("is not kept as a secret (uid 0, mode 0") != std::string::npos);
  }
  world.files.set_mode_of("/etc/datum/secrets/api", 0600);
  world.files.set_owner_of("/etc/datum/secrets/api", 1000, 0);
  CHECK(world.find("api").find("(uid 1000, mode 0600): it must belong to uid 0") !=
        std::string::npos);
  world.files.set_mode_of("/etc/datum/secrets/db", 0770);
  CHECK(world.find("db/password").find("is not trusted with secrets") != std::string::npos);
  world.files.set_mode_of("/etc/datum/secrets", 0707);
  CHECK(world.find("api").find("is not trusted with secrets") != std::string::npos);
}

TEST_CASE("secrets: a missing one, a link, a folder and one too large are errors without a value") {
  World world;
  CHECK(world.secrets.find("nowhere").error().code() == ErrorCode::not_found);
  CHECK(world.secrets.find("nowhere/x").error().code() == ErrorCode::not_found);
  CHECK(world.secrets.find("db").error().code() == ErrorCode::is_directory);
  world.files.put_file("/elsewhere", "x", 0600);
  world.files.put_symlink("/etc/datum/secrets/link", "/elsewhere");
  CHECK(world.secrets.find("link").error().code() == ErrorCode::symlink);
  world.files.put_file("/etc/datum/secrets/large", std::string(resource::kMaxSecret + 1, 'x'),
                       0600);
  CHECK(world.secrets.find("large").error().code() == ErrorCode::limit_exceeded);
  const resource::FolderSecrets none(world.files, "", 0, "no credentials");
  CHECK(none.find("api").error().message() == "no credentials");
}

TEST_CASE(
    "secrets: a rotated one is drift, and one that cannot be resolved leaves its file unknown") {
  World world;
  Scene scene(world.files);
  scene.machine().secrets = &world.secrets;
  model::Content whole;
  whole.secret = "api";
  const auto file = a_file("/f").with(model::Field::content, whole).done();
  world.files.put_file("/f", "key\n", 0600);
  CHECK(scene.observe(file).condition == core::Condition::converged);
  world.files.put_file("/etc/datum/secrets/api", "rotated", 0600);
  CHECK(drifts_of(scene.observe(file)) == "content: (redacted) -> (redacted)\n");
  world.files.remove("/etc/datum/secrets/api");
  const auto seen = scene.observe(file);
  CHECK(seen.condition == core::Condition::unknown);
  CHECK(seen.obstacle == core::Obstacle::unresolved_secret);
  CHECK(seen.reason.find("secret api cannot be resolved: /etc/datum/secrets/api") !=
        std::string::npos);
}
