#include "datum/loop/output.hpp"

#include <catch2/catch.hpp>
#include <string>

using datum::loop::BoundedOutput;

TEST_CASE("output: in any pieces, the kept halves and the gap are the same as in one") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>('a' + i % 26);
  for (const std::size_t limit : {0U, 1U, 2U, 7U, 100U, 999U, 1000U, 1001U, 5000U}) {
    for (const std::size_t piece : {1U, 3U, 64U, 1000U}) {
      BoundedOutput output(limit);
      for (std::size_t at = 0; at < text.size(); at += piece) output.add(text.substr(at, piece));
      CAPTURE(limit, piece);
      if (limit >= text.size()) {
        CHECK(output.text() == text);
        CHECK(output.left_out() == 0);
        continue;
      }
      const auto head = limit / 2;
      const auto tail = limit - head;
      CHECK(output.text() == text.substr(0, head) + text.substr(text.size() - tail));
      CHECK(output.left_out() == text.size() - limit);
    }
  }
}

TEST_CASE("output: nothing written is nothing kept") {
  BoundedOutput output(10);
  output.add("");
  CHECK(output.text().empty());
  CHECK(output.left_out() == 0);
}
