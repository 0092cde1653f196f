// Who may ask the server what: its own user and root everything, members of two groups what the
// group is for. Read once, at the start.
#pragma once

#include <optional>
#include <string>

#include "datum/control/local_request.hpp"
#include "datum/wire/local_socket.hpp"

namespace datum::control {

struct Callers {
  // Groups by name; empty: none. `not_found` for one that is not on this machine.
  [[nodiscard]] static Result<Callers> find(const std::string& admins, const std::string& readers);

  // Members of both, besides the owner; without groups nobody. Who may only read is a guest.
  [[nodiscard]] wire::Admission admission() const;
  // Everything, also what changes something.
  [[nodiscard]] bool may_command(const wire::Peer& peer) const;
  // `refused`, naming the group that is needed.
  [[nodiscard]] Status check(const wire::Peer& peer, LocalVerb verb) const;

  std::uint32_t owner = 0;
  std::optional<std::uint32_t> admins, readers;
  std::string admins_name;
};

}  // namespace datum::control
