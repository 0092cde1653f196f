// What this library does with files besides LMDB: owned descriptors, whole reads and writes, files
// that appear complete and durable or not at all. It knows no format.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "datum/base/bytes.hpp"
#include "datum/base/error.hpp"

namespace datum::journal {

// An owned descriptor, always close-on-exec. Closing a descriptor that was written says nothing:
// what matters was synced before.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// openat with O_CLOEXEC and O_NOFOLLOW; a signal does not end it.
[[nodiscard]] Result<Fd> open_at(int folder, const std::string& name, int flags);
// A folder by its path; a link to one is followed.
[[nodiscard]] Result<Fd> open_folder(const std::string& path);

// Reads exactly `out.size()` bytes at `offset`; a shorter file is `corrupt`.
[[nodiscard]] Status read_exact(int fd, std::uint64_t offset, MutableByteView out);
[[nodiscard]] Status write_all(int fd, ByteView bytes);
[[nodiscard]] Status sync_fd(int fd, std::string_view what);

// Told before and after each step of what must survive a crash at any of them.
using StepHook = std::function<void(std::string_view point)>;

// Writes `text` to `name`.part in `folder`, syncs it, renames it to `name` and syncs the folder.
[[nodiscard]] Status replace_file(int folder, const std::string& name, std::string_view text,
                                  const StepHook& hook = {});

struct PathParts {
  std::string folder;
  std::string name;
};
// "a/b" is "a" and "b"; "b" is "." and "b". `invalid_argument` for an empty last part.
[[nodiscard]] Result<PathParts> split_path(const std::string& path);

}  // namespace datum::journal
