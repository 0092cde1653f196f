// The implementations of os::PackageTools that the conformance suite runs over: the model, and apt
// over a tree of its own in a scratch folder, where apt and dpkg are here and this is root. Each
// offers what PackageTools itself cannot make: packages, locks, and the running of tools.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "datum/os_linux/linux_files.hpp"
#include "datum/os_linux/linux_packages.hpp"
#include "support/model_packages.hpp"

namespace datum::conformance {

class PackageScene {
 public:
  virtual ~PackageScene() = default;
  virtual os::PackageTools& tools() = 0;
  virtual void offer(const std::string& name, const std::string& version,
                     const std::vector<std::string>& needs,
                     const std::vector<std::string>& enemies) = 0;
  virtual void unpack(const std::string& name, const std::string& version) = 0;
  virtual int run(const os::Tool& tool) = 0;  // to its end
  virtual os::RunChild run_child() = 0;
  // Somebody works with the package manager, or nobody does; the pid of who does.
  virtual std::int64_t lock() = 0;
  virtual void unlock() = 0;
  virtual void change_sources() = 0;
};

class ModelPackageScene final : public PackageScene {
 public:
  os::PackageTools& tools() override { return packages_; }
  void offer(const std::string& name, const std::string& version,
             const std::vector<std::string>& needs,
             const std::vector<std::string>& enemies) override {
    packages_.offer(name, {version, needs, enemies, false});
  }
  void unpack(const std::string& name, const std::string& version) override {
    packages_.put(name, {version, os::PackageState::unpacked});
  }
  int run(const os::Tool& tool) override { return packages_.carry_out(tool.argv); }
  os::RunChild run_child() override { return {}; }
  std::int64_t lock() override {
    packages_.set_lock(os::LockHolder{42, "other", "/var/lib/dpkg/lock"});
    return 42;
  }
  void unlock() override { packages_.set_lock({}); }
  void change_sources() override { packages_.set_lists_older(true); }

 private:
  support::ModelPackages packages_;
};

// Everything of apt and dpkg is below the scratch folder, this machine's configuration with its
// hooks too is not read: APT_CONFIG comes before it.
class AptScene final : public PackageScene {
 public:
  static bool is_possible() {
    return ::geteuid() == 0 && ::access("/usr/bin/apt-get", X_OK) == 0 &&
           ::access("/usr/bin/dpkg-deb", X_OK) == 0;
  }

