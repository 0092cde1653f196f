// Validation of a large fleet: 1,000 hosts of about 10,000 resources each, 20 layers, 11 MB of
// documents, no two hosts of equal labels and hardly two of equal layers, 100 resources in which a
// label of the host stands. Written to a folder of its own, read and checked there, and compared
// with bare YAML parsing of the same bytes in the same run.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "datum/fleet/affected.hpp"
#include "datum/fleet/validate.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/yaml/yaml.hpp"

namespace {

using namespace datum;

constexpr int kHosts = 1'000;
constexpr int kLayers = 20;
constexpr int kBase = 9'000;     // resources that every host has
constexpr int kOwn = 100;        // further ones of each other layer, which half of the hosts match
constexpr int kOverrides = 200;  // of each other layer, on resources of the base
constexpr int kPerHost = 100;    // resources of the base in which a label stands

std::string resource(const std::string& name, int requires_index, bool per_host) {
  std::string text = "---\ndatum: v1alpha1\ntype: File\nname: " + name + "\n";
  if (requires_index >= 0)
    text += "requires: [\"File[base-" + std::to_string(requires_index) + "]\"]\n";
  text += "desired:\n  path: /srv/app/" + name + ".conf\n  owner: root\n  group: root\n" +
          "  mode: \"0644\"\n  content: |\n    # " + name + "\n";
  for (int line = 0; line < 16; ++line)
    text += "    option-" + std::to_string(line) + " = value of " + name + ", line by line\n";
  if (per_host) text += "    rack = {{ labels.rack }}\n";
  return text;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::uintmax_t make_fleet(const std::filesystem::path& root) {
  std::mt19937 random(7);
  write(root / "datum.yaml", "datum: v1alpha1\ntype: Fleet\nname: bench\n");
  std::string hosts;
  for (int host = 0; host < kHosts; ++host) {
    hosts += "---\ndatum: v1alpha1\ntype: Host\nname: host-" + std::to_string(host) +
             "\nlabels:\n  rack: \"" + std::to_string(host) + "\"\n";
    for (int layer = 1; layer < kLayers; ++layer)
      if (random() % 2 == 0) hosts += "  l" + std::to_string(layer) + ": \"on\"\n";
  }
  write(root / "hosts.yaml", hosts);
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto name = "layer-" + std::to_string(layer);
    auto head = "datum: v1alpha1\ntype: Layer\nname: " + name +
                "\nprecedence: " + std::to_string(layer) + "\n";
    if (layer > 0) head += "match: {labels: {l" + std::to_string(layer) + ": \"on\"}}\n";
    write(root / name / "layer.yaml", head);
    std::string text;
    for (int i = 0; i < (layer == 0 ? kBase : kOwn); ++i) {
      const auto each = (layer == 0 ? "base-" : name + "-") + std::to_string(i);
      text += resource(each, i - 1, layer == 0 && i < kPerHost);
    }
    for (int i = 0; layer > 0 && i < kOverrides; ++i)
      text += "---\ndatum: v1alpha1\ntype: File\nname: base-" +
              std::to_string((layer * 379 + i * 41) % kBase) + "\ndesired:\n  mode: \"06" +
              std::to_string(layer % 4) + "0\"\n";
    write(root / name / "resources.yaml", text);
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

// Wall and processor time: the second says the same on a busy machine.
struct Spent {
  double wall = 0;
  double cpu = 0;
};

Spent spent(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const auto cpu = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

void print(const char* what, const Spent& spent) {
  std::printf("  %-42s %6.2f s, processor %6.2f s\n", what, spent.wall, spent.cpu);
}

void parse_all(const std::filesystem::path& root) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string bytes(entry.file_size(), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (yaml::parse("x", bytes).documents.empty()) std::abort();
  }
}

void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (auto i = next++; i < count; i = next++) work(i);
  };
  std::thread other(run);
  run();
  other.join();
}

void measure_manifests(const fleet::FleetPtr& fleet) {
  std::size_t resources = 0;
  fleet::Resolver resolver(fleet);
  print("all manifests with digests", spent([&] {
          resolver.resolve_each(fleet->hosts(), nullptr,
                                [&](const std::string&, const fleet::Resolved& resolved) {
                                  if (resolved.manifest)
                                    resources += resolved.manifest->resources.size();
                                });
        }));
  std::printf("  %zu resources a host\n", resources / kHosts);
  print("one manifest", spent([&] { (void)fleet::resolve(fleet, "host-7"); }));
  print("affected, all hosts, no change", spent([&] { (void)fleet::affected(fleet, fleet); }));
}

int measure(const std::filesystem::path& root) {
  const auto bytes = make_fleet(root);
  const auto files = os_linux::make_files();
  std::printf("%ju bytes, %d hosts, %d layers\n", bytes, kHosts, kLayers);
  const auto parse = spent([&] { parse_all(root); });
  print("bare YAML", parse);
  bool sound = true;
  for (const bool parallel : {false, true}) {
    fleet::Loaded loaded;
    fleet::Validation validation;
    fleet::LoadOptions load_options;
    fleet::ValidateOptions options;
    if (parallel) load_options.parallel = options.parallel = on_threads;
    options.width = parallel ? 2 : 1;
    const auto load =
        spent([&] { loaded = fleet::load_fleet(*files, root.string(), load_options); });
    if (!loaded.fleet) return 1;
    const auto check = spent([&] { validation = fleet::validate(loaded.fleet, options); });
    sound = sound && validation.sound();
    std::printf("%s, %.1f times bare YAML\n", parallel ? "two threads" : "one thread",
                (load.cpu + check.cpu) / parse.cpu);
    print("load", load);
    print("validate", check);
    if (!parallel && std::getenv("DATUM_BENCH_SHORT") == nullptr) measure_manifests(loaded.fleet);
  }
  return sound ? 0 : 1;
}

}  // namespace

int main() {
  const char* place = std::getenv("TMPDIR");
  auto pattern = std::string(place ? place : "/tmp") + "/datum-fleet-bench-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) return 1;
  const auto result = measure(pattern);
  std::filesystem::remove_all(pattern);
  return result;
}
