// apt and dpkg as far as nothing is run: exact argument vectors, and what a simulation says. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "datum/os/files.hpp"
#include "datum/os/packages.hpp"

namespace datum::os {

// `root`: "/", or another tree, which the tools are told by options.
[[nodiscard]] Tool apt_transaction(std::string_view root, const PackageOrder& order);
// The same, only said and not done.
[[nodiscard]] Tool apt_simulation(std::string_view root, const PackageOrder& order);
[[nodiscard]] Tool apt_refresh(std::string_view root);
[[nodiscard]] Tool apt_hold(std::string_view root, const std::vector<std::string>& names,
                            bool held);
[[nodiscard]] Tool dpkg_configure(std::string_view root, bool replace_conffiles);

// What `apt-get -s` printed, and how it ended.
[[nodiscard]] Foresight read_simulation(std::string_view output, bool succeeded,
                                        std::string_view native_architecture);

// dpkg's database below `root`, as of one moment. `not_found`: there is none.
[[nodiscard]] Result<PackageBook> read_dpkg(Files& files, const Handle& root);

// Whether a tool's output, in English, says that it unpacked that package.
[[nodiscard]] bool tells_of_unpacking(std::string_view output, std::string_view package);

// What of a tool's output is about that package: lines that name it, and those that follow a line
// about it up to one about another. At most `limit` bytes, the last ones.
[[nodiscard]] std::string output_about(std::string_view output, std::string_view package,
                                       std::size_t limit);

}  // namespace datum::os
