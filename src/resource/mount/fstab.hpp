// The lines of /etc/fstab (fstab(5)) about one mount point, and what the kernel says is mounted
// there (proc(5), mountinfo). Pure, any thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace datum::resource {

// `\040` and its kin undone; a backslash that begins none of them stays.
[[nodiscard]] std::string decode_field(std::string_view field);
// White space and backslashes as octal, so that a field is one word.
[[nodiscard]] std::string encode_field(std::string_view text);

// A line about the mount point, with its fields decoded.
struct FstabLine {
  std::size_t begin = 0;  // of the line in the text
  std::size_t end = 0;    // behind its line end
  std::string device;
  std::string fs_type;
  std::string options;  // "defaults" where the line has none
};
struct WantedMount {
  std::string_view path;
  std::string_view device;
  std::string_view fs_type;
  std::optional<std::string_view> options;  // nothing: as they are
};
[[nodiscard]] std::vector<FstabLine> find_fstab_lines(std::string_view text, std::string_view path);
// Options are a set.
[[nodiscard]] bool are_same_options(std::string_view a, std::string_view b);
[[nodiscard]] bool is_wanted(const FstabLine& line, const WantedMount& wanted);
// The fields of each line that differ, all other bytes as they are; one more line at the end where
// there is none, behind a line end where the last one had none.
[[nodiscard]] std::string write_fstab(std::string_view text, const WantedMount& wanted);
[[nodiscard]] std::string remove_fstab(std::string_view text, std::string_view path);

// What is mounted on top of a mount point.
struct Mounted {
  std::string number;  // "8:1"
  std::string source;  // "/dev/sda1", "host:/path", "tmpfs"
  std::string fs_type;
  // Those of the mount point itself, and of its file system those that every one may have.
  std::set<std::string, std::less<>> options;
};
// Nothing if nothing is mounted there. Lines that are not of the format are passed over.
[[nodiscard]] std::optional<Mounted> find_mounted(std::string_view mountinfo,
                                                  std::string_view path);

// Of those options what takes something away from who uses the mount (ro, nosuid, nodev, noexec,
// noatime, nodiratime, nosymfollow), and when it is written (sync, dirsync, lazytime): the kernel
// has the same words for them. Whatever else is declared is the file system's own, or fstab's.
[[nodiscard]] std::set<std::string, std::less<>> restrictions(std::string_view options);
[[nodiscard]] std::set<std::string, std::less<>> restrictions(
    const std::set<std::string, std::less<>>& options);

}  // namespace datum::resource
