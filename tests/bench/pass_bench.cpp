// A whole pass of the program over many small files, against raw loops over the same work in the
// same run: a converged pass against open, read, SHA-256, compare; a first apply against a loop
// with the same waves that stages, syncs, renames, syncs the folder and reads back. Both are whole
// programs: a raw loop is this one started anew, which reads what there is to do from a list, as
// Datum reads its manifest. Everything runs on one processor, in turn, so that whatever else the
// machine does hits both. Run by hand; prints medians and ratios, which are what may be compared
// between machines.
// The tree lies in $TMPDIR: give a folder that nobody else can write, as a real target is.
//   pass_bench [DATUM [FILES [ROUNDS]]]
//   pass_bench raw-converged|raw-apply ROOT LIST
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "datum/crypto/digest.hpp"

using namespace datum;

namespace {

constexpr std::size_t kWave = 2048;  // actions of one wave, as core has it

struct File {
  std::string name;
  std::string content;
  Digest digest;
};

struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;
};

[[noreturn]] void die(const std::string& what) {
  std::perror(("pass_bench: " + what).c_str());
  std::_Exit(1);
}

int must(int result, const std::string& what) {
  if (result < 0) die(what);
  return result;
}

// About 1 KiB of settings.
std::string make_content(std::size_t number) {
  std::string text = "# managed file " + std::to_string(number) + "\n";
  for (int line = 0; text.size() < 1000; ++line)
    text += "key_" + std::to_string(line) + " = " +
            crypto::sha256(as_bytes(std::to_string(number) + ":" + std::to_string(line))).hex() +
            "\n";
  return text;
}

std::vector<File> make_files(std::size_t count) {
  std::vector<File> files;
  for (std::size_t i = 0; i < count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "f%05zu", i);
    File file{name, make_content(i), {}};
    file.digest = crypto::sha256(as_bytes(file.content));
    files.push_back(std::move(file));
  }
  return files;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) die("write " + path);
}

// What a raw loop is told: a line of name, digest and size for each file, and after it the content
// where the loop has to write it.
void write_list(const std::string& path, const std::vector<File>& files, bool with_content) {
  std::string text;
  for (const auto& file : files) {
    const auto size = with_content ? file.content.size() : 0;
    text += file.name + " " + file.digest.hex() + " " + std::to_string(size) + "\n";
    if (with_content) text += file.content;
  }
  write_text(path, text);
}

std::vector<File> read_list(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(std::filesystem::file_size(path), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) die("read " + path);
  std::vector<File> files;
  for (std::size_t at = 0; at < text.size();) {
    const auto name_end = text.find(' ', at);
    const auto digest_end = text.find(' ', name_end + 1);
    const auto line_end = text.find('\n', digest_end + 1);
    const auto digest =
        Digest::find_hex(std::string_view(text).substr(name_end + 1, digest_end - name_end - 1));
    if (line_end == std::string::npos || !digest) die("what is in " + path);
    const auto size = std::strtoul(&text[digest_end + 1], nullptr, 10);
    files.push_back({text.substr(at, name_end - at), text.substr(line_end + 1, size), *digest});
    at = line_end + 1 + size;
  }
  return files;
}

// One file of documents, with all content in it.
void write_fleet(const std::string& folder, const std::string& root,
                 const std::vector<File>& files) {
  std::filesystem::create_directories(folder + "/base");
  write_text(folder + "/datum.yaml", "datum: v1alpha1\ntype: Fleet\nname: bench\n");
  write_text(folder + "/hosts.yaml", "datum: v1alpha1\ntype: Host\nname: bench\n");
  write_text(folder + "/base/layer.yaml", "datum: v1alpha1\ntype: Layer\nname: base\n");
  std::string text;
  for (const auto& file : files) {
    text += "---\ndatum: v1alpha1\ntype: File\nname: " + file.name + "\ndesired:\n  path: " + root +
            "/" + file.name + "\n  mode: \"0644\"\n  content: |\n";
    for (std::size_t at = 0; at < file.content.size();) {
      const auto end = file.content.find('\n', at) + 1;
      text += "    " + file.content.substr(at, end - at);
      at = end;
    }
  }
  write_text(folder + "/base/files.yaml", text);
}

double ms_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

