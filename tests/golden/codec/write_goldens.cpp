// Writes golden files anew: `write-codec-goldens FOLDER [NAME...]`; all that are missing without
// names. Not a test, and no test calls it: an existing golden file changes by a decision only, so
// it has to be named.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "golden_file.hpp"
#include "goldens.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: write-codec-goldens FOLDER [NAME...]\n";
    return 1;
  }
  const std::filesystem::path folder(argv[1]);
  for (const auto& [name, bytes] : datum::test::golden_bytes()) {
    const auto path = folder / (name + ".hex");
    const bool named = std::find(argv + 2, argv + argc, name) != argv + argc;
    if (!named && (argc > 2 || std::filesystem::exists(path))) continue;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << datum::test::to_golden(bytes);
    if (!file.flush()) {
      std::cerr << "cannot write " << path << "\n";
      return 1;
    }
    std::cout << path.string() << "\n";
  }
  return 0;
}
