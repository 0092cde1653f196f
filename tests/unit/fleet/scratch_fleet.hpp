// A fleet folder of a test's own, written file by file and removed at the end.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "datum/fleet/resolve.hpp"
#include "datum/model/substitution.hpp"
#include "datum/os_linux/linux_files.hpp"

namespace datum::test {

inline constexpr std::string_view kFleetHead = "datum: v1alpha1\ntype: Fleet\nname: f\n";

class ScratchFleet {
 public:
  // With a Fleet document, a layer `base` in the folder `base` and a host `h`.
  ScratchFleet() : files_(os_linux::make_files()) {
    const char* place = std::getenv("TMPDIR");
    auto pattern = std::string(place ? place : "/tmp") + "/datum-fleet-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    write("datum.yaml", kFleetHead);
    write("hosts.yaml", "datum: v1alpha1\ntype: Host\nname: h\nlabels: {site: ber}\n");
    write("base/layer.yaml", "datum: v1alpha1\ntype: Layer\nname: base\n");
  }
  ~ScratchFleet() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  ScratchFleet(const ScratchFleet&) = delete;
  ScratchFleet& operator=(const ScratchFleet&) = delete;

  ScratchFleet& write(const std::string& path, std::string_view text) {
    const auto full = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
    return *this;
  }
  // One resource document in base/, `rest` after the common keys.
  ScratchFleet& resource(const std::string& type, const std::string& name,
                         const std::string& rest) {
    return write("base/" + type + "-" + name + ".yaml",
                 "datum: v1alpha1\ntype: " + type + "\nname: \"" + name + "\"\n" + rest);
  }
  // A layer in a folder of its own name, which every host matches.
  ScratchFleet& layer(const std::string& name, int precedence, const std::string& rest = "") {
    return write(name + "/layer.yaml", "datum: v1alpha1\ntype: Layer\nname: " + name +
                                           "\nprecedence: " + std::to_string(precedence) + "\n" +
                                           rest);
  }
  ScratchFleet& remove(const std::string& path) {
    std::filesystem::remove_all(std::filesystem::path(root_) / path);
    return *this;
  }

  [[nodiscard]] fleet::Loaded load() { return fleet::load_fleet(*files_, root_); }
  [[nodiscard]] fleet::FleetPtr sound() {
    const auto loaded = load();
    for (const auto& error : loaded.errors) FAIL_CHECK(to_string(error));
    REQUIRE(loaded.fleet);
    return loaded.fleet;
  }
  [[nodiscard]] fleet::Resolved resolve(std::string_view host = "h",
                                        const fleet::Profile& profile = {}) {
    return fleet::resolve(sound(), host, profile);
  }
  [[nodiscard]] model::ManifestPtr manifest(std::string_view host = "h") {
    const auto resolved = resolve(host);
    for (const auto& error : resolved.errors) FAIL_CHECK(to_string(error));
    REQUIRE(resolved.manifest);
    return resolved.manifest;
  }
  // All errors of loading or, if there is none, of resolving, each as people read it.
  [[nodiscard]] std::string errors(std::string_view host = "h") {
    const auto loaded = load();
    auto findings = loaded.errors;
    if (loaded.fleet) findings = fleet::resolve(loaded.fleet, host).errors;
    std::string text;
    for (const auto& finding : findings) text.append(to_string(finding)).append("\n");
    return text;
  }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] os::Files& files() { return *files_; }

 private:
  std::unique_ptr<os::Files> files_;
  std::string root_;
};

}  // namespace datum::test
