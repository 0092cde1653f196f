// Small text files that are read and written as a whole: what is changed of them is a line, and all
// other bytes stay. Internal to resource.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "metadata.hpp"
#include "work.hpp"

namespace datum::resource {

// Files that people write by hand; a list of ten thousand keys has 8 MiB.
inline constexpr std::size_t kMaxWholeText = 16 * 1024 * 1024;

struct WholeText {
  os::FileStat stat;
  std::string text;
};
// Of a regular file. Errors as for opening; `limit_exceeded` above kMaxWholeText; `conflict` if it
// grew or shrank meanwhile.
[[nodiscard]] Result<WholeText> read_whole_text(Sight& sight, const os::Location& where);

// A temp file beside the target with this text, to be renamed. Flags, label, ACL and user
// attributes of a regular file that is there go with it.
[[nodiscard]] Status stage_whole_text(Bench& bench, Work& work, std::string_view text,
                                      const Metadata& wanted);
// Owner and mode of the file that is there, else root's and readable by all.
[[nodiscard]] Metadata metadata_before(const Work& work);

// Where the path leads; folders of root's that are missing on the last step are made.
[[nodiscard]] Result<os::Location> locate_making_folder(Sight& sight, std::string_view path);

}  // namespace datum::resource
