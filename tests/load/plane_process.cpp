#include "plane_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

namespace datum::load {
namespace {

constexpr std::int64_t kCommandNs = 300 * kNsPerSecond;

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

PlaneProcess::PlaneProcess(loop::Loop& loop, std::string program, std::string folder)
    : loop_(loop), program_(std::move(program)), folder_(std::move(folder)) {}

PlaneProcess::~PlaneProcess() {
  if (pid_ > 0) end(SIGKILL);
}

Status PlaneProcess::start() {
  const auto listen = "127.0.0.1:" + std::to_string(port_);
  const auto state = folder_ + "/state";
  std::vector<std::string> words{program_, "serve",    "--state", state,         "--socket",
                                 socket(), "--listen", listen,    "--heartbeat", "30s"};
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::unlink(log().c_str());
  pid_ = ::fork();
  if (pid_ < 0) return fail(error_from_errno(errno, "fork"));
  if (pid_ == 0) {
    // It ends with this process, however that ends.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int said = ::open(log().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(null, STDIN_FILENO);
    ::dup2(said, STDERR_FILENO);
    ::execv(program_.c_str(), argv.data());
    ::_exit(127);
  }
  return {};
}

bool PlaneProcess::listens() {
  const auto said = read_text(log());
  const auto at = said.find("listens at 127.0.0.1:");
  if (at == std::string::npos || said.find('\n', at) == std::string::npos) return false;
  const auto number = said.find(':', at) + 1;
  port_ = static_cast<std::uint16_t>(std::strtoul(said.c_str() + number, nullptr, 10));
  return true;
}

std::string PlaneProcess::said() const {
  return read_text(log());
}

int PlaneProcess::end(int signal) {
  if (pid_ <= 0) return -1;
  ::kill(pid_, signal);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void PlaneProcess::ask(const std::vector<std::string>& words,
                       std::function<void(std::string)> done) {
  loop::ChildOptions options;
  options.argv = {program_};
  options.argv.insert(options.argv.end(), words.begin(), words.end());
  options.timeout_ns = kCommandNs;
  const auto shared = std::make_shared<std::function<void(std::string)>>(std::move(done));
  const auto spawned =
      loop_.spawn(options, [shared](const loop::ChildResult& result) { (*shared)(result.output); });
  if (!spawned) (*shared)(spawned.error().message());
}

long PlaneProcess::anonymous_kib() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("RssAnon:")) return std::atol(&line[8]);
  return 0;
}

}  // namespace datum::load
