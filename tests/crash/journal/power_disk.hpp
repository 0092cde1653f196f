// The calls with which LMDB writes, watched: the test program is linked with --wrap, so that every
// pwrite, writev and fdatasync of the library passes here. It keeps what a disk would hold for
// certain, can fail the n-th call, and can make the images that a power cut at this moment might
// leave. One file at a time, named by its device and inode.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace datum::journal::test {

class PowerDisk {
 public:
  // Takes the file as it is now as durable, and watches it until the object ends.
  explicit PowerDisk(const std::string& path);
  ~PowerDisk();
  PowerDisk(const PowerDisk&) = delete;
  PowerDisk& operator=(const PowerDisk&) = delete;

  // Called before the n-th write or sync takes effect, and after it.
  void on_call(void (*hook)(void*), void* data);
  // The n-th write (sync) from now on fails with `error`; a write keeps half of itself.
  void fail_write(int n, int error);
  void fail_sync(int n, int error);

  // One image that the disk may hold if power is cut now: everything durable, and of each write
  // since the last sync all, some sectors, or nothing.
  [[nodiscard]] std::vector<char> image(std::mt19937& random) const;
  [[nodiscard]] int writes() const { return writes_; }
  [[nodiscard]] int syncs() const { return syncs_; }

  // For the wrappers.
  struct Write {
    std::uint64_t offset = 0;
    std::vector<char> bytes;
  };
  [[nodiscard]] bool is_watched(int fd) const;
  [[nodiscard]] int before_write();
  void after_write(int fd, std::uint64_t offset, const char* bytes, std::size_t size);
  [[nodiscard]] int before_sync();
  void after_sync();

 private:
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::vector<char> durable_;
  std::vector<Write> dirty_;
  void (*hook_)(void*) = nullptr;
  void* hook_data_ = nullptr;
  int writes_ = 0;
  int syncs_ = 0;
  int fail_write_ = 0;
  int write_error_ = 0;
  int fail_sync_ = 0;
  int sync_error_ = 0;
};

}  // namespace datum::journal::test
