// Hunks by hand for the shape, and a small patch program for the truth of any diff.
#include "datum/text/diff.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <sstream>

using namespace datum::text;

static const DiffLabels kLabels{"a", "b"};

static std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST_CASE("diff: equal texts have none") {
  CHECK(diff("", "", kLabels).kind == DiffKind::same);
  CHECK(diff("a\n", "a\n", kLabels).text.empty());
}

TEST_CASE("diff: a changed line stands between three lines of context") {
  auto after = lines(1, 20);
  after.replace(after.find("10\n"), 3, "ten\n");
  const auto result = diff(lines(1, 20), after, kLabels);
  CHECK(result.kind == DiffKind::unified);
  CHECK(result.removed == 1);
  CHECK(result.added == 1);
  CHECK(result.text == "--- a\n+++ b\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
}

TEST_CASE("diff: changes close together share a hunk, others do not") {
  const auto changed = [](int second) {
    std::string text = lines(1, 30);
    text.replace(text.find("\n5\n") + 1, 2, "five\n");
    const auto name = "\n" + std::to_string(second) + "\n";
    return text.replace(text.find(name), name.size(), "\nx\n");
  };
  const auto hunks = [](const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find("@@ -"); at != std::string::npos; at = text.find("@@ -", at + 1))
      ++count;
    return count;
  };
  CHECK(hunks(diff(lines(1, 30), changed(12), kLabels).text) == 1);
  CHECK(hunks(diff(lines(1, 30), changed(13), kLabels).text) == 2);
}

TEST_CASE("diff: an empty side and a missing newline are shown") {
  CHECK(diff("", "a\n", kLabels).text == "--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n");
  CHECK(diff("a\n", "", kLabels).text == "--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n");
  CHECK(diff("a", "a\n", kLabels).text ==
        "--- a\n+++ b\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
}

TEST_CASE("diff: labels cannot add lines of their own") {
  CHECK(diff("", "a\n", {"x\ny", "\x1b"}).text.find("--- x\\ny\n+++ \\x1b\n") == 0);
}

TEST_CASE("diff: binary content is said to be binary") {
  const auto result = diff(std::string("a\0", 2), "b", kLabels);
  CHECK(result.kind == DiffKind::binary);
  CHECK(result.text == "binary content: 2 B become 1 B\n");
}

TEST_CASE("diff: beyond its limits it counts lines instead of showing a part") {
  const auto kept = lines(1, 10);
  const auto result = diff(kept + lines(2000, 2600), kept + lines(5000, 5500), kLabels);
  CHECK(result.kind == DiffKind::summary);
  CHECK(result.text == "too much differs to show: from line 11 on, 601 lines become 501 lines\n");
  CHECK(result.removed == 601);
  CHECK(result.added == 501);
  CHECK(diff(lines(2000, 2499), lines(5000, 5499), kLabels).kind == DiffKind::unified);
  const std::string large(kMaxDiffBytes + 1, 'x');
  CHECK(diff(large, "x", kLabels).text ==
        "too large to compare line by line: 4.0 MiB become 1 B\n");
}

// Applies a unified diff; fails the test where context or removed lines are not there.
static std::string apply(const std::string& before, const std::string& patch) {
  std::vector<std::string> old_lines;
  std::istringstream input(before);
  for (std::string line; std::getline(input, line);) old_lines.push_back(line);
  std::istringstream rows(patch);
  std::string row;
  std::string out;
  std::size_t at = 0;
  std::getline(rows, row);
  std::getline(rows, row);
  while (std::getline(rows, row)) {
    if (row.rfind("@@ -", 0) == 0) {
      std::size_t first = std::stoul(row.substr(4));
      const auto comma = row.find_first_of(", ", 4);
      const bool none = row.compare(comma, 3, ",0 ") == 0;
      if (!none) --first;
      while (at < first) out += old_lines.at(at++) + "\n";
    } else if (row[0] == '+') {
      out += row.substr(1) + "\n";
    } else {
      REQUIRE(old_lines.at(at) == row.substr(1));
      ++at;
      if (row[0] == ' ') out += row.substr(1) + "\n";
    }
  }
  while (at < old_lines.size()) out += old_lines[at++] + "\n";
  return out;
}

// Length of the longest common subsequence, by the plain table.
static std::size_t common_lines(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                         : std::max(table[i - 1][j], table[i][j - 1]);
  return table[a.size()][b.size()];
}

TEST_CASE("diff: any diff applied to the old text gives the new one and is the shortest") {
  std::mt19937 random(7);
  const auto make = [&] {
    std::vector<int> values(random() % 40);
    for (auto& value : values) value = static_cast<int>(random() % 4);
    return values;
  };
  const auto text_of = [](const std::vector<int>& values) {
    std::string text;
    for (const int value : values) text += std::to_string(value) + "\n";
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    const auto old_values = make();
    const auto new_values = make();
    const auto before = text_of(old_values);
    const auto after = text_of(new_values);
    const auto result = diff(before, after, kLabels);
    if (before == after) continue;
    REQUIRE(result.kind == DiffKind::unified);
    REQUIRE(apply(before, result.text) == after);
    REQUIRE(result.removed + result.added ==
            old_values.size() + new_values.size() - 2 * common_lines(old_values, new_values));
  }
}
