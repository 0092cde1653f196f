// The resource type AuthorizedKey: one key of a user's authorized_keys. The file is the user's and
// may hold anything else; only the lines of this key are changed, and the folder and the file are
// made as sshd wants them.
#pragma once

#include <string>
#include <string_view>

#include "../provider.hpp"

namespace datum::resource {

class KeyProvider final : public Provider {
 public:
  [[nodiscard]] bool shares_file() const override { return true; }
  void observe(Sight& sight, const model::Resource& resource,
               core::Observation& seen) const override;
  // Makes the user's .ssh where it is missing.
  [[nodiscard]] Result<os::Location> locate(Sight& sight, std::string_view place,
                                            const Work& work) const override;
  [[nodiscard]] Status stage(Bench& bench, Work& work) const override;
  [[nodiscard]] Status commit(Bench& bench, Work& work) const override;
  [[nodiscard]] Status remove(Bench& bench, Work& work) const override;
};

// The text of the user's file; empty where it is missing. Errors as for looking at a key of it.
[[nodiscard]] Result<std::string> read_keys_of(Sight& sight, std::string_view user);

// A key that left the declaration.
[[nodiscard]] Status look_at_leaving_key(Sight& sight, core::LeavingObservation& seen);

}  // namespace datum::resource
