#include "store_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "datum/journal/place.hpp"
#include "store_folder.hpp"

namespace datum::journal {

// Between two looks at a lock that others hold.
static constexpr std::int64_t kPauseMs = 20;
static constexpr timespec kPause{0, kPauseMs * 1'000'000};

// Given back at once: a second writer that waits must not take this one for a reader.
static bool is_held_by_readers(int lock) {
  if (::flock(lock, LOCK_SH | LOCK_NB) != 0) return false;
  ::flock(lock, LOCK_UN);
  return true;
}

namespace {

// What one try found: the lock is ours, or who keeps it from us.
enum class Look : std::uint8_t { ours, readers, writer };

Result<Look> look_once(int lock, int operation) {
  while (::flock(lock, operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail(error_from_errno(errno, "lock the store"));
    return is_held_by_readers(lock) ? Look::readers : Look::writer;
  }
  return Look::ours;
}

Result<Look> take_from_readers(int lock, std::int64_t wait_ms) {
  for (std::int64_t waited_ms = 0;; waited_ms += kPauseMs) {
    DATUM_ASSIGN(const Look look, look_once(lock, LOCK_EX));
    if (look != Look::readers || waited_ms >= wait_ms) return look;
    ::nanosleep(&kPause, nullptr);
  }
}

// Everybody comes to the lock through here: the folder's own lock, which a reader holds just long
// enough to take its share of the real one, and a writer for as long as it waits for readers.
// Without it readers that follow one another would keep a writer out for ever.
class Gate {
 public:
  Gate(int folder, std::int64_t wait_ms) : folder_(folder), wait_ms_(wait_ms) {}
  ~Gate() { ::flock(folder_, LOCK_UN); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  [[nodiscard]] Result<Look> enter_writing() const { return take_from_readers(folder_, wait_ms_); }
  // A writer that keeps the gate for longer than it may was stopped there: then past it.
  [[nodiscard]] Status enter_reading() const {
    for (std::int64_t waited_ms = 0; waited_ms <= wait_ms_; waited_ms += kPauseMs) {
      DATUM_ASSIGN(const Look look, look_once(folder_, LOCK_SH));
      if (look == Look::ours) break;
      ::nanosleep(&kPause, nullptr);
    }
    return {};
  }

 private:
  int folder_;
  std::int64_t wait_ms_;
};

}  // namespace

// As /proc/locks writes it: device in hexadecimal, inode in decimal figures.
static std::string kernel_name_of(int lock) {
  struct stat info {};
  std::array<char, 48> text{};
  if (::fstat(lock, &info) != 0) return {};
  const int size = std::snprintf(text.data(), text.size(), "%02x:%02x:%llu", major(info.st_dev),
                                 minor(info.st_dev), static_cast<unsigned long long>(info.st_ino));
  return std::string(text.data(), static_cast<std::size_t>(size));
}

// The process that the kernel lists with this access ("READ", "WRITE") to the lock; 0 where it
// lists none, as for one of another namespace.
static std::int64_t find_holder(int lock, std::string_view wanted_access) {
  const auto wanted = kernel_name_of(lock);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, manner, access, place;
    std::int64_t pid = 0;
    words >> number >> kind >> manner >> access >> pid >> place;
    if (words && kind == "FLOCK" && access == wanted_access && place == wanted) return pid;
  }
  return 0;
}

// Who waits at the gate has not written its pid into the file yet.
static Error in_use_by_writer(int folder, int lock) {
  auto text = std::string("the store is in use: ");
  if (const auto writing = find_holder(lock, "WRITE"); writing != 0)
    text += "process " + std::to_string(writing) + " writes it";
  else if (const auto waiting = find_holder(folder, "WRITE"); waiting != 0)
    text += "process " + std::to_string(waiting) + " waits for its readers, to write it";
  else
    text += "its lock was last taken by process " + std::to_string(lock_holder(folder));
  return {ErrorCode::busy, std::move(text)};
}

// `held`: the lock, or the gate to it.
static Error in_use_by_reader(int held) {
  const auto pid = find_holder(held, "READ");
  return {ErrorCode::busy,
          "the store is in use: " + (pid == 0 ? "a reader" : "process " + std::to_string(pid)) +
              " reads it and did not let go of it"};
}

static Status lock_exclusive(int folder, int lock, std::int64_t wait_ms) {
  const Gate gate(folder, wait_ms);
  DATUM_ASSIGN(const Look entered, gate.enter_writing());
  if (entered == Look::readers) return fail(in_use_by_reader(folder));
  if (entered == Look::writer) return fail(in_use_by_writer(folder, lock));
  DATUM_ASSIGN(const Look taken, take_from_readers(lock, wait_ms));
  if (taken == Look::writer) return fail(in_use_by_writer(folder, lock));
  if (taken == Look::readers) return fail(in_use_by_reader(lock));
  const auto pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock, 0) != 0) return fail(error_from_errno(errno, kWriterLockName));
  return write_all(lock, as_bytes(pid));
}

