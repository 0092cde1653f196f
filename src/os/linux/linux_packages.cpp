// apt over dpkg: the database is read as files, the rest is asked of apt itself.
#include "datum/os_linux/linux_packages.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "datum/os/apt.hpp"

namespace datum::os_linux {

namespace {

// Resolving a transaction over a hundred thousand packages takes seconds; a full disk cache more.
constexpr std::int64_t kSimulationNs = 120 * kNsPerSecond;
// Some 100 bytes a package, for the largest upgrades.
constexpr std::size_t kSimulationBytes = 4U << 20U;

// In the order in which a run takes them.
constexpr std::array kLocks{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                            "/var/cache/apt/archives/lock", "/var/lib/apt/lists/lock"};

std::int64_t mtime_ns(const std::string& path) {
  struct stat stat {};
  if (::stat(path.c_str(), &stat) != 0) return 0;
  return stat.st_mtim.tv_sec * kNsPerSecond + stat.st_mtim.tv_nsec;
}

// Of the folder and of what lies in it.
std::int64_t newest_in(const std::string& folder) {
  auto newest = mtime_ns(folder);
  auto* const opened = ::opendir(folder.c_str());
  if (opened == nullptr) return newest;
  while (const auto* entry = ::readdir(opened)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    newest = std::max(newest, mtime_ns(folder + "/" + entry->d_name));
  }
  ::closedir(opened);
  return newest;
}

std::string program_of(std::int64_t pid) {
  const auto path = "/proc/" + std::to_string(pid) + "/comm";
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::array<char, 64> name{};  // the kernel's limit is 16
  const auto count = ::read(descriptor, name.data(), name.size());
  ::close(descriptor);
  std::string text(name.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// A lock is somebody's hold on a file, not the file itself.
std::optional<os::LockHolder> holder_of(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return {};
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const int asked = ::fcntl(descriptor, F_GETLK, &lock);
  ::close(descriptor);
  if (asked != 0 || lock.l_type == F_UNLCK) return {};
  os::LockHolder holder;
  holder.pid = lock.l_pid;
  holder.lock = path;
  if (lock.l_pid > 0) holder.program = program_of(lock.l_pid);
  return holder;
}

bool exists(const std::string& path) {
  struct stat stat {};
  return ::stat(path.c_str(), &stat) == 0;
}

class AptTools final : public os::PackageTools {
 public:
  AptTools(os::Files& files, std::string root) : files_(files), root_(std::move(root)) {}

  std::optional<std::string> find_absence() override {
    // A lost database is none that has no packages: reading it fails, and says so.
    if (!exists("/usr/bin/apt-get") || !exists(below("/var/lib/dpkg")))
      return "neither apt nor another package manager that Datum knows is here";
    return {};
  }

  Result<os::PackageBook> read() override {
    DATUM_ASSIGN(const auto root, files_.open_root(root_));
    return os::read_dpkg(files_, root);
  }

  Result<os::Foresight> simulate(const os::PackageOrder& order,
                                 const os::RunChild& run_child) override {
    if (!run_child) return fail(ErrorCode::unavailable, "no child can be run here");
    DATUM_ASSIGN(const auto book, read());
    auto tool = os::apt_simulation(root_, order);
    loop::ChildOptions child;
    child.argv = std::move(tool.argv);
    child.environment = std::move(tool.environment);
    child.timeout_ns = kSimulationNs;
    child.output_limit = kSimulationBytes;
    DATUM_ASSIGN(const auto ended, run_child(child));
    if (ended.timed_out || ended.signal != 0)
      return fail(ErrorCode::timed_out, "apt-get -s came to no end");
    // What is missing in the middle could be what nobody named.
    if (ended.output_left_out != 0)
      return fail(ErrorCode::limit_exceeded, "apt-get -s says more than can be judged");
    return os::read_simulation(ended.output, ended.exit_status == 0, book.native_architecture());
  }

  bool lists_are_older() override {
    const auto sources = std::max(mtime_ns(below("/etc/apt/sources.list")),
                                  newest_in(below("/etc/apt/sources.list.d")));
    const auto lists = std::max(mtime_ns(below("/var/lib/apt/lists")),
                                mtime_ns(below("/var/lib/apt/lists/partial")));
    return sources > lists;
  }

  std::optional<os::LockHolder> find_lock_holder() override {
    for (const auto* lock : kLocks)
      if (auto holder = holder_of(below(lock))) return holder;
    return {};
  }

  std::vector<std::string> find_conffile_leftovers(const os::InstalledPackage& package) override {
    std::vector<std::string> found;
    auto rest = package.conffiles;
    while (!rest.empty()) {
      const auto end = std::min(rest.find('\n'), rest.size());
      auto line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const auto begin = line.find('/');
      if (begin == std::string_view::npos) continue;
      line.remove_prefix(begin);
      const std::string path(line.substr(0, line.find(' ')));
      const auto beside = path + ".dpkg-dist";
      if (exists(below(beside))) found.push_back(beside);
    }
    return found;
  }

  os::Tool transaction(const os::PackageOrder& order) override {
    return os::apt_transaction(root_, order);
  }
  os::Tool refresh() override { return os::apt_refresh(root_); }
  os::Tool finish_interrupted(bool replace_conffiles) override {
    return os::dpkg_configure(root_, replace_conffiles);
  }
  os::Tool hold(const std::vector<std::string>& names, bool held) override {
    return os::apt_hold(root_, names, held);
  }

 private:
  [[nodiscard]] std::string below(const std::string& path) const {
    return root_ == "/" ? path : root_ + path;
  }

  os::Files& files_;
  std::string root_;
};

}  // namespace

std::unique_ptr<os::PackageTools> make_package_tools(os::Files& files, std::string root) {
  return std::make_unique<AptTools>(files, std::move(root));
}

}  // namespace datum::os_linux
