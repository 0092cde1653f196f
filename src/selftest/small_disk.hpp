// A file system of its own, small enough to fill, in an image inside of the scratch folder.
// Internal to selftest; needs root and the machine's mkfs.ext4, mount and umount.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/loop/loop.hpp"

namespace datum::selftest {

class SmallDisk {
 public:
  // `folder` is made; the image lies beside it.
  SmallDisk(loop::Loop& loop, std::string folder);

  // `unavailable`: it cannot be made here; nothing is left then.
  [[nodiscard]] Status mount();
  // Until that much is free, about.
  [[nodiscard]] Status fill(std::uint64_t left);
  [[nodiscard]] Status make_room();
  // Gone, with its image.
  [[nodiscard]] Status unmount();
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  [[nodiscard]] Status run(std::vector<std::string> argv);

  loop::Loop& loop_;
  std::string folder_;
  std::string image_;
};

}  // namespace datum::selftest
