// What the LMDB store does with its folder, locks, modes and descriptors; the contract itself is in
// the conformance suite.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "datum/journal/log.hpp"
#include "scratch.hpp"
#include "store_walk.hpp"

using namespace datum;
using namespace datum::journal;
using namespace datum::journal::test;

namespace {

std::unique_ptr<Log> open_or_fail(const std::string& folder, OpenMode mode) {
  auto log = open_log(folder, options_for(mode));
  if (!log) FAIL(log.error().message());
  return std::move(*log);
}

Error refusal(const std::string& folder, const OpenOptions& options) {
  const auto log = open_log(folder, options);
  REQUIRE_FALSE(log);
  return log.error();
}

Seq append_some(Log& log, std::size_t count, std::size_t size) {
  const std::string payload(size, 'p');
  Batch batch;
  batch.entries.resize(count);
  for (auto& entry : batch.entries) entry.payload = as_bytes(payload);
  const auto seq = log.append(batch);
  if (!seq) FAIL(seq.error().message());
  return *seq;
}

// Name, size, inode and times of everything in a folder.
std::map<std::string, std::string> look_of(const std::string& folder) {
  std::map<std::string, std::string> look;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat info {};
    REQUIRE(::lstat(entry.path().c_str(), &info) == 0);
    look[entry.path().filename()] =
        std::to_string(info.st_size) + " " + std::to_string(info.st_ino) + " " +
        std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + " " +
        std::to_string(info.st_ctim.tv_sec) + "." + std::to_string(info.st_ctim.tv_nsec);
  }
  return look;
}

// Runs `body` in a child; its exit status.
template <class Body>
int in_child(Body&& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

}  // namespace

TEST_CASE(
    "journal: a missing store is for the owner only, and folders above it are for everybody") {
  Scratch scratch;
  const auto folder = scratch.path("a/b/store");
  const auto old = ::umask(0277);
  auto log = open_log(folder, options_for(OpenMode::create_or_open));
  ::umask(old);
  REQUIRE(log);
  const auto mode_of = [&scratch](const char* name) {
    struct stat info {};
    REQUIRE(::stat(scratch.path(name).c_str(), &info) == 0);
    return info.st_mode & 07777;
  };
  CHECK(mode_of("a") == 0755);
  CHECK(mode_of("a/b") == 0700);
  CHECK(mode_of("a/b/store") == 0700);
  CHECK_FALSE(std::filesystem::exists(folder + "/creating"));
  CHECK_FALSE(std::filesystem::exists(folder + "/clean"));
  REQUIRE((*log)->close());
  CHECK(std::filesystem::exists(folder + "/clean"));
}

TEST_CASE("journal: what a crash left of the birth of a store does not keep it from being born") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  std::filesystem::create_directories(folder + "/creating");
  ::chmod(folder.c_str(), 0700);
  write_file(folder + "/creating/data.mdb", std::vector<char>(5000, 'x'));
  write_file(folder + "/creating/lock.mdb", {'x'});
  const auto log = open_or_fail(folder, OpenMode::create_or_open);
  CHECK(append_some(*log, 1, 1) == 1);
  CHECK_FALSE(std::filesystem::exists(folder + "/creating"));
}

TEST_CASE("journal: a folder or file that others may open is refused with what to do") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  ::chmod(folder.c_str(), 0750);
  auto error = refusal(folder, options_for(OpenMode::open));
  CHECK(error.code() == ErrorCode::refused);
  CHECK(error.message().find("chmod 700") != std::string::npos);
  ::chmod(folder.c_str(), 0700);
  ::chmod((folder + "/data.mdb").c_str(), 0644);
  error = refusal(folder, options_for(OpenMode::open));
  CHECK(error.code() == ErrorCode::refused);
  CHECK(error.message().find("chmod 600") != std::string::npos);
  ::chmod((folder + "/data.mdb").c_str(), 0600);
  open_or_fail(folder, OpenMode::open);
}

