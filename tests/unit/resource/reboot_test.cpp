// What asks for a restart of the machine, from its files alone.
#include "datum/resource/reboot.hpp"

#include <catch2/catch.hpp>

#include "support/model_files.hpp"

using namespace datum;

namespace {

struct Box {
  support::ModelFiles files;
  os::Handle root;
  resource::Machine machine;

  Box() {
    root = std::move(*files.open_root("/"));
    machine.files = &files;
    machine.root = &root;
    machine.root_path = "/";
    files.put_file("/proc/sys/kernel/osrelease", "6.1.0-9-amd64\n");
  }
  void put_kernel(const std::string& release) { files.put_file("/boot/vmlinuz-" + release, ""); }
  std::string reason() {
    const auto found = resource::find_reboot_reason(machine);
    REQUIRE(found);
    return *found;
  }
};

}  // namespace

TEST_CASE(
    "reboot: a machine whose own newest kernel runs and that has no request asks for nothing") {
  Box box;
  CHECK(box.reason().empty());
  box.put_kernel("6.1.0-9-amd64");
  box.put_kernel("6.1.0-8-amd64");
  CHECK(box.reason().empty());
}

TEST_CASE("reboot: what Debian's packages leave in /run is named with the packages, each once") {
  Box box;
  box.files.put_file("/run/reboot-required", "*** System restart required ***\n");
  CHECK(box.reason() == "/run/reboot-required");
  box.files.put_file("/run/reboot-required.pkgs", "libc6\ndbus\nlibc6\n");
  CHECK(box.reason() == "/run/reboot-required (dbus, libc6)");
}

TEST_CASE(
    "reboot: a newer kernel of the running one's flavour is named, in the order of versions") {
  Box box;
  box.put_kernel("6.1.0-9-amd64");
  box.put_kernel("6.1.0-10-amd64");
  box.put_kernel("6.5.0-1-cloud-amd64");
  CHECK(box.reason() == "kernel 6.1.0-10-amd64 is installed, 6.1.0-9-amd64 runs");
  box.files.put_file("/run/reboot-required", "");
  CHECK(box.reason() ==
        "/run/reboot-required; kernel 6.1.0-10-amd64 is installed, 6.1.0-9-amd64 runs");
}

TEST_CASE("reboot: kernels in a machine that runs another's kernel ask for nothing") {
  Box box;
  box.put_kernel("6.1.0-10-amd64");
  CHECK(box.reason().empty());
}

TEST_CASE("reboot: under another root, and where a file cannot be read, nothing is said") {
  Box box;
  box.machine.root_path = "/srv/root";
  CHECK_FALSE(resource::find_reboot_reason(box.machine));
  box.machine.root_path = "/";
  box.files.put_symlink("/run/reboot-required", "/elsewhere");
  CHECK_FALSE(resource::find_reboot_reason(box.machine));
}
