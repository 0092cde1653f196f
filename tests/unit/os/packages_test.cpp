// dpkg's database and apt's words, as far as nothing is run: what is believed of them and what not.
#include "datum/os/packages.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "datum/os/apt.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::os;

namespace {

std::string paragraph(const std::string& name, const std::string& status,
                      const std::string& version = "1.0",
                      const std::string& architecture = "amd64") {
  return "Package: " + name + "\nStatus: " + status + "\nArchitecture: " + architecture +
         "\nVersion: " + version + "\n\n";
}

PackageBook book(std::string status, std::vector<std::string> updates = {}) {
  auto parsed = PackageBook::parse(std::move(status), std::move(updates));
  if (!parsed) FAIL(parsed.error().message());
  return std::move(*parsed);
}

std::string line_of(const PackageBook& all, std::string_view name) {
  const auto* package = all.find(name);
  if (package == nullptr) return "unknown";
  return std::string(package->name) + ":" + std::string(package->architecture) + " " +
         std::string(package->version) + " " + std::string(to_string(package->state)) +
         (package->held ? " held" : "") + (package->needs_reinstall ? " reinstall" : "");
}

const std::string kDpkg = paragraph("dpkg", "install ok installed", "1.21");

std::string words(const Tool& tool) {
  std::string text;
  for (const auto& word : tool.argv) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

TEST_CASE("packages: each word for a state means what dpkg means by it [P02]") {
  struct Row {
    const char* status;
    PackageState state;
    bool present, interrupted, held;
  };
  const Row rows[] = {
      {"install ok installed", PackageState::installed, true, false, false},
      {"hold ok installed", PackageState::installed, true, false, true},
      {"install hold installed", PackageState::installed, true, false, true},
      {"deinstall ok config-files", PackageState::config_files, false, false, false},
      {"unknown ok not-installed", PackageState::not_installed, false, false, false},
      {"install ok half-configured", PackageState::half_configured, true, true, false},
      {"install reinstreq half-installed", PackageState::half_installed, true, true, false},
      {"install ok unpacked", PackageState::unpacked, true, true, false},
      {"install ok triggers-pending", PackageState::triggers_pending, true, true, false},
      {"install ok triggers-awaited", PackageState::triggers_awaited, true, true, false},
      {"install reinstreq installed", PackageState::installed, true, true, false},
      {"install ok postinst-failed", PackageState::half_configured, true, true, false},
  };
  for (const auto& row : rows) {
    INFO(row.status);
    const auto all = book(kDpkg + paragraph("a", row.status));
    const auto* package = all.find("a");
    REQUIRE(package != nullptr);
    CHECK(package->state == row.state);
    CHECK(is_present(*package) == row.present);
    CHECK(is_interrupted(*package) == row.interrupted);
    CHECK(package->held == row.held);
  }
}

TEST_CASE("packages: what stands in updates counts, the last of them most [P02]") {
  const auto old =
      kDpkg + paragraph("a", "install ok installed") + paragraph("b", "install ok installed");
  const auto all = book(
      old, {paragraph("a", "install ok half-configured", "2.0"),
            paragraph("c", "install ok unpacked"), paragraph("a", "install ok installed", "2.0")});
  CHECK(line_of(all, "a") == "a:amd64 2.0 installed");
  CHECK(line_of(all, "b") == "b:amd64 1.0 installed");
  CHECK(line_of(all, "c") == "c:amd64 1.0 unpacked");
  CHECK(all.has_updates());
  CHECK_FALSE(book(old).has_updates());
}

TEST_CASE("packages: a bare name is of the machine's own architecture or of none") {
  const auto all = book(kDpkg + paragraph("lib", "install ok installed", "1", "i386") +
                        paragraph("both", "install ok installed", "2", "amd64") +
                        paragraph("both", "install ok installed", "1", "i386") +
                        paragraph("data", "install ok installed", "3", "all"));
  CHECK(all.native_architecture() == "amd64");
  CHECK(all.find("lib") == nullptr);
  CHECK(line_of(all, "lib:i386") == "lib:i386 1 installed");
  CHECK(line_of(all, "both") == "both:amd64 2 installed");
  CHECK(line_of(all, "both:i386") == "both:i386 1 installed");
  CHECK(line_of(all, "data") == "data:all 3 installed");
  CHECK(all.find("bot") == nullptr);
  CHECK(all.find("") == nullptr);
}

TEST_CASE("packages: long fields are passed over, and configuration files are kept as they stand") {
  const auto all = book(
      "Package: a\nStatus: install ok installed\nPriority: optional\nDescription: short\n"
      " Package: b\n .\n more\nConffiles:\n /etc/a.conf 0123\n /etc/b c 4567 obsolete\n"
      "version: 1:2~3\narchitecture: all\n");
  REQUIRE(all.packages().size() == 1);
  CHECK(line_of(all, "a") == "a:all 1:2~3 installed");
  CHECK(all.find("a")->conffiles == " /etc/a.conf 0123\n /etc/b c 4567 obsolete");
}

TEST_CASE(
    "packages: bytes that are no database are corrupt with their place, and nothing is believed") {
  for (const char* bytes :
       {"Package: a\n", "Status: install ok installed\n", " continued\n", "Package a\n", ":\n",
        "Package: a\nStatus: install ok\n", "Package: a\nStatus: install ok installed more\n",
        "Package: a\nStatus: want ok installed\n", "Package: a\nStatus: install ok fine\n",
        "Package: a b\nStatus: install ok installed\n", "Package:\n",
        "Package: a\nStatus: install ok installed\nVersion: 1 2\n",
        "Package: a\nStatus: install ok installed\nArchitecture: \x01\n"}) {
    INFO(bytes);
    const auto parsed = PackageBook::parse(kDpkg + bytes);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == ErrorCode::corrupt);
    CHECK(parsed.error().message().find("status:") == 0);
  }
  CHECK(book("").packages().empty());
  CHECK(book("\n\n \n").packages().empty());
}

TEST_CASE("packages: Debian's order of versions, epoch first and ~ before the end [P07]") {
  const char* const rising[] = {"0~~",      "0~~a", "0~",    "0",   "1.0~rc1", "1.0",  "1.0-1",
                                "1.0-1+b1", "1.0a", "1.0+",  "1.1", "1.9",     "1.10", "2.0",
                                "10",       "1:0",  "1:1.0", "2:0", "10:0"};
  const auto count = std::size(rising);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      INFO(rising[i] << " and " << rising[j]);
      const int order = compare_debian_versions(rising[i], rising[j]);
      CHECK((order < 0) == (i < j));
      CHECK((order > 0) == (i > j));
    }
  CHECK(compare_debian_versions("1:1.0", "2.0") > 0);
  CHECK(compare_debian_versions("0:1.0", "1.0") == 0);
  CHECK(compare_debian_versions("1.01", "1.1") == 0);
  CHECK(compare_debian_versions("1.0-0", "1.0") == 0);
  CHECK(compare_debian_versions("99999999999999999999999999", "100000000000000000000000000") < 0);
}