TEST_CASE("journal: a data file that is a link is refused, a store behind a linked folder is not") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  std::filesystem::create_directory_symlink(folder, scratch.path("link"));
  CHECK(open_or_fail(scratch.path("link"), OpenMode::open)->read_head()->seq == 3);
  std::filesystem::rename(folder + "/data.mdb", scratch.path("elsewhere"));
  std::filesystem::create_symlink(scratch.path("elsewhere"), folder + "/data.mdb");
  CHECK(refusal(folder, options_for(OpenMode::open)).code() == ErrorCode::refused);
}

TEST_CASE("journal: a second writer is told who the first is, and a dead one's lock is free") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  {
    const auto log = open_or_fail(folder, OpenMode::create_or_open);
    for (const auto mode : {OpenMode::create_or_open, OpenMode::open, OpenMode::read_only}) {
      const auto error = refusal(folder, options_for(mode));
      CHECK(error.code() == ErrorCode::busy);
      CHECK(error.message().find(std::to_string(::getpid())) != std::string::npos);
    }
    CHECK(verify_store(folder, kNoHurryMs).error().code() == ErrorCode::busy);
    CHECK(refusal(folder, options_for(OpenMode::live)).code() == ErrorCode::refused);
  }
  const int status = in_child([&] {
    auto log = open_log(folder, options_for(OpenMode::open));
    if (!log) return 1;
    return ::kill(::getpid(), SIGKILL);
  });
  CHECK(status == 256 + SIGKILL);
  open_or_fail(folder, OpenMode::open);
}

// Whether the process has that file open, its own standard streams aside.
static bool has_open(pid_t pid, const std::string& path) {
  std::error_code gone;  // the process may have ended
  const auto folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& each : std::filesystem::directory_iterator(folder, gone))
    if (std::filesystem::read_symlink(each.path(), gone) == path) return true;
  return false;
}

TEST_CASE("journal: a writer waits for a reader that looks at the store, and then has it") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  const auto lock_path = std::filesystem::canonical(folder).string() + "/writer.lock";
  const int reader = ::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(reader >= 0);
  REQUIRE(::flock(reader, LOCK_SH) == 0);
  const pid_t writer = ::fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {
    ::close(reader);
    ::_exit(open_log(folder, options_for(OpenMode::open)) ? 0 : 1);
  }
  // It has the file open while it waits; a writer that gave up has ended, and is seen by its
  // status.
  while (!has_open(writer, lock_path) && ::kill(writer, 0) == 0) {
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(writer), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
    if (ended.si_pid == writer) break;
  }
  ::close(reader);
  int status = -1;
  REQUIRE(::waitpid(writer, &status, 0) == writer);
  CHECK(status == 0);
}

TEST_CASE("journal: while a writer waits, no further reader is let in before it") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  const auto real = std::filesystem::canonical(folder).string();
  const int reader = ::open((real + "/writer.lock").c_str(), O_RDONLY | O_CLOEXEC);
  const int gate = ::open(real.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(reader >= 0);
  REQUIRE(gate >= 0);
  REQUIRE(::flock(reader, LOCK_SH) == 0);
  const pid_t writer = ::fork();
  REQUIRE(writer >= 0);
  if (writer == 0) {
    ::close(reader);
    ::close(gate);
    ::_exit(open_log(folder, options_for(OpenMode::open)) ? 0 : 1);
  }
  // The writer waits once the gate is shut; one that ended would never shut it.
  while (::flock(gate, LOCK_SH | LOCK_NB) == 0) {
    ::flock(gate, LOCK_UN);
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(writer), &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
    REQUIRE(ended.si_pid == 0);
  }
  auto impatient = options_for(OpenMode::open);
  impatient.reader_wait_ms = 40;
  // A second writer does not wait, and is told of the first.
  CHECK(refusal(folder, impatient).message().find("process " + std::to_string(writer) + " waits") !=
        std::string::npos);
  ::close(gate);
  ::close(reader);
  int status = -1;
  REQUIRE(::waitpid(writer, &status, 0) == writer);
  CHECK(status == 0);
}

