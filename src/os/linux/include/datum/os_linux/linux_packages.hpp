// The package manager of this machine: apt over dpkg.
#pragma once

#include <memory>
#include <string>

#include "datum/os/files.hpp"
#include "datum/os/packages.hpp"

namespace datum::os_linux {

// `files` is borrowed. `root`: "/", or a tree of its own (tests).
[[nodiscard]] std::unique_ptr<os::PackageTools> make_package_tools(os::Files& files,
                                                                   std::string root);

}  // namespace datum::os_linux
