#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "scratch_fleet.hpp"

// Every refusal of the format, from the files in refused/: the files of a case go on top of a sound
// fleet, and all messages must be those after `+++`, to the last character. DATUM_TEST_UPDATE=1
// writes the files anew with what the program says now, for review.

using namespace datum;

namespace {

struct Case {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  std::string expected;
};

std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE(in);
  std::vector<Case> cases;
  std::string* text = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), {}, {}});
      text = nullptr;
    } else if (line.starts_with("--- ")) {
      cases.back().files.emplace_back(line.substr(4), "");
      text = &cases.back().files.back().second;
    } else if (line == "+++") {
      text = &cases.back().expected;
    } else {
      REQUIRE(text);
      text->append(line).append("\n");
    }
  }
  return cases;
}

std::string run(const Case& each) {
  test::ScratchFleet fleet;
  for (const auto& [path, text] : each.files) {
    constexpr std::string_view kLink = "(link to ";
    if (text == "(removed)\n")
      fleet.remove(path);
    else if (text.starts_with(kLink))
      std::filesystem::create_symlink(text.substr(kLink.size(), text.size() - kLink.size() - 2),
                                      fleet.root() + "/" + path);
    else
      fleet.write(path, text);
  }
  return fleet.errors();
}

void write_cases(const std::filesystem::path& path, const std::vector<Case>& cases) {
  std::ofstream out(path);
  for (const auto& each : cases) {
    out << "=== " << each.name << "\n";
    for (const auto& [file, text] : each.files) out << "--- " << file << "\n" << text;
    out << "+++\n" << each.expected;
  }
}

void check_file(const std::string& name) {
  const auto path = std::filesystem::path(DATUM_REFUSED_DIR) / name;
  auto cases = read_cases(path);
  REQUIRE(cases.size() >= 15);
  const bool update = std::getenv("DATUM_TEST_UPDATE") != nullptr;
  for (auto& each : cases) {
    INFO(each.name);
    const auto actual = run(each);
    if (update)
      each.expected = actual;
    else
      CHECK(actual == each.expected);
    CHECK_FALSE(each.expected.empty());
  }
  if (update) write_cases(path, cases);
}

}  // namespace

TEST_CASE("fleet: what one document may not say is refused at its place and in words") {
  check_file("parse.txt");
}

TEST_CASE("fleet: what the documents of a fleet may not be together is refused before any host") {
  check_file("discovery.txt");
}

TEST_CASE("fleet: what a host may not get is refused with the host's name") {
  check_file("resolution.txt");
}

TEST_CASE(
    "fleet: what one type alone may not say is refused at its place and in words [T04] [T05]") {
  check_file("kinds.txt");
}