TEST_CASE("journal: a reader that stands still at the gate is named to who wants to write") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  const int gate = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(gate >= 0);
  REQUIRE(::flock(gate, LOCK_SH) == 0);
  auto impatient = options_for(OpenMode::open);
  impatient.reader_wait_ms = 40;
  CHECK(refusal(folder, impatient)
            .message()
            .find("process " + std::to_string(::getpid()) + " reads it") != std::string::npos);
  ::close(gate);
}

TEST_CASE("journal: who stands still while opening the store is named to who wants to open it") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  const int data = ::open((folder + "/data.mdb").c_str(), O_RDONLY | O_CLOEXEC);
  const int lmdb_lock = ::open((folder + "/lock.mdb").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE((data >= 0 && lmdb_lock >= 0));
  // Ours, and LMDB's own, as a program holds it that does not know of ours.
  const auto hold_ours = [&] { return ::flock(data, LOCK_EX); };
  const auto hold_lmdb = [&] {
    struct flock first_byte {};
    first_byte.l_type = F_WRLCK;
    first_byte.l_len = 1;
    return ::fcntl(lmdb_lock, F_SETLK, &first_byte);
  };
  for (const auto& hold : std::initializer_list<std::function<int()>>{hold_ours, hold_lmdb}) {
    std::array<int, 2> held{};
    REQUIRE(::pipe2(held.data(), O_CLOEXEC) == 0);
    const ::pid_t opener = ::fork();
    REQUIRE(opener >= 0);
    if (opener == 0) {
      const char told = hold() == 0 ? 'y' : 'n';
      if (::write(held[1], &told, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char told = 0;
    REQUIRE(::read(held[0], &told, 1) == 1);
    REQUIRE(told == 'y');
    for (const auto mode : {OpenMode::live, OpenMode::open}) {
      auto impatient = options_for(mode);
      impatient.reader_wait_ms = 40;
      const auto refused = refusal(folder, impatient);
      CHECK(refused.code() == ErrorCode::busy);
      CHECK(refused.message().find("process " + std::to_string(opener) + " began to open it") !=
            std::string::npos);
    }
    ::kill(opener, SIGKILL);
    REQUIRE(::waitpid(opener, nullptr, 0) == opener);
    ::flock(data, LOCK_UN);
    for (const int end : held) ::close(end);
    CHECK(open_or_fail(folder, OpenMode::open)->read_head()->seq == 3);
  }
  ::close(data);
  ::close(lmdb_lock);
}

TEST_CASE("journal: what LMDB's lock file leads to elsewhere is never opened [S03]") {
  for (const bool is_link : {true, false}) {
    Scratch scratch;
    const auto folder = scratch.path("store");
    make_store(folder, 3);
    const auto victim = scratch.path("victim");
    const std::vector<char> words{'t', 'h', 'e', 'i', 'r', 's'};
    write_file(victim, words);
    std::filesystem::remove(folder + "/lock.mdb");
    if (is_link)
      std::filesystem::create_symlink(victim, folder + "/lock.mdb");
    else
      std::filesystem::create_hard_link(victim, folder + "/lock.mdb");
    for (const auto mode : {OpenMode::live, OpenMode::open}) {
      const auto refused = refusal(folder, options_for(mode));
      CHECK(refused.code() == ErrorCode::refused);
      CHECK(refused.message().find("lock.mdb is ") != std::string::npos);
    }
    CHECK(open_or_fail(folder, OpenMode::read_only)->read_head()->seq == 3);
    CHECK(read_file(victim) == words);
    std::filesystem::remove(folder + "/lock.mdb");
    open_or_fail(folder, OpenMode::open);
  }
}

TEST_CASE("journal: an emptied lock file is no lock and no obstacle") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 1);
  write_file(folder + "/writer.lock", {});
  const auto log = open_or_fail(folder, OpenMode::open);
  CHECK(refusal(folder, options_for(OpenMode::open)).code() == ErrorCode::busy);
}

TEST_CASE("journal: reading a closed store or a copy writes no byte and keeps writers out") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 100);
  const auto before = look_of(folder);
  {
    const auto log = open_or_fail(folder, OpenMode::read_only);
    std::string error;
    CHECK_FALSE(transcript(*log, error).empty());
    CHECK(error.empty());
    CHECK(log->append({{Entry{}}, {}, {}, {}}).error().code() == ErrorCode::read_only);
    CHECK(log->remove_before(2).error().code() == ErrorCode::read_only);
    CHECK(log->verify(1)->sound);
    auto impatient = options_for(OpenMode::open);
    impatient.reader_wait_ms = 40;
    const auto refused = refusal(folder, impatient);
    CHECK(refused.code() == ErrorCode::busy);
    CHECK(refused.message().find("process " + std::to_string(::getpid()) + " reads it") !=
          std::string::npos);
    REQUIRE(log->close());
  }
  CHECK(look_of(folder) == before);
  std::filesystem::create_directory(scratch.path("copy"));
  std::filesystem::copy_file(folder + "/data.mdb", scratch.path("copy/data.mdb"));
  const auto copy_before = look_of(scratch.path("copy"));
  CHECK(open_or_fail(scratch.path("copy"), OpenMode::read_only)->read_head()->seq == 100);
  CHECK(verify_store(scratch.path("copy"), kNoHurryMs)->sound);
  CHECK(look_of(scratch.path("copy")) == copy_before);
}

