// The implementations of os::Files that the conformance suite runs over: the real one in a scratch
// folder that goes with the fixture, and the model. Each offers the same few things that Files
// itself cannot make.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "datum/base/assert.hpp"
#include "datum/os/files.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "support/model_files.hpp"

namespace datum::conformance {

class LinuxScratch {
 public:
  LinuxScratch() : files_(os_linux::make_files()) {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/datum-files-XXXXXX";
    DATUM_ASSERT(::mkdtemp(path_.data()) != nullptr);
  }
  LinuxScratch(const LinuxScratch&) = delete;
  LinuxScratch& operator=(const LinuxScratch&) = delete;
  ~LinuxScratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  os::Files& files() { return *files_; }
  const std::string& path() const { return path_; }
  void make_fifo(const std::string& name) {
    DATUM_ASSERT(::mkfifo((path_ + "/" + name).c_str(), 0644) == 0);
  }
  void make_hard_link(const std::string& name, const std::string& existing) {
    DATUM_ASSERT(::link((path_ + "/" + existing).c_str(), (path_ + "/" + name).c_str()) == 0);
  }
  // A folder in which `mount_name()` is a mount point.
  std::string mount_folder() { return "/"; }
  std::string mount_name() { return "proc"; }
  bool may_change_owners() const { return ::geteuid() == 0; }
  std::uint32_t own_uid() const { return ::geteuid(); }

 private:
  std::unique_ptr<os::Files> files_;
  std::string path_;
};

class ModelScratch {
 public:
  ModelScratch() {
    files_.put_directory("/scratch");
    files_.put_directory("/scratch-mounts/proc");
    files_.mount("/scratch-mounts/proc");
  }

  os::Files& files() { return files_; }
  std::string path() const { return "/scratch"; }
  void make_fifo(const std::string& name) {
    files_.put_special("/scratch/" + name, os::FileType::fifo);
  }
  void make_hard_link(const std::string& name, const std::string& existing) {
    files_.put_hard_link("/scratch/" + name, "/scratch/" + existing);
  }
  std::string mount_folder() { return "/scratch-mounts"; }
  std::string mount_name() { return "proc"; }
  bool may_change_owners() const { return true; }
  std::uint32_t own_uid() const { return 0; }

 private:
  support::ModelFiles files_;
};

}  // namespace datum::conformance
