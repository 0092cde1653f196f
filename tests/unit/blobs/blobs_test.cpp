// The store over the modelled file system: what is readable, what survives, what is refused.
#include <catch2/catch.hpp>

#include "datum/blobs/blob_store.hpp"
#include "datum/crypto/digest.hpp"
#include "support/model_files.hpp"

using namespace datum;

namespace {

struct Stored {
  support::ModelFiles model;
  std::unique_ptr<blobs::BlobStore> store;

  Stored() {
    model.put_directory("/var/lib/datum", 0700);
    model.settle();
    reopen();
  }
  void reopen(bool read_only = false) {
    store.reset();
    auto opened = blobs::open_blobs(model, "/var/lib/datum", read_only);
    REQUIRE(opened);
    store = std::move(*opened);
  }
  void crash() {
    model.crash_losing_everything();
    reopen();
  }
  Digest put(const std::string& text) {
    const auto put = store->put(as_bytes(text));
    REQUIRE(put);
    CHECK(put->digest == crypto::sha256(as_bytes(text)));
    CHECK(put->size == text.size());
    return put->digest;
  }
  std::string read(const Digest& digest) {
    const auto got = store->read(digest, 64 << 20);
    return got ? std::string(as_text(*got)) : std::string(to_string(got.error().code()));
  }
  static std::string path(const Digest& digest) {
    return "/var/lib/datum/blobs/" + digest.hex().substr(0, 2) + "/" + digest.hex();
  }
};

// Hands out a pattern in odd pieces.
class PatternSource final : public ByteSource {
 public:
  explicit PatternSource(std::size_t size) : left_(size) {}
  [[nodiscard]] Result<std::size_t> read(MutableByteView out) override {
    if (fail_at_end && left_ == 0) return fail(ErrorCode::io_error, "the source broke");
    const auto count = std::min({out.size(), left_, std::size_t{65'537}});
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>((at_++ / 97) % 251);
    left_ -= count;
    return count;
  }
  bool fail_at_end = false;

 private:
  std::size_t left_;
  std::size_t at_ = 0;
};

std::string pattern(std::size_t size) {
  PatternSource source(size);
  Bytes bytes(size);
  for (std::size_t at = 0; at < size;) at += *source.read(MutableByteView(bytes).subspan(at));
  return std::string(as_text(bytes));
}

}  // namespace

TEST_CASE("blobs: what is put is read back, staged, durable and opened again") {
  Stored s;
  const std::vector<std::string> contents = {"", "x", std::string(100'000, 'a'), pattern(70'000),
                                             std::string("\0\xff\n", 3)};
  std::vector<Digest> digests;
  for (const auto& content : contents) digests.push_back(s.put(content));
  const auto check = [&] {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      CHECK(s.store->contains(digests[i]));
      CHECK(s.read(digests[i]) == contents[i]);
    }
  };
  check();
  REQUIRE(s.store->sync());
  check();
  s.reopen();
  check();
  CHECK(s.model.find_stat("/var/lib/datum/blobs")->mode == 0700);
}

TEST_CASE("blobs: what repeats itself is stored compressed") {
  Stored s;
  const auto digest = s.put(std::string(1'000'000, 'a'));
  REQUIRE(s.store->sync());
  CHECK(s.model.find_stat(Stored::path(digest))->size < 10'000);
}

TEST_CASE("blobs: [L13] [L08] what was synced survives a crash, and only then has a name") {
  Stored s;
  const auto durable = s.put("durable");
  REQUIRE(s.store->sync());
  const auto staged = s.put("staged");
  CHECK_FALSE(s.model.find_stat(Stored::path(staged)));
  s.crash();
  CHECK(s.read(durable) == "durable");
  CHECK_FALSE(s.store->contains(staged));
}

TEST_CASE("blobs: whatever a crash keeps, a name stands for whole content or for nothing") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    INFO(seed);
    Stored s;
    const auto first = s.put("first " + std::to_string(seed));
    REQUIRE(s.store->sync());
    s.put("second " + std::to_string(seed));
    s.model.stop_at_change(seed % 9 + 1);
    const auto synced = s.store->sync();
    const auto second = crypto::sha256(as_bytes("second " + std::to_string(seed)));
    s.model.crash(seed);
    s.reopen();
    CHECK(s.read(first) == "first " + std::to_string(seed));
    if (synced || s.store->contains(second))
      CHECK(s.read(second) == "second " + std::to_string(seed));
  }
}

TEST_CASE("blobs: a blob that a dead process named is made durable before it counts") {
  Stored s;
  s.put("text");
  s.model.fail_call(support::Call::sync, 2, EIO);  // the folder's
  // The process dies with the name in the cache and not on the disk.
  s.model.stop_at_change(100);
  const auto digest = crypto::sha256(as_bytes("text"));
  s.model.stop_at_change(0);
  s.model.set_before_call([&](support::Call call, std::string_view) {
    if (call == support::Call::sync && s.model.find_stat(Stored::path(digest)))
      s.model.stop_at_change(1);
  });
  CHECK_FALSE(s.store->sync());
  s.model.set_before_call({});
  s.model.end_process();
  s.reopen();
  REQUIRE(s.store->contains(digest));
  s.put("text");
  REQUIRE(s.store->sync());
  s.crash();
  CHECK(s.read(digest) == "text");
}

TEST_CASE("blobs: more than 64 blobs are synced at once, fewer one by one") {
  Stored s;
  for (int i = 0; i < 64; ++i) s.put("few " + std::to_string(i));
  REQUIRE(s.store->sync());
  CHECK(s.model.calls(support::Call::sync_file_system) == 0);
  std::vector<Digest> many;
  for (int i = 0; i < 500; ++i) many.push_back(s.put("many " + std::to_string(i)));
  CHECK(s.model.open_handles() < 70);
  REQUIRE(s.store->sync());
  CHECK(s.model.calls(support::Call::sync_file_system) == 2);
  s.crash();
  for (const auto& digest : many) CHECK(s.store->contains(digest));
}

TEST_CASE("blobs: without reported errors every blob is synced by itself") {
  Stored s;
  s.model.set_reports_sync_errors(false);
  for (int i = 0; i < 100; ++i) s.put("many " + std::to_string(i));
  REQUIRE(s.store->sync());
  CHECK(s.model.calls(support::Call::sync_file_system) == 0);
  s.crash();
  CHECK(s.read(crypto::sha256(as_bytes("many 99"))) == "many 99");
}

TEST_CASE("blobs: after a failed sync nothing counts as stored, and putting again heals it") {
  for (std::uint64_t nth = 1; nth <= 3; ++nth) {
    INFO(nth);
    Stored s;
    const auto digest = s.put("text");
    s.model.fail_call(support::Call::sync, nth, EIO);
    const auto failed = s.store->sync();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == ErrorCode::io_error);
    CHECK_FALSE(s.store->contains(digest));
    s.put("text");
    REQUIRE(s.store->sync());
    s.crash();
    CHECK(s.read(digest) == "text");
  }
}