TEST_CASE("journal: an index that a store of before it lacks is empty for a reader that names it") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 3);
  auto options = options_for(OpenMode::read_only);
  options.indexes.push_back("units");
  const auto log = open_log(folder, options);
  REQUIRE(log);
  CHECK((*log)->find("units", "nginx", 1, 10)->empty());
  CHECK((*log)->find("other", "nginx", 1, 10).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("journal: another process of the owner reads beside the writer and follows it") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  int ready[2];
  int go[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(go) == 0);
  // The child must be forked before this process opens the environment.
  const pid_t pid = ::fork();
  if (pid == 0) {
    char byte = 0;
    if (::read(go[0], &byte, 1) != 1) ::_exit(1);
    auto log = open_log(folder, options_for(OpenMode::live));
    if (!log) ::_exit(2);
    if ((*log)->read_head()->seq != 5) ::_exit(3);
    if (::write(ready[1], "r", 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(4);
    const auto head = (*log)->read_head();
    if (!head || head->seq != 5 + 2000) ::_exit(5);
    Seq count = 0;
    const auto scanned = (*log)->scan(1, [&](const Record&) { return ++count, Visit::go_on; });
    if (!scanned || count != head->seq) ::_exit(6);
    if ((*log)->append({{Entry{}}, {}, {}, {}}).error().code() != ErrorCode::read_only) ::_exit(7);
    if ((*log)->level() != 2) ::_exit(8);
    ::_exit(0);
  }
  auto options = options_for(OpenMode::create_or_open);
  options.map_bytes = 1 << 20;
  auto first = open_log(folder, options);
  REQUIRE(first);
  first->reset();
  options.level = 2;
  auto log = open_log(folder, options);
  REQUIRE(log);
  append_some(**log, 5, 10);
  char byte = 0;
  REQUIRE(::write(go[1], "g", 1) == 1);
  const auto told = ::read(ready[0], &byte, 1);
  // The child mapped 1 GiB, this process less: both follow each other's maps.
  if (told == 1) {
    REQUIRE((*log)->append({{}, {}, {}, 2}));
    append_some(**log, 2000, 3000);
  }
  CHECK(::write(go[1], "g", 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WEXITSTATUS(status) == 0);
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
}

TEST_CASE("journal: no descriptor of an open store is inherited by a program") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  const auto log = open_or_fail(folder, OpenMode::create_or_open);
  append_some(*log, 1, 1);
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.rfind(folder, 0) != 0) continue;
    ++seen;
    INFO(target);
    CHECK((::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(seen >= 4);
}

TEST_CASE("journal: ten thousand programs started between writes leave the store sound [L09]") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  constexpr int kSpawns = 10'000;
  {
    const auto log = open_or_fail(folder, OpenMode::create_or_open);
    std::thread spawner([] {
      const char* argv[] = {"/bin/true", nullptr};
      char* none[] = {nullptr};
      for (int i = 0; i < kSpawns; ++i) {
        pid_t pid = 0;
        if (::posix_spawn(&pid, argv[0], nullptr, nullptr, const_cast<char**>(argv), none) != 0)
          ::abort();
        int status = 0;
        if (::waitpid(pid, &status, 0) != pid || status != 0) ::abort();
      }
    });
    std::atomic<bool> is_done{false};
    std::thread watcher([&] {
      spawner.join();
      is_done = true;
    });
    Seq last = 0;
    while (!is_done) last = append_some(*log, 3, 500);
    watcher.join();
    CHECK(last > 3);
    CHECK(log->verify(1)->sound);
    REQUIRE(log->close());
  }
  const auto found = verify_store(folder, kNoHurryMs);
  REQUIRE(found);
  CHECK(found->sound);
}

TEST_CASE("journal: the map grows while readers read") {
  Scratch scratch;
  auto options = options_for(OpenMode::create_or_open);
  options.map_bytes = 1 << 20;
  auto log = open_log(scratch.path("store"), options);
  REQUIRE(log);
  auto reader = (*log)->make_reader();
  REQUIRE(reader);
  bool is_good = true;
  std::thread reading([&] {
    for (Seq seen = 0; seen < 3000;) {
      seen = 0;
      const auto scanned = (*reader)->scan(1, [&](const Record& record) {
        is_good = is_good && record.payload.size() == 60'000;
        return ++seen, Visit::go_on;
      });
      is_good = is_good && scanned.has_value();
      (*reader)->release_memory();
    }
  });
  for (int i = 0; i < 30; ++i) append_some(**log, 100, 60'000);
  reading.join();
  CHECK(is_good);
  CHECK((*log)->verify(1)->sound);
}

TEST_CASE("journal: until the mark of an orderly end lies there nobody else gets the store") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  auto options = options_for(OpenMode::create_or_open);
  std::vector<ErrorCode> refusals;
  bool is_closing = false;
  options.crash_point = [&](std::string_view, const Head&) {
    if (!is_closing) return;
    auto other = options_for(OpenMode::open);
    other.reader_wait_ms = 0;
    const auto opened = open_log(folder, other);
    refusals.push_back(opened ? ErrorCode::internal : opened.error().code());
  };
  auto log = open_log(folder, options);
  REQUIRE(log);
  append_some(**log, 3, 10);
  is_closing = true;
  REQUIRE((*log)->close());
  CHECK(refusals.size() >= 3);  // before the mark's bytes, its name, and the sync of that
  CHECK(std::count(refusals.begin(), refusals.end(), ErrorCode::busy) ==
        static_cast<std::ptrdiff_t>(refusals.size()));
  CHECK(std::filesystem::exists(folder + "/clean"));
  open_or_fail(folder, OpenMode::open);
}

TEST_CASE(
    "journal: after a commit that failed the log appends nothing more, and a reopened one does") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  {
    const auto log = open_or_fail(folder, OpenMode::create_or_open);
    append_some(*log, 10, 100);
    rlimit old{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
    // Stands for a disk that takes no more: writes beyond the end fail.
    rlimit narrow = old;
    narrow.rlim_cur = std::filesystem::file_size(folder + "/data.mdb");
    ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &narrow) == 0);
    Batch batch;
    batch.entries.resize(100);
    const std::string payload(5000, 'p');
    for (auto& entry : batch.entries) entry.payload = as_bytes(payload);
    const auto failed = log->append(batch);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
    ::signal(SIGXFSZ, SIG_DFL);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == ErrorCode::io_error);
    CHECK(log->append(batch).error().code() == ErrorCode::unavailable);
    CHECK(log->reserve(1).error().code() == ErrorCode::unavailable);
    CHECK(log->read_head()->seq == 10);
    REQUIRE(log->close());
    CHECK_FALSE(std::filesystem::exists(folder + "/clean"));
  }
  const auto log = open_or_fail(folder, OpenMode::open);
  CHECK(log->verify(1)->sound);
  CHECK(append_some(*log, 1, 1) == 11);
}

