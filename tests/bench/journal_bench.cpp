// Measures the journal against what it cannot beat: a plain append with fdatasync, and touching the
// bytes. Run by hand; prints figures and ratios, which are what may be compared between machines.
//   journal_bench [FOLDER] [RECORDS]
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "datum/journal/log.hpp"

using namespace datum;
using namespace datum::journal;

namespace {

constexpr std::size_t kPayload = 220;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "journal_bench: %s\n", message.c_str());
  std::exit(1);
}

void must(const Status& status) {
  if (!status) die(status.error().message());
}

std::unique_ptr<Log> open_store(const std::string& folder) {
  OpenOptions options;
  options.indexes = {"passes", "targets"};
  options.walk_limit_ms = 600'000;
  auto log = open_log(folder, options);
  if (!log) die(log.error().message());
  return std::move(*log);
}

double raw_appends_per_s(const std::string& file, std::size_t batch, std::size_t batches) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) die("open " + file);
  const std::string bytes(batch * (kPayload + 100), 'r');
  const double begin = now_s();
  for (std::size_t i = 0; i < batches; ++i) {
    if (::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
        ::fdatasync(fd) != 0)
      die("append to " + file);
  }
  const double spent = now_s() - begin;
  ::close(fd);
  return static_cast<double>(batch * batches) / spent;
}

double log_appends_per_s(Log& log, std::size_t size, std::size_t batches, bool has_keys) {
  const std::string payload(kPayload, 'p');
  const double begin = now_s();
  for (std::size_t i = 0; i < batches; ++i) {
    const auto key = "file:/etc/something/" + std::to_string(i % 1000);
    Batch batch;
    batch.entries.resize(size);
    for (auto& entry : batch.entries) {
      entry.payload = as_bytes(payload);
      if (has_keys) entry.keys = {{"targets", key}};
    }
    const auto seq = log.append(batch);
    if (!seq) die(seq.error().message());
  }
  return static_cast<double>(size * batches) / (now_s() - begin);
}

void bench_appends(const std::string& folder) {
  std::printf("%-10s %14s %14s %7s %18s\n", "a commit", "raw records/s", "records/s", "ratio",
              "with a key, ratio");
  const auto log = open_store(folder + "/appends");
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{1000}}) {
    const std::size_t batches = size == 1 ? 400 : 100;
    const double raw = raw_appends_per_s(folder + "/raw", size, batches);
    const double plain = log_appends_per_s(*log, size, batches, false);
    const double keyed = log_appends_per_s(*log, size, batches, true);
    std::printf("%-10zu %14.0f %14.0f %7.2f %18.2f\n", size, raw, plain, plain / raw, keyed / raw);
  }
}

double to_s(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Of this process and of children that it has waited for: a busy machine does not change it much.
double cpu_s() {
  double spent = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    spent += to_s(usage.ru_utime) + to_s(usage.ru_stime);
  }
  return spent;
}

// Processor seconds for one pass.
template <class Work>
double seconds(Work&& work) {
  const double begin = cpu_s();
  work();
  return cpu_s() - begin;
}

void print_rate(const char* what, std::size_t records, double spent, double touched) {
  std::printf("%-34s %10.2f M/s of processor time, %5.2f of touching\n", what,
              static_cast<double>(records) / spent / 1e6, touched / spent);
}

void bench_scans(const std::string& folder, std::size_t records) {
  auto log = open_store(folder + "/scans");
  log_appends_per_s(*log, 4096, (records + 4095) / 4096, false);
  const auto count = log->read_head()->seq;
  std::uint64_t sum = 0;
  const auto touch = [&](const Record& record) {
    for (const auto byte : record.stored) sum += static_cast<std::uint8_t>(byte);
    return Visit::go_on;
  };
  std::vector<char> raw(count * (kPayload + 100), 'r');
  const double touched = seconds([&] {
    for (const char byte : raw) sum += static_cast<std::uint8_t>(byte);
  });
  print_rate("touching the same bytes in memory", count, touched, touched);
  must(log->scan(1, touch));
  print_rate("scan, checksums verified", count,
             seconds([&] { must(log->scan(1, [&](const Record&) { return Visit::go_on; })); }),
             touched);
  print_rate("scan, bytes touched as well", count, seconds([&] { must(log->scan(1, touch)); }),
             touched);
  print_rate("verify (chain of SHA-256)", count, seconds([&] {
               if (!log->verify(1)->sound) die("not sound");
             }),
             touched);
  log.reset();
  print_rate("open unclean: walk in a child", count,
             seconds([&] { log = open_store(folder + "/scans"); }), touched);
  must(log->close());
  log.reset();
  std::printf("open after close: %.2f ms\n",
              1e3 * seconds([&] { log = open_store(folder + "/scans"); }));
  const auto file = folder + "/export";
  print_rate("export", count, seconds([&] {
               if (!export_records(*log, {}, file)) die("export");
             }),
             touched);
  print_rate("open an export (verifies it)", count, seconds([&] {
               if (!open_export(file)) die("open export");
             }),
             touched);
  std::printf("file: %.1f bytes a record (%zu of payload); sum %llu\n",
              static_cast<double>(std::filesystem::file_size(folder + "/scans/data.mdb")) /
                  static_cast<double>(count),
              kPayload, static_cast<unsigned long long>(sum));
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = std::string(argc > 1 ? argv[1] : "/tmp") + "/datum-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) die("make a folder in " + folder);
  const std::size_t records = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 500'000;
  bench_appends(folder);
  bench_scans(folder, records);
  std::filesystem::remove_all(folder);
  return 0;
}
