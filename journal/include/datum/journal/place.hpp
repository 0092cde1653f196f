// The folder that a store's parts lie in, for whoever opens or makes one of them while somebody
// else may move all of them. The lock of the journal itself moves with it, and so keeps nobody out
// of the place that it had.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "datum/base/error.hpp"

namespace datum::journal {

enum class PlaceUse : std::uint8_t {
  opening,  // beside others that open; until what was opened has its own lock
  moving,   // alone; until nothing is half moved
};

class PlaceLock {
 public:
  PlaceLock() = default;
  explicit PlaceLock(int folder) : folder_(folder) {}
  PlaceLock(PlaceLock&& other) noexcept : folder_(std::exchange(other.folder_, -1)) {}
  PlaceLock& operator=(PlaceLock&&) = delete;
  ~PlaceLock();

 private:
  int folder_ = -1;
};

// The folder's own lock, as long as the object lives; nothing is written, and nothing waited for:
// `busy` names the process that has it. Of a folder that is not there, an object that holds
// nothing.
[[nodiscard]] Result<PlaceLock> lock_place(const std::string& folder, PlaceUse use);

}  // namespace datum::journal
