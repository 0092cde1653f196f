#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "datum/fleet/explain.hpp"
#include "datum/fleet/render.hpp"
#include "datum/fleet/schema.hpp"
#include "datum/os_linux/linux_files.hpp"

// What the commands print for the fleet in site/, to the last byte. DATUM_TEST_UPDATE=1 writes the
// expectations anew, for review: a changed digest here is a changed digest on every machine.

using namespace datum;

namespace {

const std::string kFolder = DATUM_GOLDEN_FLEET;

void check_golden(const std::string& name, const std::string& actual) {
  const auto path = kFolder + "/expected/" + name;
  if (std::getenv("DATUM_TEST_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  const std::string expected(std::istreambuf_iterator<char>(in), {});
  CHECK(actual == expected);
}

struct Site {
  std::unique_ptr<os::Files> files = os_linux::make_files();
  fleet::FleetPtr fleet;
  Site() {
    const auto loaded = fleet::load_fleet(*files, kFolder + "/site");
    for (const auto& error : loaded.errors) FAIL_CHECK(to_string(error));
    REQUIRE(loaded.fleet);
    fleet = loaded.fleet;
  }
};

}  // namespace

TEST_CASE("fleet: renderings of the example site have not changed") {
  const Site site;
  for (const std::string host : {"web1", "db1"}) {
    const auto resolved = fleet::resolve(site.fleet, host);
    for (const auto& error : resolved.errors) FAIL_CHECK(to_string(error));
    REQUIRE(resolved.manifest);
    check_golden(host + ".yaml", fleet::render_text(*resolved.manifest));
    check_golden(host + ".json", fleet::render_json(*resolved.manifest) + "\n");
  }
}

TEST_CASE("fleet: the explanations of one resource have not changed") {
  const Site site;
  std::string text;
  for (const auto* name : {"File[motd]", "User[operator]", "File[key]", "Sysctl[forwarding]"}) {
    const auto explained = fleet::explain(site.fleet, "web1", *model::find_reference(name));
    REQUIRE(explained.explanation);
    text.append(to_string(*explained.explanation));
  }
  check_golden("explain.txt", text);
}

TEST_CASE("fleet: the schema of documents has not changed") {
  check_golden("schema.json", fleet::document_schema());
}
