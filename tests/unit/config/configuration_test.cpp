// agent.yaml: defaults, every key, faults with their place, and reading through os::Files.
#include "datum/config/configuration.hpp"

#include <catch2/catch.hpp>
#include <cerrno>

#include "datum/config/trust.hpp"
#include "support/model_files.hpp"

using namespace datum;
using namespace datum::config;

static Configuration sound(std::string_view bytes) {
  auto parsed = parse_configuration("agent.yaml", "/etc/datum", bytes);
  for (const auto& fault : parsed.faults) UNSCOPED_INFO(to_string(fault));
  REQUIRE(parsed.faults.empty());
  return parsed.configuration;
}

// "line:column message" of every fault, joined by newlines.
static std::string faults(std::string_view bytes) {
  std::string text;
  for (const auto& fault : parse_configuration("agent.yaml", "/etc/datum", bytes).faults) {
    if (!text.empty()) text += '\n';
    text += std::to_string(fault.line) + ":" + std::to_string(fault.column) + " " + fault.message;
  }
  return text;
}

TEST_CASE("config: without a file, a key or a value everything is the default and observes") {
  for (const auto* bytes :
       {"", "# nothing\n", "---\n", "reconciliation:\n", "reconciliation:\n  mode:\n",
        "reconciliation: {mode: ~}\n", "observe:\nwindows:\nhost:\nremovals:\n  max:\n"}) {
    INFO(bytes);
    const auto configuration = sound(bytes);
    CHECK(configuration.mode.value == Mode::observe);
    for (const auto& line : describe(configuration)) CHECK(line.origin.is_default());
  }
  const auto configuration = sound("");
  CHECK(configuration.pass_limit_ns.value == 45 * 60 * kNsPerSecond);
  CHECK(configuration.interval_ns.value == 30 * 60 * kNsPerSecond);
  CHECK_FALSE(configuration.metrics.value);
  CHECK_FALSE(configuration.strict_paths.value);
  CHECK(configuration.removals_max.value == 10);
  CHECK(configuration.secrets_path.value == "/etc/datum/secrets");
  CHECK(configuration.state.value == "/var/lib/datum");
  CHECK(configuration.archive_above_bytes.value == 1ULL << 30U);
  CHECK(configuration.archive_after_ns.value == 400 * 86'400 * kNsPerSecond);
  CHECK_FALSE(configuration.host.value);
  CHECK_FALSE(configuration.source.value);
}

static const char* const kFull =
    "host: web-1\n"
    "reconciliation:\n"
    "  mode: enforce\n"
    "  interval: 10m\n"
    "  passLimit: 30m\n"
    "trust: {strictPaths: false}\n"
    "observe: [\"Package[*]\", \"File[motd]\"]\n"
    "protect:\n"
    "- User[root]\n"
    "secrets: {backend: file, path: /srv/secrets}\n"
    "journal: {archiveAbove: 512MiB, archiveAfter: 30d}\n"
    "removals: {max: 0}\n"
    "packages: {finishInterrupted: true}\n"
    "windows:\n"
    "- {days: [mon-wed, sat], from: \"22:00\", to: 04:00}\n"
    "control: [\"control.example:7600\", \"[2001:db8::1]:7600\"]\n"
    "source: /srv/fleet\n"
    "metrics: /srv/datum.prom\n"
    "state: /srv/state\n"
    "orphans: remove\n";

TEST_CASE("config: every key is read, and knows its line") {
  const auto configuration = sound(kFull);
  std::string text;
  for (const auto& line : describe(configuration))
    text += line.key + "=" + line.value + "@" + std::to_string(line.origin.line) + "\n";
  CHECK(text ==
        "host=web-1@1\n"
        "reconciliation.mode=enforce@3\n"
        "reconciliation.interval=10m@4\n"
        "reconciliation.passLimit=30m@5\n"
        "trust.strictPaths=false@6\n"
        "observe=[\"Package[*]\", \"File[motd]\"]@7\n"
        "protect=[\"User[root]\"]@9\n"
        "secrets.backend=file@10\n"
        "secrets.path=/srv/secrets@10\n"
        "journal.archiveAbove=512MiB@11\n"
        "journal.archiveAfter=30d@11\n"
        "removals.max=0@12\n"
        "orphans=remove@20\n"
        "packages.finishInterrupted=true@13\n"
        "windows=mon,tue,wed,sat 22:00-04:00@15\n"
        "control=[\"control.example:7600\", \"[2001:db8::1]:7600\"]@16\n"
        "source=/srv/fleet@17\n"
        "metrics=/srv/datum.prom@18\n"
        "state=/srv/state@19\n");
  CHECK(configuration.mode.origin.text() == "agent.yaml:3");
  CHECK(configuration.mode.value == Mode::enforce);
  CHECK(sound("").mode.origin.text() == "default");
  CHECK(sound("secrets: {backend: credentials}\n").secrets_backend.value ==
        SecretsBackend::credentials);
}

TEST_CASE("config: an unknown key is a fault with its place, at every depth") {
  CHECK(faults("mode: enforce\n") == "1:1 unknown key \"mode\"");
  CHECK(faults("reconciliation:\n  Mode: enforce\n") == "2:3 unknown key \"Mode\"");
  CHECK(faults("removals: {maximum: 1}\n") == "1:12 unknown key \"maximum\"");
  CHECK(faults("windows:\n- {days: [mon], from: 01:00, to: 02:00, zone: UTC}\n") ==
        "2:41 unknown key in a window");
  const auto parsed = parse_configuration("agent.yaml", "/etc/datum", "trust: {x: 1}\n");
  CHECK(parsed.faults.at(0).hint == "known here: strictPaths");
}

TEST_CASE(
    "config: with any fault nothing of the file counts, so that a misread line cannot enforce") {
  for (const auto* bytes : {"reconciliation: {mode: enforce}\nx: 1\n",
                            "reconciliation: {mode: enforce}\n---\nhost: a\n",
                            "reconciliation: {mode: enforce}\nobserve: [}\n",
                            "reconciliation: {mode: enforce, mode: enforce}\n"}) {
    INFO(bytes);
    const auto parsed = parse_configuration("agent.yaml", "/etc/datum", bytes);
    CHECK_FALSE(parsed.faults.empty());
    CHECK(parsed.configuration.mode.value == Mode::observe);
    CHECK(parsed.configuration.mode.origin.is_default());
  }
}

TEST_CASE("config: values of a wrong form are refused in words") {
  for (const auto& [bytes, fault] : std::vector<std::pair<std::string, std::string>>{
           {"reconciliation: {mode: Enforce}\n", "1:24 mode must be observe or enforce"},
           {"reconciliation: {mode: [enforce]}\n", "mode must be"},
           {"reconciliation: enforce\n", "1:17 reconciliation must be a mapping, not a scalar"},
           {"- a\n", "1:1 agent.yaml must be a mapping, not a list"},
           {"reconciliation: {passLimit: 30}\n", "must be a duration such as 45s, 30m or 2h"},
           {"reconciliation: {passLimit: 5s}\n", "between 10s and 24h"},
           {"reconciliation: {passLimit: 25h}\n", "between 10s and 24h"},
           {"reconciliation: {interval: 0s}\n", "between 1s and 7d"},
           {"reconciliation: {interval: 8d}\n", "between 1s and 7d"},
           {"metrics: datum.prom\n", "absolute path"},
           {"trust: {strictPaths: yes}\n", "strictPaths must be true or false"},
           {"trust: {strictPaths: \"true\"}\n", "strictPaths must be true or false"},
           {"removals: {max: -1}\n", "max must be a number"},
           {"orphans: keep\n", "orphans must be wait, adopt or remove"},
           {"orphans: [remove]\n", "orphans must be wait, adopt or remove"},
           {"packages: {finishInterrupted: yes}\n", "finishInterrupted must be true or false"},
           {"removals: {max: \"10\"}\n", "max must be a number"},
           {"removals: {max: 1.5}\n", "max must be a number"},
           {"host: 12\n", "must be text and reads as a number"},
           {"host: \"a b\"\n", "letters, digits"},
           {"host: \"a\\nb\"\n", "control character U+000A"},
           {"control: control:7600\n", "must be a list of addresses"},
           {"control: [control]\n", "is no address such as name:7600"},
           {"control: [\"control:0\"]\n", "is no address"},
           {"control: [\"control:65536\"]\n", "is no address"},
           {"control: [\"2001:db8::1:7600\"]\n", "is no address"},
           {"source: srv/fleet\n", "absolute path"},
           {"source: /srv/../x\n", "absolute path"},
           {"state: /srv/\n", "absolute path"},
           {"state: /srv//x\n", "absolute path"},
           {"state: \"\"\n", "absolute path"},
           {"secrets: {backend: vault}\n", "backend must be file or credentials"},
           {"secrets: {backend: credentials, path: /x}\n", "path has no meaning"},
           {"journal: {archiveAbove: 1GB}\n", "archiveAbove must be a size"},
           {"journal: {archiveAbove: 1MiB}\n", "at least 16MiB"},
           {"journal: {archiveAfter: 23h}\n", "at least 1d"},
           {"observe: File[a]\n", "must be a list of references"},
           {"observe: [nginx]\n", "1:11 \"nginx\" is no reference"},
           {"observe: [true]\n", "reads as a boolean"},
           {"protect: [\"Files[*]\"]\n", "matches no type"}}) {
    INFO(bytes);
    const auto text = faults(bytes);
    INFO(text);
    CHECK(text.find(fault) != std::string::npos);
  }
}

TEST_CASE("config: windows need days and two different times") {
  const auto window = [](std::string_view text) {
    return faults("windows: [{" + std::string(text) + "}]\n");
  };
  CHECK(window("days: [mon], from: 01:00, to: 02:00").empty());
  CHECK(window("days: [mon], from: 22:00, to: 00:00").empty());
  CHECK(window("days: [fri-mon], from: 00:00, to: 24:00").empty());
  CHECK(window("days: [mon], from: 01:00").find("needs to") != std::string::npos);
  CHECK(window("from: 01:00, to: 02:00").find("needs days") != std::string::npos);
  CHECK(window("days: [mon], from: 01:00, to: 01:00").find("same time") != std::string::npos);
  CHECK(window("days: [mon], from: 24:00, to: 01:00").find("before 24:00") != std::string::npos);
  CHECK(window("days: [mon], from: 1:00, to: 02:00").find("time of day") != std::string::npos);
  CHECK(window("days: [mon], from: 01:60, to: 02:00").find("time of day") != std::string::npos);
  CHECK(window("days: [mon], from: 01:00, to: 24:01").find("time of day") != std::string::npos);
  CHECK(window("days: [Mon], from: 01:00, to: 02:00").find("a day is one of") != std::string::npos);
  CHECK(window("days: [], from: 01:00, to: 02:00").find("list of days") != std::string::npos);
  CHECK(window("days: mon, from: 01:00, to: 02:00").find("list of days") != std::string::npos);
  CHECK(faults("windows: []\n").find("empty list") != std::string::npos);
  CHECK(faults("windows: {}\n").find("must be a list") != std::string::npos);
  CHECK(sound("windows: [{days: [fri-mon], from: 00:00, to: 24:00}]\n").windows.value.at(0).days ==
        std::array<bool, 7>{true, true, false, false, false, true, true});
}

namespace {
struct Folder {
  Folder() {
    files.put_directory("/etc/datum");
    root = *files.open_root("/");
    etc = *files.open_directory(root, "etc", os::Follow::no);
    directory = *files.open_directory(etc, "datum", os::Follow::no);
  }
  Result<Configuration> read(std::optional<std::uint32_t> uid = 0) {
    return read_configuration(files, directory, "/etc/datum", uid);
  }
  support::ModelFiles files;
  os::Handle root, etc, directory;
};
}  // namespace

TEST_CASE("config: a missing agent.yaml is the default configuration") {
  Folder folder;
  const auto configuration = folder.read();
  REQUIRE(configuration);
  CHECK(configuration->mode.value == Mode::observe);
  CHECK(configuration->mode.origin.is_default());
}

TEST_CASE("config: agent.yaml is read through Files, and positions name its path") {
  Folder folder;
  folder.files.put_file("/etc/datum/agent.yaml", kFull, 0644);
  const auto configuration = folder.read();
  REQUIRE(configuration);
  CHECK(configuration->mode.origin.text() == "/etc/datum/agent.yaml:3");
  folder.files.put_file("/etc/datum/agent.yaml", "x: 1\ny: 2\n", 0644);
  const auto faulty = folder.read();
  REQUIRE_FALSE(faulty);
  CHECK(faulty.error().code() == ErrorCode::invalid_argument);
  CHECK(faulty.error().message().find("/etc/datum/agent.yaml:1:1: unknown key \"x\"") == 0);
  CHECK(faulty.error().message().find("/etc/datum/agent.yaml:2:1: unknown key \"y\"") !=
        std::string::npos);
}

TEST_CASE("config: a file that others could write is refused, with what mends it") {
  Folder folder;
  const auto refusal = [&] {
    const auto configuration = folder.read();
    if (configuration) return std::string("read");
    CHECK(configuration.error().code() == ErrorCode::refused);
    return configuration.error().message();
  };
  folder.files.put_file("/etc/datum/agent.yaml", kFull, 0664);
  CHECK(refusal() ==
        "/etc/datum/agent.yaml can be written by others than its owner (mode 0664): "
        "chmod go-w /etc/datum/agent.yaml");
  folder.files.put_file("/etc/datum/agent.yaml", kFull, 0600, 1000);
  CHECK(refusal() ==
        "/etc/datum/agent.yaml belongs to uid 1000 and must belong to root: "
        "chown 0 /etc/datum/agent.yaml");
  CHECK_FALSE(folder.read(0));
  folder.files.put_file("/etc/datum/agent.yaml", kFull, 0644);
  CHECK(refusal() == "read");
  folder.files.set_mode_of("/etc/datum", 0777);
  CHECK(refusal().find("/etc/datum can be written by others") == 0);
  CHECK(folder.read(std::nullopt));
}

TEST_CASE("config: what cannot be read is an error and never the default") {
  Folder folder;
  folder.files.put_symlink("/etc/datum/agent.yaml", "/etc/other.yaml");
  REQUIRE_FALSE(folder.read());
  CHECK(folder.read().error().code() == ErrorCode::symlink);
  folder.files.put_directory("/etc/datum/agent.yaml");
  CHECK_FALSE(folder.read());
  folder.files.put_file("/etc/datum/agent.yaml", kFull, 0644);
  folder.files.fail_call(support::Call::read, 1, EIO);
  REQUIRE_FALSE(folder.read(std::nullopt));
  folder.files.put_file("/etc/datum/agent.yaml", std::string(kMaxFileBytes + 1, '#'), 0644);
  const auto large = folder.read();
  REQUIRE_FALSE(large);
  CHECK(large.error().code() == ErrorCode::limit_exceeded);
}
