// Owner, mode and extended attributes, in the one order that keeps them: owner, then mode (a new
// owner clears set-uid and set-gid), then attributes, then the mode once more where an ACL changed
// it.
#pragma once

#include "work.hpp"

namespace datum::resource {

// What a thing shall have: what is declared, else what the old one has, else a default for new
// things.
struct Metadata {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mode = 0;
  bool owner_given = false;  // declared, or taken over from the old thing
  bool mode_declared = false;
  bool mode_given = false;
};

// `inherits`: the old thing is of the same type and its undeclared fields stay as they are. Errors:
// `not_found` for an account that does not exist.
[[nodiscard]] Result<Metadata> wanted_metadata(const Sight& sight, const Work& work, bool inherits,
                                               std::uint32_t default_mode);

// Makes the object of `handle`, which is `now`, have it. Calls only what changes something: a file
// system without owners or modes is asked for nothing that is not declared.
[[nodiscard]] Status apply_metadata(os::Files& files, const os::Handle& handle,
                                    const os::FileStat& now, const Metadata& wanted);

// Label, ACL and user attributes from the old file to the staged one. `same_content`: its
// capabilities too (they are the kernel's trust in these very bytes under this owner).
[[nodiscard]] Status carry_attributes(os::Files& files, const os::Handle& from,
                                      const os::Handle& staged, bool same_content,
                                      const Metadata& wanted);

// In a reverting pass: the kept attributes become those that were there before. Nothing in any
// other.
[[nodiscard]] Status restore_attributes(Bench& bench, const Work& work, const os::Handle& handle,
                                        const Metadata& wanted);

}  // namespace datum::resource
