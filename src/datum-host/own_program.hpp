// Whether the program that is installed still is the one that runs: a package manager puts another
// file under the same name.
#pragma once

#include <cstdint>
#include <string>

namespace datum::host {

class OwnProgram {
 public:
  // Of this process.
  [[nodiscard]] static OwnProgram of_this_process();

  [[nodiscard]] const std::string& path() const { return path_; }
  // Another file lies under the path now, one that `forget` was not told of. No file at all (in the
  // middle of an upgrade) says nothing.
  [[nodiscard]] bool is_replaced() const;
  // What lies there now is not to be told again.
  void forget();

 private:
  struct Identity {
    std::uint64_t inode = 0;  // 0: no file
    std::int64_t changed_ns = 0;
    bool operator==(const Identity&) const = default;
  };
  [[nodiscard]] static Identity identity_of(const char* path);

  std::string path_;
  Identity running_;
  Identity forgotten_;
};

}  // namespace datum::host
