// Loaded into `datum-host` by a test (LD_PRELOAD): sees which records each commit of the journal
// holds, by the pages that LMDB writes (docs/formats/journal.md), and ends the process right before
// or right after the one that has the NUMBERth record of KIND of this process: COMMIT=before KIND
// NUMBER, or after. It leaves the file that DIED_FILE names; with HELD it stays there instead, so
// that the whole machine can be ended. COMMIT_LOG gets a line for each commit: sequence, kind and
// number of its last record.
// Under both names of pwrite: programs and libraries may differ in which one they call.
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace {

constexpr off_t kMetaPages = 8192;  // two pages of 4 KiB; a write to one of them is the commit
constexpr std::size_t kHeader = 96;

template <class Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::int64_t boot_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// All of it on the one thread that commits.
struct Commits {
  std::int64_t begun = boot_now();               // records from before are not of this process
  std::map<std::uint64_t, std::uint16_t> fresh;  // sequence → kind, written and not committed
  std::uint64_t committed = 0;
  std::map<std::uint16_t, int> counts;

  void see(std::string_view bytes) {
    for (std::size_t at = 0; at + kHeader <= bytes.size(); at += 8) {
      const char* record = bytes.data() + at;
      if (std::memcmp(record, "DTJ1", 4) != 0) continue;
      // Four bytes may be anything's: the fields around them have to be a record's of this process.
      constexpr std::uint32_t kMostPayload = 65536;
      if (load<std::uint16_t>(record + 10) != 0 ||
          load<std::uint32_t>(record + 12) > kMostPayload ||
          load<std::int64_t>(record + 48) > boot_now())
        continue;
      const auto sequence = load<std::uint64_t>(record + 16);
      if (sequence > committed && load<std::int64_t>(record + 48) >= begun)
        fresh.emplace(sequence, load<std::uint16_t>(record + 6));
    }
  }
};
Commits& commits() {
  static Commits all;
  return all;
}

void die() {
  if (const char* path = ::getenv("DIED_FILE"); path != nullptr)
    static_cast<void>(::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (::getenv("HELD") != nullptr)
    for (;;) ::pause();
  ::kill(::getpid(), SIGKILL);
}

struct Moment {
  std::string side;
  int kind = -1, number = 0;
};
Moment wanted() {
  Moment moment;
  const char* text = ::getenv("COMMIT");
  std::array<char, 8> side{};
  if (text != nullptr &&
      std::sscanf(text, "%7s %d %d", side.data(), &moment.kind, &moment.number) == 3)
    moment.side = side.data();
  return moment;
}

// What the commit that is about to be made brings: whether the wanted record is in it.
bool count_fresh(const Moment& moment, std::string& line) {
  auto& all = commits();
  bool found = false;
  for (const auto& [sequence, kind] : all.fresh) {
    const int number = ++all.counts[kind];
    found = found || (kind == moment.kind && number == moment.number);
    line = std::to_string(sequence) + " " + std::to_string(kind) + " " + std::to_string(number);
    all.committed = sequence;
  }
  all.fresh.clear();
  return found;
}

void log_commit(const std::string& line) {
  const char* path = ::getenv("COMMIT_LOG");
  if (path == nullptr || line.empty()) return;
  if (std::FILE* out = std::fopen(path, "ae"); out != nullptr) {
    std::fprintf(out, "%s\n", line.c_str());
    std::fclose(out);
  }
}

bool is_journal(int file) {
  std::array<char, 512> path{};
  const auto link = "/proc/self/fd/" + std::to_string(file);
  const auto length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 && std::string_view(path.data(), static_cast<std::size_t>(length))
                           .ends_with("/journal/data.mdb");
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

ssize_t write_at(const char* name, int file, const void* data, std::size_t size, off_t place) {
  const auto write = real<ssize_t (*)(int, const void*, std::size_t, off_t)>(name);
  if (!is_journal(file)) return write(file, data, size, place);
  if (place >= kMetaPages) {
    commits().see({static_cast<const char*>(data), size});
    return write(file, data, size, place);
  }
  const auto moment = wanted();
  std::string line;
  const bool found = count_fresh(moment, line);
  if (found && moment.side == "before") die();
  const auto written = write(file, data, size, place);
  log_commit(line);
  if (found && moment.side == "after") die();
  return written;
}

void see_all(int file, const iovec* parts, int count) {
  if (!is_journal(file)) return;
  for (int part = 0; part < count; ++part)
    commits().see({static_cast<const char*>(parts[part].iov_base), parts[part].iov_len});
}

[[gnu::constructor]] void begin() {
  static_cast<void>(commits());
}

}  // namespace

extern "C" {

ssize_t pwrite(int file, const void* data, std::size_t size, off_t place) {
  return write_at("pwrite", file, data, size, place);
}
ssize_t pwrite64(int file, const void* data, std::size_t size, off_t place) {
  return write_at("pwrite64", file, data, size, place);
}
ssize_t writev(int file, const iovec* parts, int count) {
  see_all(file, parts, count);
  return real<ssize_t (*)(int, const iovec*, int)>("writev")(file, parts, count);
}
ssize_t pwritev(int file, const iovec* parts, int count, off_t place) {
  see_all(file, parts, count);
  return real<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev")(file, parts, count, place);
}
}
