#include "callers.hpp"

#include <grp.h>
#include <unistd.h>

#include <cerrno>

namespace datum::control {
namespace {

Result<std::optional<std::uint32_t>> find_group(const std::string& name) {
  if (name.empty()) return std::nullopt;
  errno = 0;
  if (const auto* found = ::getgrnam(name.c_str())) return found->gr_gid;
  if (errno != 0 && errno != ENOENT) return fail(error_from_errno(errno, "the group " + name));
  return fail(ErrorCode::not_found, "this machine has no group " + name);
}

}  // namespace

Result<Callers> Callers::find(const std::string& admins, const std::string& readers) {
  Callers callers;
  callers.owner = ::geteuid();
  DATUM_ASSIGN(callers.admins, find_group(admins));
  DATUM_ASSIGN(callers.readers, find_group(readers));
  callers.admins_name = admins;
  return callers;
}

bool Callers::may_command(const wire::Peer& peer) const {
  return peer.uid == owner || peer.uid == 0 || (admins && peer.is_in(*admins));
}

wire::Admission Callers::admission() const {
  if (!admins && !readers) return {owner};
  return {owner, [this_one = *this](const wire::Peer& peer) {
            if (this_one.may_command(peer)) return wire::Welcome::full;
            return this_one.readers && peer.is_in(*this_one.readers) ? wire::Welcome::guest
                                                                     : wire::Welcome::none;
          }};
}

Status Callers::check(const wire::Peer& peer, LocalVerb verb) const {
  if (may_command(peer) || only_reads(verb)) return {};
  return fail(ErrorCode::refused,
              std::string(to_string(verb)) + " changes something, and you may only read here" +
                  (admins_name.empty() ? "" : ": that is for members of " + admins_name));
}

}  // namespace datum::control
