// What declared fields of a User or Group mean for an account, and how they differ from what the
// files say. Pure, but for the look at the files themselves.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "../sight.hpp"
#include "account_book.hpp"

namespace datum::resource {

// As a provider's `observe`.
void observe_user(Sight& sight, const model::Resource& resource, core::Observation& seen);
void observe_group(Sight& sight, const model::Resource& resource, core::Observation& seen);
// An account that left the declaration.
void observe_leaving_account(Sight& sight, core::LeavingObservation& seen);

// "!" and "*" in front both mean that no password opens the account.
[[nodiscard]] bool is_locked(const std::optional<std::string>& password);
// As an account is that was made and never had a password, by the tools of any distribution: nobody
// locked it.
[[nodiscard]] bool is_unset(const std::optional<std::string>& password);
// Taking one "!" away leaves something that is a password.
[[nodiscard]] bool has_password(const std::optional<std::string>& password);
// The field without the one "!" that a lock puts in front.
[[nodiscard]] std::string_view without_lock(std::string_view password);
// As crypt(5) has it: "$id$…$hash"; nothing else is taken for one, so that no password stands in
// the file as it is.
[[nodiscard]] bool is_crypt_hash(std::string_view text);

// The declared supplementary groups, without the primary one.
[[nodiscard]] std::set<std::string> wanted_groups(const model::Resource& user,
                                                  std::string_view primary);
// Whether other groups than these stay (`groupsMode: include`).
[[nodiscard]] bool keeps_other_groups(const model::Resource& user);
// "a, b"; "none".
[[nodiscard]] std::string joined(const std::set<std::string>& names);

}  // namespace datum::resource