// Runs the work in a child and waits for it; ends the program if the child fails.
Cost measure(const char* what, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const auto child = must(::fork(), "fork");
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = 0;
  rusage usage{};
  must(::wait4(child, &status, 0, &usage), "wait4");
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - begin;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "pass_bench: %s ended with status %d\n", what, status);
    std::_Exit(1);
  }
  return {wall.count(), ms_of(usage.ru_utime) + ms_of(usage.ru_stime)};
}

void exec_quietly(const std::vector<std::string>& arguments) {
  const int null = must(::open("/dev/null", O_WRONLY | O_CLOEXEC), "/dev/null");
  must(::dup2(null, STDOUT_FILENO), "dup2");
  must(::dup2(null, STDERR_FILENO), "dup2");
  std::vector<char*> list;
  for (const auto& each : arguments) list.push_back(const_cast<char*>(each.c_str()));
  list.push_back(nullptr);
  ::execv(list[0], list.data());
  die("exec " + arguments[0]);
}

// The raw loops. Each is what a program that knows nothing but these files would do.

void read_and_compare(int folder, const File& file, std::vector<char>& buffer) {
  const int in =
      must(::openat(folder, file.name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), file.name);
  crypto::Sha256 sha;
  for (;;) {
    const auto count = ::read(in, buffer.data(), buffer.size());
    if (count < 0) die(file.name);
    if (count == 0) break;
    sha.update(as_bytes(std::string_view(buffer.data(), static_cast<std::size_t>(count))));
  }
  ::close(in);
  if (sha.finish() != file.digest) {
    std::fprintf(stderr, "pass_bench: %s has other content\n", file.name.c_str());
    std::_Exit(1);
  }
}

void raw_converged(const std::string& root, const std::vector<File>& files) {
  const int folder = must(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), root);
  std::vector<char> buffer(256 * 1024);
  for (const auto& file : files) read_and_compare(folder, file, buffer);
}

void stage(int folder, const File& file) {
  const auto temp = ".raw-" + file.name;
  const int out =
      must(::openat(folder, temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), temp);
  const auto size = static_cast<ssize_t>(file.content.size());
  if (::write(out, file.content.data(), file.content.size()) != size) die(temp);
  must(::fchmod(out, 0644), temp);
  ::close(out);
}

void raw_apply(const std::string& root, const std::vector<File>& files) {
  const int folder = must(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), root);
  std::vector<char> buffer(256 * 1024);
  for (std::size_t begin = 0; begin < files.size(); begin += kWave) {
    const auto end = std::min(begin + kWave, files.size());
    for (auto i = begin; i < end; ++i) stage(folder, files[i]);
    must(::syncfs(folder), "syncfs");
    for (auto i = begin; i < end; ++i)
      must(::renameat(folder, (".raw-" + files[i].name).c_str(), folder, files[i].name.c_str()),
           files[i].name);
    must(::fsync(folder), "fsync");
    for (auto i = begin; i < end; ++i) read_and_compare(folder, files[i], buffer);
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Series {
  std::vector<double> wall, cpu;
  void add(const Cost& cost) {
    wall.push_back(cost.wall_ms);
    cpu.push_back(cost.cpu_ms);
  }
};

void print(const char* name, const Series& ours, const Series& raw) {
  std::printf("%-28s %8.0f ms %8.0f ms   wall %.2f x   processor %.2f x\n", name, median(ours.wall),
              median(raw.wall), median(ours.wall) / median(raw.wall),
              median(ours.cpu) / median(raw.cpu));
}

// The largest RssAnon and VmRSS of the process while it runs, in KiB, by looking every millisecond.
void print_memory(const char* name, const std::vector<std::string>& arguments) {
  const auto child = must(::fork(), "fork");
  if (child == 0) exec_quietly(arguments);
  const int pidfd = must(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), "pidfd_open");
  long anonymous = 0;
  long all = 0;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    std::ifstream in("/proc/" + std::to_string(child) + "/status");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("RssAnon:")) anonymous = std::max(anonymous, std::atol(&line[8]));
      if (line.starts_with("VmRSS:")) all = std::max(all, std::atol(&line[6]));
    }
    pollfd ended{pidfd, POLLIN, 0};
    ::poll(&ended, 1, 1);
  }
  ::close(pidfd);
  std::printf("%-28s %8ld MiB anonymous %8ld MiB with mapped files\n", name, anonymous / 1024,
              all / 1024);
}

