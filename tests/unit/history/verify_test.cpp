// A journal whose envelope and chain are sound and whose meaning is not: the first bad record is
// named.
#include <functional>

#include "checkpoint.hpp"
#include "datum/codec/checkpoint.hpp"
#include "scratch.hpp"

using namespace datum;
using namespace datum::history;
using namespace datum::history::test;

namespace {

constexpr Seq kRecords = 6;

std::unique_ptr<journal::Log> open(const std::string& folder) {
  journal::OpenOptions options;
  options.indexes = index_names();
  auto log = journal::open_log(folder, options);
  if (!log) FAIL(log.error().message());
  return std::move(*log);
}

core::Event event_of(Seq seq) {
  if (seq == 1) return core::StoreCreated{{}, "/", "h", "local", "1"};
  core::OwnershipCreated event;
  event.pass = 1;
  event.target = {model::TargetFamily::path, "/etc/" + std::to_string(seq)};
  event.reference = {model::ResourceType::file, std::to_string(seq)};
  return event;
}

// One record after the other, each as `alter` leaves it.
void fill(journal::Log& log, const std::function<void(Seq, EncodedEvent&)>& alter) {
  for (Seq seq = 1; seq <= kRecords; ++seq) {
    auto encoded = encode(event_of(seq), seq, {});
    alter(seq, encoded);
    journal::Entry entry;
    entry.kind = encoded.kind;
    entry.stamp = encoded.stamp;
    entry.payload = encoded.payload;
    for (const auto& [index, key] : encoded.keys) entry.keys.push_back({index, key});
    journal::Batch batch;
    batch.entries.push_back(std::move(entry));
    REQUIRE(log.append(batch));
  }
}

journal::Verification verified(const std::function<void(Seq, EncodedEvent&)>& alter,
                               const std::function<void(journal::Log&)>& after = {}) {
  Scratch scratch;
  const auto log = open(scratch.path + "/journal");
  fill(*log, alter);
  if (after) after(*log);
  const auto verification = verify(*log);
  REQUIRE(verification);
  return *verification;
}

}  // namespace

TEST_CASE("history: a journal that means what it says is sound") {
  const auto verification = verified([](Seq, EncodedEvent&) {});
  CHECK(verification.sound);
  CHECK(verification.records == kRecords);
}

TEST_CASE("history: verifying names the first record whose payload is no event") {
  for (Seq bad = 1; bad < kRecords; ++bad) {
    const auto verification = verified([bad](Seq seq, EncodedEvent& encoded) {
      if (seq == bad || seq == kRecords) encoded.payload[4] = std::byte{0xff};
    });
    CHECK_FALSE(verification.sound);
    CHECK(verification.bad_seq == bad);
  }
  const auto unknown = verified([](Seq seq, EncodedEvent& encoded) {
    if (seq == 4) encoded.kind = 999;
  });
  CHECK(unknown.bad_seq == 4);
}

TEST_CASE("history: verifying names the record that no index, or the wrong one, leads to") {
  const auto missing = verified([](Seq seq, EncodedEvent& encoded) {
    if (seq == 3) encoded.keys.pop_back();
  });
  CHECK(missing.bad_seq == 3);
  const auto other = verified([](Seq seq, EncodedEvent& encoded) {
    if (seq == 5) encoded.keys.back().second = encode(event_of(2), 2, {}).keys.back().second;
  });
  CHECK(other.bad_seq == 5);
  const auto names = index_names();  // a key views the name of its index
  const auto strange = verified([&names](Seq seq, EncodedEvent& encoded) {
    if (seq == 1) encoded.keys.emplace_back(names.front(), "stray");
  });
  CHECK(strange.bad_seq == 1);
}

TEST_CASE(
    "history: a checkpoint that is not what the records add up to is found, and a true one is "
    "sound") {
  const auto checkpoint = [](Seq seq, const std::function<void(core::State&)>& alter) {
    return verified([](Seq, EncodedEvent&) {},
                    [&](journal::Log& log) {
                      auto state = fold(log, seq, false);
                      REQUIRE(state);
                      alter(*state);
                      REQUIRE(write_checkpoint(log, seq, codec::encode_state(*state)));
                    });
  };
  CHECK(checkpoint(4, [](core::State&) {}).sound);
  for (const auto& alter : std::vector<std::function<void(core::State&)>>{
           [](core::State& state) { state.owned.begin()->second.protect = true; },
           [](core::State& state) { state.owned.clear(); },
           [](core::State& state) { state.host = "other"; }}) {
    const auto verification = checkpoint(4, alter);
    CHECK_FALSE(verification.sound);
    CHECK(verification.problem.find("the checkpoint at record 4") != std::string::npos);
  }
  CHECK_FALSE(checkpoint(4, [](core::State& state) { state.seq = kRecords + 1; }).sound);
}
