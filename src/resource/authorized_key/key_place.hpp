// Where the keys of a user lie, and whether what lies there may be read and replaced by root. The
// home belongs to somebody who is not trusted: nothing in it is followed, and what is not plainly
// that user's own is left alone, or copying it would hand it over.
#pragma once

#include <string>

#include "../sight.hpp"
#include "../whole_text.hpp"

namespace datum::resource {

struct KeysOwner {
  std::string name;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string home;
  std::string folder;  // HOME/.ssh
  std::string path;    // HOME/.ssh/authorized_keys, sshd's default
};
// `not_found`: the root's passwd has no such user; `refused`: its home is no place for a file.
[[nodiscard]] Result<KeysOwner> find_keys_owner(Sight& sight, std::string_view user);
// The file that an AuthorizedKey's target lies in.
[[nodiscard]] Result<std::string> find_keys_file(Sight& sight, const model::Target& target);

// Of a regular file with one name that is the user's, or root's and anybody may read it; anything
// else is `refused`, in words.
[[nodiscard]] Result<WholeText> read_keys(Sight& sight, const os::Location& where,
                                          const KeysOwner& owner);
// Of HOME/.ssh: the user's; or root's and empty, as a crash leaves it that came while it was made.
[[nodiscard]] Result<os::FileStat> check_keys_folder(Sight& sight, const os::Folder& folder,
                                                     const KeysOwner& owner);

}  // namespace datum::resource