void pin_to_one_processor() {
  cpu_set_t all;
  CPU_ZERO(&all);
  must(::sched_getaffinity(0, sizeof all, &all), "sched_getaffinity");
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  must(::sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
}

struct Bench {
  std::string self, datum, scratch;
  std::vector<File> files;
  int rounds = 7;

  [[nodiscard]] std::string root() const { return scratch + "/root"; }
  // Trees are renamed away: a file system that has just lost ten thousand files is slow.
  void fresh_root(int number) const {
    if (std::filesystem::exists(root()))
      std::filesystem::rename(root(), scratch + "/old-" + std::to_string(number));
    std::filesystem::create_directories(root());
    ::sync();
  }
  [[nodiscard]] std::vector<std::string> pass(bool fleet, const std::string& state) const {
    std::vector<std::string> list{datum,     "reconcile", "--mode",
                                  "enforce", "--state",   scratch + "/" + state};
    if (fleet)
      list.insert(list.end(), {"--fleet", scratch + "/fleet", "--host", "bench"});
    else
      list.insert(list.end(), {"--manifest", scratch + "/manifest"});
    return list;
  }

  // A raw loop as a program, over the tree as it is now.
  [[nodiscard]] Cost raw(const char* name, const char* list) const {
    return measure(name, [&] { exec_quietly({self, name, root(), scratch + "/" + list}); });
  }

  void first_apply() const {
    Series ours, raw_loop;
    for (int round = 0; round < std::min(rounds, 3); ++round) {
      fresh_root(2 * round);
      raw_loop.add(raw("raw-apply", "contents"));
      fresh_root(2 * round + 1);
      const auto state = "state-" + std::to_string(round);
      ours.add(measure("first apply", [&] { exec_quietly(pass(false, state)); }));
    }
    print("first apply", ours, raw_loop);
  }
  void converged(const char* name, bool fleet) const {
    Series ours, raw_loop;
    for (int round = 0; round < rounds; ++round) {
      raw_loop.add(raw("raw-converged", "list"));
      ours.add(measure(name, [&] { exec_quietly(pass(fleet, "state-0-again")); }));
    }
    print(name, ours, raw_loop);
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count == 4 && arguments[1] == std::string_view("raw-converged")) {
    raw_converged(arguments[2], read_list(arguments[3]));
    return 0;
  }
  if (count == 4 && arguments[1] == std::string_view("raw-apply")) {
    raw_apply(arguments[2], read_list(arguments[3]));
    return 0;
  }
  Bench bench;
  bench.self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto folder = std::filesystem::path(bench.self).parent_path();
  bench.datum = count > 1 ? arguments[1] : (folder / "../../src/datum/datum").string();
  bench.files = make_files(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 10'000);
  bench.rounds = count > 3 ? std::atoi(arguments[3]) : 7;
  auto pattern = (std::filesystem::temp_directory_path() / "pass-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) die(pattern);
  bench.scratch = pattern;
  write_list(pattern + "/list", bench.files, false);
  write_list(pattern + "/contents", bench.files, true);
  write_fleet(pattern + "/fleet", bench.root(), bench.files);
  measure("render", [&] {
    exec_quietly({bench.datum, "render", "--fleet", pattern + "/fleet", "--host", "bench",
                  "--output", pattern + "/manifest"});
  });
  pin_to_one_processor();
  std::printf("%zu files of 1 KiB, medians of %d rounds, one processor\n", bench.files.size(),
              bench.rounds);
  std::printf("%-28s %11s %11s\n", "", "datum", "raw loop");
  bench.first_apply();
  // The store that the converged passes use knows the last tree.
  measure("adopt", [&] { exec_quietly(bench.pass(false, "state-0-again")); });
  bench.converged("converged, --manifest", false);
  bench.converged("converged, --fleet", true);
  print_memory("memory, --manifest", bench.pass(false, "state-0-again"));
  print_memory("memory, --fleet", bench.pass(true, "state-0-again"));
  bench.fresh_root(99);
  print_memory("memory, first apply", bench.pass(false, "state-memory"));
  std::filesystem::remove_all(pattern);
  return 0;
}