  AptScene() : files_(os_linux::make_files()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "datum-apt-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    root_ = pattern;
    ::chmod(root_.c_str(), 0755);
    for (const char* folder :
         {"/var/lib/dpkg/info", "/var/lib/dpkg/updates", "/var/lib/dpkg/triggers",
          "/var/lib/apt/lists/partial", "/var/cache/apt/archives/partial", "/var/log/apt",
          "/etc/apt/apt.conf.d", "/etc/apt/preferences.d", "/etc/apt/sources.list.d",
          "/etc/apt/trusted.gpg.d", "/etc/dpkg", "/repo", "/tmp"})
      std::filesystem::create_directories(root_ + folder);
    for (const char* lock : {"/var/lib/dpkg/lock", "/var/lib/dpkg/lock-frontend"}) write(lock, "");
    write("/var/lib/dpkg/status",
          "Package: dpkg\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.21\n"
          "Maintainer: x <x@localhost>\nDescription: x\n\n");
    write("/etc/apt/apt.conf", "");
    write("/apt.conf", "Dir \"" + root_ +
                           "\";\nAPT::Sandbox::User \"root\";\nAPT::Architecture \"amd64\";\n"
                           "APT::Architectures { \"amd64\"; };\n");
    write("/etc/apt/sources.list", "deb [trusted=yes] file:" + root_ + "/repo ./\n");
    write("/repo/Packages", "");
    tools_ = os_linux::make_package_tools(*files_, root_);
  }
  ~AptScene() override {
    unlock();
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  os::PackageTools& tools() override { return *tools_; }
  void lose_database() { std::filesystem::remove(root_ + "/var/lib/dpkg/status"); }

  void offer(const std::string& name, const std::string& version,
             const std::vector<std::string>& needs,
             const std::vector<std::string>& enemies) override {
    const auto control = "Package: " + name + "\nVersion: " + version +
                         "\nArchitecture: amd64\nMaintainer: x <x@localhost>\nDescription: x\n" +
                         list("Depends", needs) + list("Conflicts", enemies);
    const auto folder = "/build/" + name + version;
    std::filesystem::create_directories(root_ + folder + "/DEBIAN");
    write(folder + "/DEBIAN/control", control);
    execute({"/usr/bin/dpkg-deb", "-Znone", "-b", root_ + folder, deb(name, version)}, {});
    std::ofstream(root_ + "/repo/Packages", std::ios::app)
        << control << "Filename: ./" << name << "_" << version
        << ".deb\nSize: " << std::filesystem::file_size(deb(name, version))
        << "\nSHA256: " << sha256_of(deb(name, version)) << "\n\n";
  }
  void unpack(const std::string& name, const std::string& version) override {
    execute({"/usr/bin/dpkg", "--root=" + root_, "--force-script-chrootless", "--unpack",
             deb(name, version)},
            {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"});
  }
  int run(const os::Tool& tool) override { return execute(tool.argv, tool.environment); }
  os::RunChild run_child() override {
    return [this](const loop::ChildOptions& child) -> Result<loop::ChildResult> {
      loop::ChildResult result;
      const auto output = root_ + "/output";
      result.exit_status = execute(child.argv, child.environment, output);
      std::ifstream in(output);
      result.output.assign(std::istreambuf_iterator<char>(in), {});
      return result;
    };
  }
  std::int64_t lock() override {
    int ready[2];
    if (::pipe(ready) != 0) std::abort();
    holder_ = ::fork();
    if (holder_ == 0) {
      const int file = ::open((root_ + "/var/lib/dpkg/lock").c_str(), O_RDWR);
      struct flock lock {};
      lock.l_type = F_WRLCK;
      lock.l_whence = SEEK_SET;
      static_cast<void>(::fcntl(file, F_SETLK, &lock));
      static_cast<void>(::write(ready[1], "x", 1));
      for (;;) ::pause();
    }
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1) std::abort();
    ::close(ready[0]);
    ::close(ready[1]);
    return holder_;
  }
  void unlock() override {
    if (holder_ <= 0) return;
    ::kill(holder_, SIGKILL);
    ::waitpid(holder_, nullptr, 0);
    holder_ = 0;
  }
  // Of another second for certain: what was read before is older.
  void change_sources() override {
    const auto path = root_ + "/etc/apt/sources.list";
    const auto later = std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);
    std::filesystem::last_write_time(path, later);
  }

 private:
  static std::string list(const std::string& field, const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? field + ": " : ", ") + name;
    return text.empty() ? text : text + "\n";
  }
  [[nodiscard]] std::string deb(const std::string& name, const std::string& version) const {
    return root_ + "/repo/" + name + "_" + version + ".deb";
  }
  // apt fetches nothing without one.
  std::string sha256_of(const std::string& path) {
    execute({"/usr/bin/sha256sum", path}, {}, root_ + "/output");
    std::string digest;
    std::ifstream(root_ + "/output") >> digest;
    return digest;
  }
  void write(const std::string& below, const std::string& text) const {
    std::ofstream(root_ + below) << text;
  }
  int execute(std::vector<std::string> argv, std::vector<std::string> environment,
              const std::string& output = "/dev/null") {
    environment.push_back("APT_CONFIG=" + root_ + "/apt.conf");
    std::vector<char*> words, variables;
    for (auto& word : argv) words.push_back(word.data());
    for (auto& variable : environment) variables.push_back(variable.data());
    words.push_back(nullptr);
    variables.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const int in = ::open("/dev/null", O_RDONLY);
      const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(in, 0);
      ::dup2(out, 1);
      ::dup2(out, 2);
      ::execve(words[0], words.data(), variables.data());
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::unique_ptr<os::Files> files_;
  std::string root_;
  std::unique_ptr<os::PackageTools> tools_;
  pid_t holder_ = 0;
};

inline std::vector<std::unique_ptr<PackageScene>> make_package_scenes() {
  std::vector<std::unique_ptr<PackageScene>> scenes;
  scenes.push_back(std::make_unique<ModelPackageScene>());
  if (AptScene::is_possible()) scenes.push_back(std::make_unique<AptScene>());
  return scenes;
}

}  // namespace datum::conformance
