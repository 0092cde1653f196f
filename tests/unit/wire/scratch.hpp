// A folder for a socket, gone at the end.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace datum::wire {

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path().string() + "/datum-wire-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string socket() const { return path_ + "/s"; }

 private:
  std::string path_;
};

}  // namespace datum::wire