TEST_CASE("blobs: a full disk is no_space and leaves no temp file") {
  Stored s;
  s.put("x");
  REQUIRE(s.store->sync());
  const auto before = s.model.paths();
  s.model.set_free_bytes("/var/lib/datum", 0);
  const auto put = s.store->put(as_bytes(pattern(100'000)));
  REQUIRE_FALSE(put);
  CHECK(put.error().code() == ErrorCode::no_space);
  CHECK(s.model.paths() == before);
}

TEST_CASE("blobs: damaged bytes are corrupt, and putting them again heals the blob") {
  Stored s;
  const auto digest = s.put("text that is long enough");
  REQUIRE(s.store->sync());
  const auto path = Stored::path(digest);
  const auto whole = *s.model.find_content(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    INFO(i);
    auto damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    s.model.put_file(path, damaged);
    const auto got = s.store->read(digest, 1000);
    REQUIRE_FALSE(got);
    CHECK((got.error().code() == ErrorCode::corrupt ||
           got.error().code() == ErrorCode::unsupported_version ||
           got.error().code() == ErrorCode::limit_exceeded));
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    s.model.put_file(path, whole.substr(0, size));
    CHECK(s.read(digest) == "corrupt");
  }
  s.put("text that is long enough");
  REQUIRE(s.store->sync());
  CHECK(s.read(digest) == "text that is long enough");
}

TEST_CASE("blobs: large content lies in parts, is read as a stream and checked part by part") {
  Stored s;
  const std::size_t size = 2 * blobs::kPartSize + 12'345;
  PatternSource source(size);
  const auto put = s.store->put_stream(source);
  REQUIRE(put);
  REQUIRE(s.store->sync());
  CHECK(put->size == size);
  const auto whole = pattern(size);
  CHECK(put->digest == crypto::sha256(as_bytes(whole)));
  auto opened = s.store->open(put->digest);
  REQUIRE(opened);
  crypto::Sha256 sha;
  Bytes buffer(100'000);
  for (;;) {
    const auto count = (*opened)->read(buffer);
    REQUIRE(count);
    if (*count == 0) break;
    sha.update(ByteView(buffer).first(*count));
  }
  CHECK(sha.finish() == put->digest);
  CHECK(s.read(put->digest) == whole);

  const auto second = crypto::sha256(as_bytes(whole).subspan(blobs::kPartSize, blobs::kPartSize));
  s.model.put_file(Stored::path(second), "damaged");
  auto again = s.store->open(put->digest);
  REQUIRE(again);
  std::size_t good = 0;
  Result<std::size_t> count = 0;
  while ((count = (*again)->read(buffer)) && *count > 0) good += *count;
  CHECK_FALSE(count);
  CHECK(good == blobs::kPartSize);
}

TEST_CASE("blobs: content of exactly one part, and one byte more, come back whole") {
  Stored s;
  for (const auto size : {blobs::kPartSize, blobs::kPartSize + 1}) {
    PatternSource source(size);
    const auto put = s.store->put_stream(source);
    REQUIRE(put);
    CHECK(s.read(put->digest) == pattern(size));
  }
}

TEST_CASE("blobs: reading more than the limit is refused in words, not cut") {
  Stored s;
  const auto digest = s.put("12345");
  CHECK(s.store->read(digest, 5));
  CHECK(s.store->read(digest, 4).error().code() == ErrorCode::limit_exceeded);
}

TEST_CASE("blobs: a source that breaks gives an error and no blob") {
  Stored s;
  PatternSource source(1000);
  source.fail_at_end = true;
  CHECK(s.store->put_stream(source).error().code() == ErrorCode::io_error);
  CHECK_FALSE(s.store->contains(crypto::sha256(as_bytes(pattern(1000)))));
}

TEST_CASE("blobs: putting the same content twice writes it once") {
  Stored s;
  s.put("same");
  const auto once = s.model.calls(support::Call::create_file);
  s.put("same");
  REQUIRE(s.store->sync());
  s.put("same");
  CHECK(s.model.calls(support::Call::create_file) == once);
}

TEST_CASE("blobs: dead temp files are removed at the next opening") {
  Stored s;
  s.put("never synced");
  s.model.end_process();
  s.reopen();
  for (const auto& path : s.model.paths()) CHECK(path.find("tmp-") == std::string::npos);
}

TEST_CASE("blobs: a sweep keeps the live ones with their parts and frees the rest") {
  Stored s;
  const auto dead = s.put("dead");
  const auto live = s.put("live");
  PatternSource large(blobs::kPartSize + 5);
  const auto parts = s.store->put_stream(large);
  PatternSource other(blobs::kPartSize + 6);
  const auto gone = s.store->put_stream(other);
  REQUIRE(s.store->sync());
  const auto before = s.store->used();
  const std::vector<Digest> roots{live, parts->digest};
  const auto freed = s.store->sweep({roots});
  REQUIRE(freed);
  CHECK(*freed > 0);
  CHECK(*s.store->used() == *before - *freed);
  CHECK_FALSE(s.store->contains(dead));
  CHECK_FALSE(s.store->contains(gone->digest));
  CHECK(s.read(live) == "live");
  CHECK(s.read(parts->digest) == pattern(blobs::kPartSize + 5));
}

TEST_CASE("blobs: a sweep spares what was written lately, live or not") {
  Stored s;
  const auto old = s.put("old");
  REQUIRE(s.store->sync());
  const auto written = s.model.find_stat(Stored::path(old))->mtime_ns;
  CHECK(s.store->sweep({{}}, written) == std::uint64_t{0});
  CHECK(s.store->contains(old));
  CHECK(*s.store->sweep({{}}, written + 1) > 0);
  CHECK_FALSE(s.store->contains(old));
}

TEST_CASE("blobs: kept content stays up to its limit, the first named first, whatever is live") {
  Stored s;
  const auto live = s.put("of a declaration, and as long as it likes to be");
  const auto newest = s.put("newest");  // 22 bytes on disk
  const auto newer = s.put("newer");    // 21
  const auto old = s.put("old");        // 19
  const auto plan = s.put("plan of a record that is gone");
  REQUIRE(s.store->sync());
  const std::vector<Digest> roots{live};
  const std::vector<Digest> kept{newest, newer, newest, old};
  CHECK(*s.store->used_by(kept) == 62);
  REQUIRE(s.store->sweep({roots, kept, 62}));
  CHECK_FALSE(s.store->contains(plan));
  CHECK(s.store->contains(old));
  REQUIRE(s.store->sweep({roots, kept, 61}));
  CHECK_FALSE(s.store->contains(old));
  CHECK(s.store->contains(newer));
  CHECK(*s.store->used_by(kept) == 43);
  // One that does not fit ends it, though a smaller one behind it would.
  const auto small = s.put("x");
  REQUIRE(s.store->sync());
  const std::vector<Digest> more{newest, newer, small};
  REQUIRE(s.store->sweep({roots, more, 42}));
  CHECK(s.store->contains(newest));
  CHECK_FALSE(s.store->contains(newer));
  CHECK_FALSE(s.store->contains(small));
  CHECK(s.store->contains(live));
}

TEST_CASE("blobs: kept content that lies in parts counts and stays with them") {
  Stored s;
  PatternSource large(blobs::kPartSize + 5);
  const auto parts = s.store->put_stream(large);
  REQUIRE(s.store->sync());
  const std::vector<Digest> kept{parts->digest};
  const auto all = *s.store->used();
  CHECK(*s.store->used_by(kept) == all);
  REQUIRE(s.store->sweep({{}, kept, all}));
  CHECK(s.read(parts->digest) == pattern(blobs::kPartSize + 5));
  REQUIRE(s.store->sweep({{}, kept, all - 1}));
  CHECK(*s.store->used() == 0);
}

TEST_CASE("blobs: used counts what is put and removed") {
  Stored s;
  CHECK(*s.store->used() == 0);
  const auto digest = s.put("1234");
  CHECK(*s.store->used() == 20);
  REQUIRE(s.store->sync());
  s.reopen();
  CHECK(*s.store->used() == 20);
  REQUIRE(s.store->remove(digest));
  CHECK(*s.store->used() == 0);
  CHECK(s.store->remove(digest));
  CHECK_FALSE(s.store->contains(digest));
}

TEST_CASE("blobs: opened for reading nothing is changed") {
  Stored s;
  const auto digest = s.put("text");
  REQUIRE(s.store->sync());
  s.reopen(true);
  const auto before = s.model.changing_calls();
  CHECK(s.read(digest) == "text");
  CHECK(s.store->put(as_bytes("x")).error().code() == ErrorCode::read_only);
  CHECK(s.store->sync().error().code() == ErrorCode::read_only);
  CHECK(s.store->remove(digest).error().code() == ErrorCode::read_only);
  CHECK(s.model.changing_calls() == before);
  s.model.put_directory("/empty");
  CHECK(blobs::open_blobs(s.model, "/empty", true).error().code() == ErrorCode::not_found);
}

TEST_CASE("blobs: the bytes of a released format do not change") {
  Stored s;
  const auto digest = s.put("abc\n");
  REQUIRE(s.store->sync());
  CHECK(digest.hex() == "edeaaff3f1774ad2888673770c6d64097e391bc362d7d6fb34982ddf0efd18cb");
  CHECK(to_hex(as_bytes(*s.model.find_content(Stored::path(digest)))) ==
        "44424c310100000004000000000000006162630a");
}
