#include "envelope.hpp"

#include <catch2/catch.hpp>

using namespace datum;
using namespace datum::journal;

static Bytes value_of(std::string_view payload, std::vector<IndexKey> keys, Seq seq,
                      const Digest& previous = {}) {
  Entry entry;
  entry.payload = as_bytes(payload);
  const auto sorted = sorted_keys(keys);
  Bytes value(value_size(payload.size(), sorted));
  static_cast<void>(write_value(value, entry, sorted, seq, 1, previous));
  return value;
}

TEST_CASE("journal: every flipped bit of a stored record is found and the record is named") {
  const auto good = value_of("some payload of a record", {{"targets", "web"}, {"passes", "3"}}, 42);
  REQUIRE(read_value(good, 42));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto read = read_value(bad, 42);
    INFO("bit " << bit);
    REQUIRE_FALSE(read);
    REQUIRE(read.error().code() == ErrorCode::corrupt);
    REQUIRE(read.error().message().rfind("record 42: ", 0) == 0);
  }
}

TEST_CASE("journal: a stored record that is cut anywhere or too long is corrupt") {
  const auto good = value_of("some payload", {{"targets", "web"}}, 1);
  for (std::size_t size = 0; size < good.size(); ++size)
    REQUIRE(read_value(ByteView(good).first(size), 1).error().code() == ErrorCode::corrupt);
  auto longer = good;
  longer.resize(good.size() + 8);
  CHECK(read_value(longer, 1).error().code() == ErrorCode::corrupt);
}

TEST_CASE("journal: a sound record in another's place is corrupt") {
  CHECK(read_value(value_of("x", {}, 7), 8).error().message() == "record 8: carries sequence 7");
}

TEST_CASE("journal: keys are stored sorted and each once") {
  const auto value = value_of("x", {{"b", "2"}, {"a", "9"}, {"b", "1"}, {"b", "2"}}, 1);
  std::vector<std::string> seen;
  REQUIRE(for_each_key(read_value(value, 1)->keys, [&](const IndexKey& key) {
    seen.push_back(std::string(key.index) + key.key.data()[0]);
  }));
  CHECK(seen == std::vector<std::string>{"a9", "b1", "b2"});
}

TEST_CASE("journal: keys that run over their block are not read") {
  Bytes block(24);
  store_le<std::uint32_t>(block.data(), 17);
  CHECK_FALSE(for_each_key(block, [](const IndexKey&) {}));
  store_le<std::uint32_t>(block.data(), 4);
  block[8] = std::byte{1};
  block[9] = std::byte{200};
  CHECK_FALSE(for_each_key(block, [](const IndexKey&) {}));
}

TEST_CASE("journal: a chain is refused where a record is exchanged, missing or first out of turn") {
  const auto first = value_of("a", {}, 1);
  const auto second = value_of("b", {}, 2, hash_of(*read_value(first, 1)));
  const auto other = value_of("c", {}, 2, Digest{});
  ChainCheck good(1, 1);
  REQUIRE(good.take(first));
  REQUIRE(good.take(second));
  CHECK(good.head().seq == 2);
  CHECK(good.head().hash == hash_of(*read_value(second, 2)));
  ChainCheck exchanged(1, 1);
  REQUIRE(exchanged.take(first));
  CHECK(exchanged.take(other).error().code() == ErrorCode::corrupt);
  CHECK(exchanged.next() == 2);
  ChainCheck missing(1, 1);
  CHECK(missing.take(second).error().code() == ErrorCode::corrupt);
  Digest made_up;
  made_up.bytes[0] = 1;
  ChainCheck beginning(1, 1);
  CHECK(beginning.take(value_of("a", {}, 1, made_up)).error().code() == ErrorCode::corrupt);
}

TEST_CASE("journal: a checked value tells its name and bytes from any other") {
  const auto stored = make_checked("name", as_bytes("value"));
  REQUIRE(find_checked("name", stored));
  CHECK(as_text(*find_checked("name", stored)) == "value");
  CHECK_FALSE(find_checked("nome", stored));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    auto bad = stored;
    bad[i] ^= std::byte{1};
    CHECK_FALSE(find_checked("name", bad));
    CHECK_FALSE(find_checked("name", ByteView(stored).first(i)));
  }
}

TEST_CASE("journal: index entries of one key sort by sequence and read back") {
  CHECK(index_entry("web", 255) < index_entry("web", 256));
  const auto text = index_entry("web", Seq{1} << 40);
  const auto entry = find_index_entry(as_bytes(text));
  REQUIRE(entry);
  CHECK(entry->key == "web");
  CHECK(entry->seq == Seq{1} << 40);
  CHECK_FALSE(find_index_entry(as_bytes(text).first(text.size() - 1)));
  CHECK_FALSE(find_index_entry({}));
}

TEST_CASE("journal: sums of index entries differ when a key, an index or a sequence does") {
  const auto sum = index_sum("targets", "web", 5);
  CHECK(sum == index_sum("targets", "web", 5));
  CHECK(sum != index_sum("targets", "web", 6));
  CHECK(sum != index_sum("targets", "wec", 5));
  CHECK(sum != index_sum("target", "sweb", 5));
}
