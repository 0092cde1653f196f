#include "power_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>

namespace datum::journal::test {

// The one that watches; the wrappers below have no other way to find it.
PowerDisk*& watcher() {
  static PowerDisk* current = nullptr;
  return current;
}

namespace {

void apply(std::vector<char>& image, std::uint64_t offset, const char* bytes, std::size_t size) {
  image.resize(std::max<std::size_t>(image.size(), offset + size));
  std::copy_n(bytes, size, image.begin() + static_cast<std::ptrdiff_t>(offset));
}

constexpr std::size_t kSector = 512;

}  // namespace

PowerDisk::PowerDisk(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    device_ = info.st_dev;
    inode_ = info.st_ino;
  }
  std::ifstream in(path, std::ios::binary);
  durable_.assign(std::istreambuf_iterator<char>(in), {});
  watcher() = this;
}

PowerDisk::~PowerDisk() {
  watcher() = nullptr;
}

void PowerDisk::on_call(void (*hook)(void*), void* data) {
  hook_ = hook;
  hook_data_ = data;
}

void PowerDisk::fail_write(int n, int error) {
  fail_write_ = n;
  write_error_ = error;
}

void PowerDisk::fail_sync(int n, int error) {
  fail_sync_ = n;
  sync_error_ = error;
}

std::vector<char> PowerDisk::image(std::mt19937& random) const {
  auto image = durable_;
  for (const auto& write : dirty_) {
    const auto fate = random() % 3;
    if (fate == 0) continue;
    for (std::size_t at = 0; at < write.bytes.size(); at += kSector) {
      if (fate == 2 && random() % 2 == 0) continue;
      const auto size = std::min(kSector, write.bytes.size() - at);
      apply(image, write.offset + at, write.bytes.data() + at, size);
    }
  }
  return image;
}

bool PowerDisk::is_watched(int fd) const {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

int PowerDisk::before_write() {
  ++writes_;
  if (hook_ != nullptr) hook_(hook_data_);
  return fail_write_ != 0 && --fail_write_ == 0 ? write_error_ : 0;
}

void PowerDisk::after_write(int fd, std::uint64_t offset, const char* bytes, std::size_t size) {
  dirty_.push_back({offset, {bytes, bytes + size}});
  // A write through an O_DSYNC descriptor is on the disk when it returns, and it alone: the others
  // stay uncertain. (Between its begin and its return the hook of the next call sees it done; a cut
  // within it is the image before it or after it, since a meta page's fields lie in one sector.)
  if ((::fcntl(fd, F_GETFL) & O_DSYNC) != 0) {
    apply(durable_, offset, bytes, size);
    dirty_.pop_back();
  }
  if (hook_ != nullptr) hook_(hook_data_);
}

int PowerDisk::before_sync() {
  ++syncs_;
  if (hook_ != nullptr) hook_(hook_data_);
  return fail_sync_ != 0 && --fail_sync_ == 0 ? sync_error_ : 0;
}

void PowerDisk::after_sync() {
  for (const auto& write : dirty_)
    apply(durable_, write.offset, write.bytes.data(), write.bytes.size());
  dirty_.clear();
  if (hook_ != nullptr) hook_(hook_data_);
}

}  // namespace datum::journal::test

using datum::journal::test::PowerDisk;
using datum::journal::test::watcher;

// Names given by the linker's --wrap.
extern "C" {
ssize_t __real_pwrite(int fd, const void* bytes, size_t size, off_t offset);
ssize_t __real_writev(int fd, const struct iovec* parts, int count);
int __real_fdatasync(int fd);

ssize_t __wrap_pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  auto* const disk = watcher();
  if (disk == nullptr || !disk->is_watched(fd)) return __real_pwrite(fd, bytes, size, offset);
  const int error = disk->before_write();
  // Half of a write that fails has happened.
  const auto kept = error != 0 ? size / 2 : size;
  const auto put = __real_pwrite(fd, bytes, kept, offset);
  if (put > 0)
    disk->after_write(fd, static_cast<std::uint64_t>(offset), static_cast<const char*>(bytes),
                      static_cast<std::size_t>(put));
  if (error == 0) return put;
  errno = error;
  return -1;
}

ssize_t __wrap_writev(int fd, const struct iovec* parts, int count) {
  auto* const disk = watcher();
  if (disk == nullptr || !disk->is_watched(fd)) return __real_writev(fd, parts, count);
  const auto offset = static_cast<std::uint64_t>(::lseek(fd, 0, SEEK_CUR));
  const int error = disk->before_write();
  if (error != 0) {
    errno = error;
    return -1;
  }
  std::vector<char> bytes;
  for (int i = 0; i < count; ++i) {
    const auto* const from = static_cast<const char*>(parts[i].iov_base);
    bytes.insert(bytes.end(), from, from + parts[i].iov_len);
  }
  const auto put = __real_writev(fd, parts, count);
  if (put > 0) disk->after_write(fd, offset, bytes.data(), static_cast<std::size_t>(put));
  return put;
}

int __wrap_fdatasync(int fd) {
  auto* const disk = watcher();
  if (disk == nullptr || !disk->is_watched(fd)) return __real_fdatasync(fd);
  const int error = disk->before_sync();
  if (error != 0) {
    errno = error;
    return -1;
  }
  const int number = __real_fdatasync(fd);
  if (number == 0) disk->after_sync();
  return number;
}
}
