// A million events folded, against a raw scan of the same file in the same run: prints both rates
// and their ratio. The scan verifies each record's header and payload checksum, as every reader
// does; the fold does that too, decodes and evolves. Nothing here fails for being slow.
// Usage: bench-fold [EVENTS [FOLDER]]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "datum/base/assert.hpp"
#include "datum/history/history.hpp"

using namespace datum;

namespace {

constexpr std::uint32_t kTargets = 10'000;

core::Event event_of(Seq seq, PassId pass) {
  const auto number = static_cast<std::uint32_t>(seq * 7919 % kTargets);
  const auto name = std::to_string(number);
  const model::Target target{
      model::TargetFamily::path,
      "/etc/service/conf.d/" + std::to_string(number / 100) + "/" + name + ".conf"};
  const model::Reference reference{model::ResourceType::file, "conf-" + name};
  Digest digest;
  store_le(reinterpret_cast<std::byte*>(digest.bytes.data()), seq);
  if (seq % 2 == 0) {
    core::ResourceObserved seen;
    seen.pass = pass;
    seen.reference = reference;
    seen.target = target;
    seen.condition = core::Condition::drifted;
    seen.found = core::Found::file;
    seen.drifts = {{"content", "sha256:aaaaaaaaaaaaaaaa (1024 bytes)",
                    "sha256:bbbbbbbbbbbbbbbb (1000 bytes)"}};
    seen.observation = digest;
    seen.content = digest;
    return seen;
  }
  core::ActionSucceeded done;
  done.pass = pass;
  done.ordinal = number;
  done.target = target;
  done.reference = reference;
  done.observation = digest;
  done.left = {core::Found::file, 1, seq, digest};
  return done;
}

std::unique_ptr<journal::Log> make_log(const std::string& folder, Seq events) {
  journal::OpenOptions options;
  options.indexes = history::index_names();
  auto log = journal::open_log(folder, options);
  DATUM_ASSERT(log.has_value());
  constexpr Seq kChunk = 4096;
  Seq seq = 0;
  while (seq < events) {
    std::vector<history::EncodedEvent> encoded;
    journal::Batch batch;
    for (Seq i = 0; i < kChunk && seq < events; ++i) {
      ++seq;
      const core::Event event =
          seq == 1   ? core::Event(core::StoreCreated{Id128{{1}}, "/", "h", "local", "1"})
          : seq == 2 ? core::Event(core::PassStarted{})
                     : event_of(seq, 2);
      encoded.push_back(
          history::encode(event, seq, {WallNs{static_cast<std::int64_t>(seq)}, {}, {}}));
    }
    for (const auto& one : encoded) {
      journal::Entry entry;
      entry.kind = one.kind;
      entry.stamp = one.stamp;
      entry.payload = one.payload;
      batch.entries.push_back(std::move(entry));
    }
    DATUM_ASSERT((*log)->append(batch).has_value());
  }
  return std::move(*log);
}

// Of the processor: what else runs on the machine does not count.
template <class Work>
double best_seconds(const Work& work) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const Seq events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::string folder =
      argc > 2 ? argv[2] : std::filesystem::temp_directory_path() / "datum-fold-bench";
  std::filesystem::remove_all(folder);
  const auto log = make_log(folder, events);
  std::uint64_t bytes = 0;
  const auto scan = best_seconds([&] {
    bytes = 0;
    DATUM_ASSERT(log->scan(1, [&](const journal::Record& record) {
      bytes += record.payload.size();
      return journal::Visit::go_on;
    }));
  });
  const auto decode = best_seconds([&] {
    DATUM_ASSERT(history::scan_events(
        *log, 1, [](const history::StoredEvent&) { return journal::Visit::go_on; }));
  });
  const auto fold = best_seconds([&] { DATUM_ASSERT(history::fold(*log, 0, false).has_value()); });
  const auto rate = [events](double seconds) {
    return static_cast<double>(events) / seconds / 1e6;
  };
  std::printf("%llu events, %.0f bytes each\n", static_cast<unsigned long long>(events),
              static_cast<double>(bytes) / static_cast<double>(events));
  std::printf("scan    %6.2f M/s\ndecode  %6.2f M/s\nfold    %6.2f M/s\n", rate(scan), rate(decode),
              rate(fold));
  std::printf("fold / scan  %.2f\n", scan / fold);
  std::filesystem::remove_all(folder);
  return 0;
}
