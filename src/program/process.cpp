#include "datum/program/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace datum::program {

void drop_dangerous_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    for (const char* prefix : {"LD_", "OPENSSL_", "GIT_", "UV_", "AUGEAS_"})
      if (text.rfind(prefix, 0) == 0) names.push_back(text.substr(0, text.find('=')));
  }
  for (const auto& name : names) ::unsetenv(name.c_str());
}

bool hold_standard_streams() {
  for (int wanted = 0; wanted <= 2; ++wanted)
    if (::fcntl(wanted, F_GETFD) < 0 && ::open("/dev/null", O_RDWR | O_NOCTTY) != wanted)
      return false;
  return true;
}

void forbid_core_dumps() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = 0;
  ::setrlimit(RLIMIT_CORE, &limit);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

std::string take_descriptors() {
  // With fewer the loop, the store or a pass fails somewhere in the middle.
  constexpr rlim_t kNeeded = 64;
  constexpr rlim_t kUsual = 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "the limit of open files cannot be asked for";
  if (limit.rlim_cur < kUsual) {
    limit.rlim_cur = std::min(kUsual, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= kNeeded) return {};
  return std::to_string(limit.rlim_cur) + " open files are allowed (ulimit -n), " +
         std::to_string(kNeeded) + " are needed";
}

void survive_full_files() {
  std::signal(SIGXFSZ, SIG_IGN);
}

void survive_lost_peers() {
  std::signal(SIGPIPE, SIG_IGN);
}

// "DEVICE:INODE".
bool leads_to_journal(const char* given) {
  struct stat info {};
  if (given == nullptr || ::fstat(STDERR_FILENO, &info) != 0) return false;
  return given == std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

}  // namespace datum::program