TEST_CASE("apt: a transaction is exactly this argument vector [P03] [P05]") {
  PackageOrder order;
  order.wishes = {{"a", "1:2.0-1", false}, {"b", "", false}};
  const std::string common =
      "/usr/bin/apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=60 "
      "-o APT::Get::AutomaticRemove=0 -o Dir::Cache::pkgcache= -o Dpkg::Options::=--force-confold ";
  CHECK(words(apt_transaction("/", order)) == common + "--no-remove install -- a=1:2.0-1 b");
  order.wishes.push_back({"c", "", true});
  order.allow_downgrade = order.change_held = true;
  CHECK(words(apt_transaction("/", order)) ==
        common + "--allow-downgrades --allow-change-held-packages install -- a=1:2.0-1 b c-");
  auto again = order;
  again.reinstall = true;
  CHECK(words(apt_transaction("/", again)).find("-packages --reinstall install") !=
        std::string::npos);
  const auto simulated = words(apt_simulation("/", order));
  CHECK(simulated.starts_with("/usr/bin/apt-get -q -y -s -o "));
  order.replace_conffiles = true;
  const auto replacing = apt_transaction("/", order);
  CHECK(words(replacing).find("Dpkg::Options::=--force-confnew ") != std::string::npos);
  CHECK(words(replacing).find("confold") == std::string::npos);
  const std::vector<std::string> wanted{"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                                        "LANG=C.UTF-8",
                                        "HOME=/root",
                                        "TERM=dumb",
                                        "DEBIAN_FRONTEND=noninteractive",
                                        "APT_LISTCHANGES_FRONTEND=none",
                                        "NEEDRESTART_SUSPEND=1",
                                        "NEEDRESTART_MODE=l",
                                        "UCF_FORCE_CONFFNEW=1"};
  CHECK(replacing.environment == wanted);
}

TEST_CASE("apt: refresh, holds and what finishes an interrupted run are exactly these") {
  CHECK(words(apt_refresh("/")) == "/usr/bin/apt-get -q -y -o DPkg::Lock::Timeout=60 update");
  CHECK(words(apt_hold("/", {"a", "b:i386"}, true)) == "/usr/bin/apt-mark hold a b:i386");
  CHECK(words(apt_hold("/", {"a"}, false)) == "/usr/bin/apt-mark unhold a");
  CHECK(words(dpkg_configure("/", false)) == "/usr/bin/dpkg --force-confold --configure -a");
  CHECK(words(dpkg_configure("/", true)) == "/usr/bin/dpkg --force-confnew --configure -a");
}

