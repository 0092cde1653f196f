// Records on their way up: whole values, dense, as many as a part holds.
#include "datum/history/transfer.hpp"

#include <catch2/catch.hpp>

#include "scratch.hpp"

using namespace datum;
using namespace datum::history;

TEST_CASE(
    "transfer: parts are dense, within their limit, and hold each record as the journal does") {
  test::Scratch scratch;
  test::Life life(scratch.path + "/store", 20);
  life.host.pass({1, 2, 3});
  life.loop.run();
  auto reader = life.history->log()->make_reader();
  REQUIRE(reader);
  const auto head = (*reader)->read_head();
  REQUIRE(head);
  Bytes all;
  REQUIRE((*reader)->scan(1, [&all](const journal::Record& record) {
    all.insert(all.end(), record.stored.begin(), record.stored.end());
    all.insert(all.end(), record.keys.begin(), record.keys.end());
    return journal::Visit::go_on;
  }));
  for (const std::size_t limit : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20U}) {
    INFO("limit " << limit);
    Bytes together;
    Seq next = 1;
    while (next <= head->seq) {
      const auto part = read_part(**reader, next, limit);
      REQUIRE(part);
      REQUIRE(*part);
      CHECK((*part)->first == next);
      REQUIRE((*part)->count > 0);
      CHECK(((*part)->count == 1 || (*part)->values.size() <= limit));
      together.insert(together.end(), (*part)->values.begin(), (*part)->values.end());
      next += (*part)->count;
    }
    CHECK(next == head->seq + 1);
    CHECK(together == all);
  }
  const auto none = read_part(**reader, head->seq + 1, 1000);
  REQUIRE(none);
  CHECK_FALSE(*none);
}