TEST_CASE(
    "journal: a store that needs a walk and gets no time for it is timed out and not touched") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 10);
  auto options = options_for(OpenMode::open);
  options.walk_limit_ms = 0;
  // Closed in order: no walk is needed.
  { REQUIRE(open_log(folder, options)); }
  const auto before = look_of(folder);
  CHECK(refusal(folder, options).code() == ErrorCode::timed_out);
  auto after = look_of(folder);
  after["writer.lock"] = before.at("writer.lock");
  CHECK(after == before);
  options.walk_limit_ms = kNoHurryMs;
  CHECK(open_log(folder, options));
}

TEST_CASE("journal: a newer level is refused in words and nothing is changed [L15]") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  auto options = options_for(OpenMode::create_or_open);
  options.level = 3;
  {
    auto log = open_log(folder, options);
    REQUIRE(log);
    REQUIRE((*log)->close());
  }
  const auto before = read_file(folder + "/data.mdb");
  options.level = 2;
  const auto error = refusal(folder, options);
  CHECK(error.code() == ErrorCode::unsupported_version);
  CHECK(error.message().find("level 3") != std::string::npos);
  CHECK(read_file(folder + "/data.mdb") == before);
  CHECK(std::filesystem::exists(folder + "/clean"));
}

TEST_CASE("journal: the walk begins at the checkpoint, and reading finds what lies before it") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  make_store(folder, 200);
  {
    const auto log = open_or_fail(folder, OpenMode::open);
    Batch batch;
    Bytes checkpoint(8);
    store_le<std::uint64_t>(checkpoint.data(), 150);
    batch.meta.push_back({std::string(kCheckpointMeta), checkpoint});
    REQUIRE(log->append(batch));
  }
  auto bytes = read_file(folder + "/data.mdb");
  const std::string needle = "record 17 ";
  const auto at = std::search(bytes.begin(), bytes.end(), needle.begin(), needle.end());
  REQUIRE(at != bytes.end());
  for (auto place = at; place != bytes.end();
       place = std::search(place + 1, bytes.end(), needle.begin(), needle.end()))
    *place = 'R';
  write_file(folder + "/data.mdb", bytes);
  const auto log = open_or_fail(folder, OpenMode::open);
  Seq last = 0;
  const auto scanned = log->scan(1, [&](const Record& record) {
    last = record.seq;
    return Visit::go_on;
  });
  REQUIRE_FALSE(scanned);
  CHECK(scanned.error().message() == "record 17: payload checksum differs");
  CHECK(last == 16);
  const auto verified = log->verify(1);
  REQUIRE(verified);
  CHECK_FALSE(verified->sound);
  CHECK(verified->bad_seq == 17);
  CHECK(log->verify(100)->sound);
}

