#include "store_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace datum::program {

// LMDB writes the page that ends a commit, which is what wakes us, and then tells its readers so in
// shared memory: who looks between the two sees the commit before. So each write is followed by one
// more look, long after that.
constexpr int kSettleMs = 100;

StoreWatch::StoreWatch(StoreWatch&& other) noexcept
    : file_(std::move(other.file_)),
      device_(other.device_),
      inode_(other.inode_),
      events_(std::exchange(other.events_, -1)),
      signals_(std::exchange(other.signals_, -1)) {}

StoreWatch::~StoreWatch() {
  if (events_ >= 0) ::close(events_);
  if (signals_ >= 0) ::close(signals_);
}

Result<StoreWatch> StoreWatch::open(const std::string& store_folder) {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  if (::sigprocmask(SIG_BLOCK, &stops, nullptr) != 0)
    return fail(error_from_errno(errno, "block signals"));
  const auto folder = store_folder + "/journal";
  StoreWatch watch(folder + "/data.mdb", ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
                   ::signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK));
  if (watch.events_ < 0 || watch.signals_ < 0) return fail(error_from_errno(errno, "watch"));
  DATUM_TRY(watch.watch(folder));
  return watch;
}

// A compaction may exchange both folders between two of these steps: then what is watched is not
// what has the name, and it is watched anew.
Status StoreWatch::watch(const std::string& folder) {
  constexpr int kMostTries = 100;
  constexpr std::uint32_t kOfFile = IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
  constexpr std::uint32_t kOfFolder = IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR;
  for (int tries = 0; tries < kMostTries; ++tries) {
    struct stat before {};
    struct stat after {};
    if (::stat(file_.c_str(), &before) != 0) return fail(error_from_errno(errno, "watch " + file_));
    const int of_folder = ::inotify_add_watch(events_, folder.c_str(), kOfFolder);
    const int of_file = ::inotify_add_watch(events_, file_.c_str(), kOfFile);
    const int reason = errno;
    const bool is_same = ::stat(file_.c_str(), &after) == 0 && after.st_dev == before.st_dev &&
                         after.st_ino == before.st_ino;
    device_ = before.st_dev;
    inode_ = before.st_ino;
    if (is_same && of_folder >= 0 && of_file >= 0) return {};
    if (is_same) return fail(error_from_errno(reason, "watch " + file_));
    ::inotify_rm_watch(events_, of_folder);
    ::inotify_rm_watch(events_, of_file);
  }
  return fail(ErrorCode::conflict, file_ + ": it is replaced again and again");
}

// A file whose last name went tells so by its attributes: an open reader keeps it alive. After a
// compaction another one has its name.
bool StoreWatch::is_gone(std::uint32_t mask) const {
  if ((mask & IN_DELETE_SELF) != 0) return true;
  if ((mask & (IN_ATTRIB | IN_MOVE_SELF)) == 0) return false;
  struct stat info {};
  return ::stat(file_.c_str(), &info) != 0 || info.st_dev != device_ || info.st_ino != inode_;
}

Result<StoreWatch::Woken> StoreWatch::wait() {
  std::array<pollfd, 2> polled{pollfd{events_, POLLIN, 0}, pollfd{signals_, POLLIN, 0}};
  int ready = 0;
  while ((ready = ::poll(polled.data(), polled.size(), settling_ ? kSettleMs : -1)) < 0)
    if (errno != EINTR) return fail(error_from_errno(errno, "wait for the store"));
  settling_ = ready != 0;
  if (ready == 0) return Woken::written;
  if (polled[1].revents != 0) return Woken::stopped;
  auto woken = Woken::written;
  alignas(inotify_event) std::array<char, 4096> buffer{};
  for (;;) {
    const auto size = ::read(events_, buffer.data(), buffer.size());
    if (size <= 0) return woken;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      if (is_gone(event.mask)) woken = Woken::gone;
      at += sizeof event + event.len;
    }
  }
}

}  // namespace datum::program