TEST_CASE(
    "apt: what a simulation says is read by name, with versions and without the own architecture") {
  const auto seen = read_simulation(
      "Reading package lists...\nThe following packages will be REMOVED:\n  old\n"
      "Remv old [1.0]\nInst a [1.0] (2.0 Debian:12/stable [amd64]) []\n"
      "Inst dep:amd64 (0.9 local [amd64])\nInst lib:i386 [1:1] (1:2 local [i386])\n"
      "Conf dep:amd64 (0.9 local [amd64])\nConf other (3 local [all])\n",
      true, "amd64");
  using Kind = ForeseenChange::Kind;
  const std::vector<ForeseenChange> wanted{
      {Kind::remove, "old", "1.0", ""},    {Kind::install, "a", "1.0", "2.0"},
      {Kind::install, "dep", "", "0.9"},   {Kind::install, "lib:i386", "1:1", "1:2"},
      {Kind::configure, "dep", "", "0.9"}, {Kind::configure, "other", "", "3"}};
  CHECK(seen.changes == wanted);
  CHECK(seen.refusal.empty());
}

TEST_CASE("apt: what it refuses is told in its words, and what is not in its lists by name") {
  const auto seen = read_simulation(
      "Reading package lists...\nE: Unable to locate package nowhere\n"
      "E: Version '9' for 'a' was not found\n"
      "E: Package 'gone' has no installation candidate\n",
      false, "amd64");
  CHECK(seen.unknown == std::vector<std::string>{"nowhere", "a", "gone"});
  CHECK(seen.refusal ==
        "Unable to locate package nowhere; Version '9' for 'a' was not found; "
        "Package 'gone' has no installation candidate");
  CHECK(read_simulation("", false, "amd64").refusal == "it ended without saying why");
}

TEST_CASE("apt: a tool's output is told by package, whole segments and no other's") {
  const std::string output =
      "Get:1 file:/srv ./ bad 1.0\nUnpacking bad (1.0) ...\nUnpacking badly (1.0) ...\n"
      "Setting up bad (1.0) ...\nsomething broke\nSetting up badly (1.0) ...\nfine\n"
      "dpkg: error processing package bad (--configure):\n exit status 7\n"
      "Errors were encountered while processing:\n bad\nE: Sub-process returned an error\n";
  CHECK(output_about(output, "bad:amd64", 4096) ==
        "Unpacking bad (1.0) ...\nSetting up bad (1.0) ...\nsomething broke\n"
        "dpkg: error processing package bad (--configure):\n exit status 7\n bad\n");
  CHECK(output_about(output, "badly", 4096) ==
        "Unpacking badly (1.0) ...\nSetting up badly (1.0) ...\nfine\n");
  CHECK(output_about(output, "bad", 22) == " exit status 7\n bad\n");
  CHECK(tells_of_unpacking(output, "bad:amd64"));
  CHECK_FALSE(tells_of_unpacking(output, "badl"));
  CHECK_FALSE(tells_of_unpacking("E: Could not get lock /var/lib/dpkg/lock-frontend\n", "bad"));
  CHECK(output_about(output, "other", 4096).empty());
}

TEST_CASE("dpkg: the database is read as of one moment: again where it changed meanwhile") {
  support::ModelFiles files;
  files.put_directory("/var/lib/dpkg/updates");
  files.put_file("/var/lib/dpkg/status", kDpkg + paragraph("a", "install ok installed"));
  files.put_file("/var/lib/dpkg/updates/0001", paragraph("a", "install ok half-configured"));
  files.put_file("/var/lib/dpkg/updates/0000", paragraph("a", "install ok unpacked"));
  files.put_file("/var/lib/dpkg/updates/tmp.i", "half a parag");
  const auto root = files.open_root("/");
  REQUIRE(root);
  const auto seen = read_dpkg(files, *root);
  REQUIRE(seen);
  CHECK(line_of(*seen, "a") == "a:amd64 1.0 half-configured");
  files.put_file("/var/lib/dpkg/updates/0002", "nonsense");
  const auto broken = read_dpkg(files, *root);
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code() == ErrorCode::corrupt);
  CHECK(broken.error().message().find("/var/lib/dpkg: updates:1:") == 0);
}

TEST_CASE("dpkg: this machine's own database is read whole") {
  std::ifstream in("/var/lib/dpkg/status");
  if (!in) {
    WARN("skipped: dpkg is not here");
    return;
  }
  std::ostringstream text;
  text << in.rdbuf();
  const auto all = book(text.str());
  const auto whole = text.str();
  std::size_t paragraphs = 0;
  for (std::size_t i = 0; (i = whole.find("Package: ", i)) != std::string::npos; ++i)
    paragraphs += i == 0 || whole[i - 1] == '\n' ? 1U : 0U;
  CHECK(all.packages().size() == paragraphs);
  CHECK_FALSE(all.native_architecture().empty());
  CHECK(all.find("dpkg") != nullptr);
}
