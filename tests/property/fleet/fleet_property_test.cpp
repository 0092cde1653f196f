#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "../../unit/fleet/scratch_fleet.hpp"
#include "datum/fleet/validate.hpp"

using namespace datum;

namespace {

struct Piece {
  std::string layer;
  std::string text;
};

// Documents of a few layers over a few names, so that overrides and references are common.
std::vector<Piece> make_pieces(std::mt19937& random) {
  const std::vector<std::string> layers{"base", "left", "right"};
  std::vector<Piece> pieces;
  for (const auto& layer : layers)
    for (int i = 0; i < 8; ++i) {
      if (layer != "base" && random() % 2 == 0) continue;
      const auto name = std::to_string(i);
      auto text = "datum: v1alpha1\ntype: File\nname: f" + name + "\n";
      if (i > 0 && random() % 2 == 0)
        text +=
            "requires: [\"File[f" + std::to_string(random() % static_cast<unsigned>(i)) + "]\"]\n";
      text += "desired:\n  path: /f" + name + "\n  owner: u" + std::to_string(random() % 4) + "\n";
      if (random() % 3 == 0) text += "  content: \"{{ host }} " + layer + "\"\n";
      pieces.push_back({layer, text});
    }
  return pieces;
}

// The pieces over files of their layers, in the order in which they stand in `pieces`.
void write(test::ScratchFleet& fleet, const std::vector<Piece>& pieces, std::mt19937& random) {
  fleet.layer("left", 1).layer("right", 2);
  std::map<std::string, std::string> files;
  for (const auto& piece : pieces) {
    const auto file = piece.layer + "/sub/" + std::to_string(random() % 3) + ".yaml";
    auto& text = files[file];
    text.append(text.empty() ? "" : "---\n").append(piece.text);
  }
  for (const auto& [file, text] : files) fleet.write(file, text);
}

}  // namespace

TEST_CASE("fleet: neither order nor division of documents over files reaches the digest") {
  CHECK(rc::check([](unsigned seed) {
    std::mt19937 random(seed);
    auto pieces = make_pieces(random);
    test::ScratchFleet one;
    write(one, pieces, random);
    std::shuffle(pieces.begin(), pieces.end(), random);
    test::ScratchFleet other;
    write(other, pieces, random);
    const auto first = one.manifest();
    const auto second = other.manifest();
    RC_ASSERT(first->digest == second->digest);
    RC_ASSERT(first->resources.size() == 8U);
  }));
}

TEST_CASE("fleet: checking a host says the same as resolving it") {
  CHECK(rc::check([](unsigned seed) {
    std::mt19937 random(seed);
    test::ScratchFleet fleet;
    auto pieces = make_pieces(random);
    // Faults of every stage that needs a host, now and then.
    if (random() % 2 == 0)
      pieces.push_back({"left", "datum: v1alpha1\ntype: File\nname: g\nrequires: [\"File[f" +
                                    std::to_string(random() % 12) + "]\"]\ndesired: {path: /f" +
                                    std::to_string(random() % 12) + "}\n"});
    if (random() % 2 == 0)
      pieces.push_back({"base",
                        "datum: v1alpha1\ntype: File\nname: k\nrequires: [\"File[k]\"]\n"
                        "desired: {path: \"/{{ labels.site }}\"}\n"});
    write(fleet, pieces, random);
    fleet.write("i.yaml", "datum: v1alpha1\ntype: Host\nname: i\n");
    const auto loaded = fleet.sound();
    std::vector<std::string> one_by_one;
    for (const auto& host : loaded->hosts())
      for (const auto& error : fleet::resolve(loaded, host).errors)
        one_by_one.push_back(host + yaml::to_string(error.diagnostic));
    std::vector<std::string> together;
    for (const auto& error : fleet::validate(loaded).errors)
      for (const auto& host : error.hosts)
        together.push_back(host + yaml::to_string(error.diagnostic));
    std::sort(one_by_one.begin(), one_by_one.end());
    std::sort(together.begin(), together.end());
    RC_ASSERT(one_by_one == together);
  }));
}
