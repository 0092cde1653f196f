// Paths and names that documents may not take for themselves: what providers write on behalf of
// other resources, and Datum's own files and units. Fleet and providers must agree on them, so they
// stand here. Pure, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datum/base/error.hpp"
#include "datum/model/manifest.hpp"

namespace datum::model {

// The drop-in of a Sysctl: "/etc/sysctl.d/70-datum-KEY.conf" with `/` written %2F. `key` is
// normalised.
[[nodiscard]] std::string sysctl_drop_in(std::string_view key);

// What the providers write for a Repository of that id.
struct RepositoryFiles {
  std::string apt_source;   // /etc/apt/sources.list.d/ID.sources
  std::string apt_key_asc;  // /etc/apt/keyrings/ID.asc, for an armoured key
  std::string apt_key_gpg;  // /etc/apt/keyrings/ID.gpg, for a binary one
  std::string apt_pin;      // /etc/apt/preferences.d/ID.pref, for a priority
  std::string dnf_source;   // /etc/yum.repos.d/ID.repo
  std::string dnf_key;      // /etc/pki/rpm-gpg/RPM-GPG-KEY-ID
};
[[nodiscard]] RepositoryFiles repository_files(std::string_view id);

// All paths that a provider may write for this resource, besides its target: empty for File,
// Directory, Symlink, Package, Service.
[[nodiscard]] std::vector<std::string> provider_paths(const Resource& resource);
// Who writes that path whatever is declared ("User and Group" for /etc/passwd, "Sysctl" for
// /etc/sysctl.d/70-datum-*); nullopt if nobody.
[[nodiscard]] std::optional<std::string_view> find_provider_of(std::string_view path);

// Whether the path is one of Datum's own: at or below its folders, its programs, its units and
// their drop-ins, wherever packages put them.
[[nodiscard]] bool is_own_path(std::string_view path);
// Whether one of Datum's own paths lies below that folder.
[[nodiscard]] bool is_parent_of_own_path(std::string_view path);
[[nodiscard]] bool is_own_unit(std::string_view unit);
// The packages that bring Datum: upgraded like others, never removed.
[[nodiscard]] bool is_own_package(std::string_view package);

// Refuses a resource whose target could be taken for something else by a tool or a file format: an
// account with `:` in its name, a package that reads as an option, a sysctl key that leaves
// /proc/sys, a repository id that is no file name. `invalid_argument` with what is expected.
[[nodiscard]] Status check_target(const Target& target);

}  // namespace datum::model