static Status lock_shared(int folder, int lock, std::int64_t wait_ms) {
  const Gate gate(folder, wait_ms);
  DATUM_TRY(gate.enter_reading());
  DATUM_ASSIGN(const Look taken, look_once(lock, LOCK_SH));
  if (taken != Look::ours) return fail(in_use_by_writer(folder, lock));
  return {};
}

Result<Fd> take_lock(int folder, LockKind kind, std::int64_t reader_wait_ms) {
  const bool is_exclusive = kind == LockKind::exclusive;
  auto opened = open_at(folder, kWriterLockName, is_exclusive ? O_RDWR | O_CREAT : O_RDONLY);
  if (!opened) {
    if (!is_exclusive && opened.error().code() == ErrorCode::not_found) return Fd();
    return fail(std::move(opened).error());
  }
  const int lock = opened->get();
  DATUM_TRY(is_exclusive ? lock_exclusive(folder, lock, reader_wait_ms)
                         : lock_shared(folder, lock, reader_wait_ms));
  return std::move(*opened);
}

static Error held_while_opening(std::int64_t pid) {
  return {ErrorCode::busy,
          "the store is in use: " + (pid == 0 ? "a process" : "process " + std::to_string(pid)) +
              " began to open it and does not go on"};
}

// The process that holds LMDB's lock so that nobody else can open, 0 for one of another namespace;
// nullopt: nobody does.
static Result<std::optional<std::int64_t>> find_lmdb_opener(int lmdb_lock) {
  struct flock wanted {};
  wanted.l_type = F_RDLCK;
  wanted.l_whence = SEEK_SET;
  wanted.l_len = 1;
  if (::fcntl(lmdb_lock, F_GETLK, &wanted) != 0)
    return fail(error_from_errno(errno, "look at the lock of " + std::string(kLmdbLockName)));
  if (wanted.l_type == F_UNLCK) return std::nullopt;
  return std::optional<std::int64_t>(wanted.l_pid);
}

Result<Fd> take_opening_lock(int folder, std::int64_t wait_ms) {
  DATUM_ASSIGN(Fd data, open_at(folder, kDataName, O_RDONLY));
  // None on a disk that is read only: LMDB does without.
  const auto lmdb_lock = open_at(folder, kLmdbLockName, O_RDONLY | O_NONBLOCK);
  std::int64_t pause_ms = 1;
  for (std::int64_t waited_ms = 0;; waited_ms += pause_ms) {
    DATUM_ASSIGN(const Look look, look_once(data.get(), LOCK_EX));
    std::optional<std::int64_t> opener;
    if (lmdb_lock) {
      DATUM_ASSIGN(opener, find_lmdb_opener(lmdb_lock->get()));
    }
    if (look == Look::ours && !opener) return data;
    if (waited_ms >= wait_ms)
      return fail(held_while_opening(opener ? *opener : find_holder(data.get(), "WRITE")));
    pause_ms = std::min(waited_ms + 1, kPauseMs);
    const timespec pause{0, pause_ms * 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

PlaceLock::~PlaceLock() {
  if (folder_ >= 0) ::close(folder_);
}

static Error in_use_in_place(const std::string& folder, int opened) {
  const auto named = [](std::int64_t pid) {
    return pid == 0 ? std::string("a process") : "process " + std::to_string(pid);
  };
  const auto moving = find_holder(opened, "WRITE");
  const auto opening = moving != 0 ? 0 : find_holder(opened, "READ");
  return {ErrorCode::busy,
          folder + ": the store is in use: " +
              (opening != 0 ? named(opening) + " opens it" : named(moving) + " moves it away")};
}

Result<PlaceLock> lock_place(const std::string& folder, PlaceUse use) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0 && (errno == ENOENT || errno == ENOTDIR)) return PlaceLock();
  if (opened < 0) return fail(error_from_errno(errno, "open " + folder));
  PlaceLock lock(opened);
  DATUM_ASSIGN(const Look look, look_once(opened, use == PlaceUse::opening ? LOCK_SH : LOCK_EX));
  if (look == Look::ours) return lock;
  return fail(in_use_in_place(folder, opened));
}

std::int64_t lock_holder(int folder) {
  std::array<char, 24> text{};
  const auto fd = open_at(folder, kWriterLockName, O_RDONLY);
  if (!fd) return 0;
  const auto size = ::pread(fd->get(), text.data(), text.size(), 0);
  std::int64_t pid = 0;
  if (size > 0) std::from_chars(text.data(), text.data() + size, pid);
  return pid;
}

}  // namespace datum::journal
