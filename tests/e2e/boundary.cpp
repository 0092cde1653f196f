// Loaded into `datum` by a test (LD_PRELOAD): counts, over all threads, the calls that lie between
// one step of a pass and the next (syncs, renames, messages to the service manager), and ends the
// process right before the one that BOUNDARY names; or holds it there, with HELD_FILE made, until
// that file goes or the whole machine ends. Without BOUNDARY it only counts, and writes the number
// to COUNT_FILE. DEADLY_NAME ends the process right before a file gets that name, DEADLY_TURN the
// how manieth time.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};

void come_to_boundary(const char* name) {
  const long now = ++calls;
  const char* wanted = ::getenv("BOUNDARY");
  if (wanted == nullptr || std::atol(wanted) != now) return;
  if (const char* path = ::getenv("HELD_FILE"); path != nullptr) {
    const int held = ::open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    static_cast<void>(::dprintf(held, "%s\n", name));
    constexpr int kLookMs = 10;
    while (::access(path, F_OK) == 0) ::poll(nullptr, 0, kLookMs);
    return;
  }
  ::kill(::getpid(), SIGKILL);
}

void come_to_name(const char* name) {
  static std::atomic<long> turns{0};
  const char* wanted = ::getenv("DEADLY_NAME");
  if (wanted == nullptr || std::strcmp(name, wanted) != 0) return;
  const char* turn = ::getenv("DEADLY_TURN");
  if (++turns == (turn == nullptr ? 1 : std::atol(turn))) ::kill(::getpid(), SIGKILL);
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

struct Counted {
  ~Counted() {
    const char* path = ::getenv("COUNT_FILE");
    if (path == nullptr) return;
    if (std::FILE* out = std::fopen(path, "w"); out != nullptr) {
      std::fprintf(out, "%ld\n", calls.load());
      std::fclose(out);
    }
  }
} counted;

}  // namespace

extern "C" {

int fdatasync(int file) {
  come_to_boundary("fdatasync");
  return real<int (*)(int)>("fdatasync")(file);
}
int fsync(int file) {
  come_to_boundary("fsync");
  return real<int (*)(int)>("fsync")(file);
}
int syncfs(int file) noexcept {
  come_to_boundary("syncfs");
  return real<int (*)(int)>("syncfs")(file);
}
int renameat2(int from, const char* old_name, int to, const char* new_name,
              unsigned int flags) noexcept {
  come_to_boundary("renameat2");
  come_to_name(new_name);
  using Call = int (*)(int, const char*, int, const char*, unsigned int);
  return real<Call>("renameat2")(from, old_name, to, new_name, flags);
}
ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  come_to_boundary("sendmsg");
  return real<ssize_t (*)(int, const msghdr*, int)>("sendmsg")(socket, message, flags);
}
}
