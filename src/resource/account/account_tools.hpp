// Which tools make an account as declared, as argument vectors; no shell, and no secret in any of
// them. Pure.
#pragma once

#include <string>
#include <vector>

#include "account_book.hpp"
#include "datum/core/plan.hpp"
#include "datum/model/manifest.hpp"

namespace datum::resource {

struct ToolRun {
  std::vector<std::string> argv;
  std::string input;  // of its standard input; a secret where it is not empty
};

struct AccountJob {
  const core::Action& action;
  const model::Resource* resource;  // null: it left
  const AccountBook& book;          // as it is before
  std::string root;                 // "/" or --root
  std::string hash;                 // of `passwordRef`; empty without one
  bool group_is_declared = false;   // a Group of the user's name is, and is to be there
};
// In order. Empty where nothing can be done.
[[nodiscard]] std::vector<ToolRun> tools_for(const AccountJob& job);
// userdel takes the group of the user's own name with it where nobody else is in it. A declared one
// comes back with its number.
[[nodiscard]] ToolRun remake_group(const AccountJob& job, std::uint32_t gid);

}  // namespace datum::resource