TEST_CASE(
    "journal: many random batches, removals and reopenings leave a store that the walk accepts") {
  Scratch scratch;
  const auto folder = scratch.path("store");
  std::uint64_t state = 7;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 25; ++round) {
    const auto log = open_or_fail(folder, OpenMode::create_or_open);
    for (int i = 0; i < 8; ++i) {
      std::vector<std::string> texts;
      texts.reserve(4096);
      Batch batch;
      for (auto count = draw(i == 0 ? 600 : 20); count > 0; --count) {
        const auto& payload = texts.emplace_back(draw(10) == 0 ? draw(30'000) : draw(300), 'x');
        const auto& key = texts.emplace_back("key " + std::to_string(draw(900)));
        Entry entry;
        entry.payload = as_bytes(payload);
        entry.keys = {{"targets", key}, {"passes", key}};
        batch.entries.push_back(entry);
      }
      for (int put = 0; put < 20; ++put)
        batch.projections.push_back({"p" + std::to_string(draw(500)), Bytes(draw(6000))});
      batch.meta.push_back({"m" + std::to_string(draw(50)), Bytes(draw(300))});
      REQUIRE(log->append(batch));
    }
    if (draw(3) == 0) {
      const auto head = *log->read_head();
      REQUIRE(log->remove_before(head.first + draw(head.seq - head.first + 1)));
    }
    if (draw(2) == 0) REQUIRE(log->close());
  }
  const auto found = verify_store(folder, kNoHurryMs);
  REQUIRE(found);
  INFO(found->problem);
  CHECK(found->sound);
}
