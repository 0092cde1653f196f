// Debian's order of versions against dpkg itself, over generated pairs; and that it is an order.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "datum/os/packages.hpp"

using datum::os::compare_debian_versions;

namespace {

// dpkg takes a millisecond or two for each.
constexpr int kPairs = 600;
constexpr std::uint32_t kSeed = 2026;

class Versions {
 public:
  explicit Versions(std::uint32_t seed) : random_(seed) {}

  std::string make() {
    std::string text;
    if (chance(4)) text += std::to_string(number(3)) + ":";
    text += std::to_string(number(12));
    text += part(number(8));
    if (chance(2)) text += "-" + std::to_string(number(3)) + part(number(4));
    return text;
  }
  // Most faults show between neighbours.
  std::string near(std::string text) {
    // The epoch is a number, and what follows begins with a digit: dpkg takes no others.
    const auto first = text.find(':') + 2;
    const auto c = character();
    if (chance(3) || first >= text.size()) return text + c;
    const auto at = first + number(static_cast<std::uint32_t>(text.size() - first));
    if (chance(2)) return text.insert(at, 1, c);
    if (text[at] != '-') text[at] = c;
    return text;
  }
  bool chance(std::uint32_t of) { return number(of) == 0; }

 private:
  std::uint32_t number(std::uint32_t below) {
    return below == 0 ? 0 : static_cast<std::uint32_t>(random_() % below);
  }
  char character() {
    constexpr std::string_view kLetters = "0019aZz.+~~";
    return kLetters[number(static_cast<std::uint32_t>(kLetters.size()))];
  }
  std::string part(std::uint32_t size) {
    std::string text;
    for (std::uint32_t i = 0; i < size; ++i) text.push_back(character());
    return text;
  }

  std::mt19937 random_;
};

bool dpkg_says(const std::string& a, const char* relation, const std::string& b) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/usr/bin/dpkg", "dpkg", "--compare-versions", a.c_str(), relation, b.c_str(),
            static_cast<char*>(nullptr));
    ::_exit(125);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) <= 1);
  return WEXITSTATUS(status) == 0;
}

int sign(int value) {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}

}  // namespace

TEST_CASE("versions: the order is dpkg's own, over generated pairs [P07]") {
  if (::access("/usr/bin/dpkg", X_OK) != 0) {
    WARN("skipped: dpkg is not here");
    return;
  }
  Versions versions(kSeed);
  for (int i = 0; i < kPairs; ++i) {
    const auto a = versions.make();
    const auto b = versions.chance(3) ? versions.make() : versions.near(a);
    INFO(a << " and " << b);
    const int order = sign(compare_debian_versions(a, b));
    const char* const relation = order < 0 ? "lt" : order > 0 ? "gt" : "eq";
    CHECK(dpkg_says(a, relation, b));
  }
}

TEST_CASE("versions: it is an order: antisymmetric and transitive over generated triples") {
  Versions versions(kSeed + 1);
  for (int i = 0; i < 20'000; ++i) {
    const auto a = versions.make();
    const auto b = versions.near(a);
    const auto c = versions.near(b);
    INFO(a << ", " << b << ", " << c);
    CHECK(sign(compare_debian_versions(a, b)) == -sign(compare_debian_versions(b, a)));
    const int ab = sign(compare_debian_versions(a, b));
    const int bc = sign(compare_debian_versions(b, c));
    if (ab == bc || bc == 0) CHECK(sign(compare_debian_versions(a, c)) == ab);
    if (ab == 0) CHECK(sign(compare_debian_versions(a, c)) == bc);
  }
}
