#include "datum/base/shared_text.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <thread>
#include <unordered_set>
#include <vector>

using datum::SharedText;

TEST_CASE("shared text: it compares, sorts and hashes as its bytes do, whoever made it") {
  const std::vector<std::string> texts{"", "a", std::string("a\0b", 3), "ab", "b", "\xff"};
  for (const auto& a : texts)
    for (const auto& b : texts) {
      const SharedText one(a);
      const SharedText other(b);
      CHECK((one == other) == (a == b));
      CHECK((one == b) == (a == b));
      CHECK((one < other) == (a < b));
      CHECK((std::hash<SharedText>{}(one) == std::hash<SharedText>{}(other)) == (a == b));
    }
}

TEST_CASE("shared text: every byte is kept, a NUL too, and one stands behind the last") {
  const std::string bytes("/etc/a\0b\xff", 9);
  const SharedText text(bytes);
  CHECK(text.size() == bytes.size());
  CHECK(text.str() == bytes);
  CHECK(text.c_str()[text.size()] == '\0');
  CHECK(SharedText().empty());
  CHECK(SharedText("").empty());
  CHECK(std::string(SharedText().c_str()).empty());
}

TEST_CASE("shared text: a copy shares the bytes and outlives what it was copied from") {
  SharedText kept;
  {
    const SharedText first(std::string(1000, 'x'));
    kept = first;
    CHECK(kept.view().data() == first.view().data());
  }
  CHECK(kept.str() == std::string(1000, 'x'));
  auto moved = std::move(kept);
  CHECK(moved.size() == 1000);
  auto& itself = moved;
  moved = itself;
  CHECK(moved.size() == 1000);
  moved = "other";
  CHECK(moved == "other");
}

TEST_CASE("shared text: it joins and prints as a string does") {
  const SharedText name("motd");
  CHECK("/etc/" + name == "/etc/motd");
  CHECK(std::string("File[") + name + "]" == "File[motd]");
  std::ostringstream out;
  out << name;
  CHECK(out.str() == "motd");
}

TEST_CASE("shared text: copies come and go on several threads") {
  const SharedText text("/srv/shared");
  std::vector<std::thread> threads;
  std::vector<std::size_t> sizes(4);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    threads.emplace_back([&text, &size = sizes[i]] {
      for (int round = 0; round < 10'000; ++round) {
        const SharedText copy = text;
        size += copy.size();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto size : sizes) CHECK(size == 10'000 * text.size());
  CHECK(text == "/srv/shared");
}
