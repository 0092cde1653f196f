// Waits until a store's file was written or the user had enough. The kernel tells; nothing is asked
// while nothing happens.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "datum/base/error.hpp"

namespace datum::program {

class StoreWatch {
 public:
  // From now on SIGINT and SIGTERM end a wait instead of the program.
  [[nodiscard]] static Result<StoreWatch> open(const std::string& store_folder);
  StoreWatch(StoreWatch&& other) noexcept;
  StoreWatch& operator=(StoreWatch&&) = delete;
  ~StoreWatch();

  enum class Woken { written, stopped, gone };
  // `gone`: the file, or the folder of the journal, was moved, removed or replaced, so that nothing
  // more will be seen through it. Writes before this call and after the last one count.
  [[nodiscard]] Result<Woken> wait();

 private:
  StoreWatch(std::string file, int events, int signals)
      : file_(std::move(file)), events_(events), signals_(signals) {}
  [[nodiscard]] Status watch(const std::string& folder);
  [[nodiscard]] bool is_gone(std::uint32_t mask) const;
  std::string file_;
  std::uint64_t device_ = 0, inode_ = 0;  // of the file that is watched
  int events_;
  int signals_;
  bool settling_ = false;  // something was written since the last look that was late enough
};

}  // namespace datum::program
