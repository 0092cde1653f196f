// What the simulated host is told to be, and what somebody else does to its tree: a few folders,
// files and links out of a small world, so that versions overlap and leave each other. Every name
// stands for one path only, so that a call can be told by its name. Draws from the site's seed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "datum/model/manifest.hpp"
#include "sim_life.hpp"

namespace datum::simulation {

[[nodiscard]] model::ManifestPtr draw_manifest(Site& site);
// The two units of the world, and the paths of the files that each reads when it starts or reloads.
[[nodiscard]] std::vector<std::string> unit_names();
[[nodiscard]] std::vector<std::string> paths_read_by(const std::string& unit);
// Files by path; a path that ends in a slash is a folder.
[[nodiscard]] model::ManifestPtr declare(const std::map<std::string, std::string>& files);

// The path of a name below /etc and /srv that the world uses; nothing for every other name.
[[nodiscard]] std::optional<std::string> path_of(std::string_view name);
// Everything outside of the store, with what tells one state of it from another.
[[nodiscard]] std::string describe_tree(Site& site);
// What differs from the declaration, looked at without any code of Datum's; empty if nothing does.
[[nodiscard]] std::string find_difference(Site& site, const model::Manifest& manifest);

// Everybody but Datum who writes into the tree.
class Foreigner {
 public:
  // `whole_contents`: may also put there just what is declared, which nobody can tell from Datum's
  // own work where a pass died over it.
  void write(Site& site, const model::Manifest& manifest, bool whole_contents);
  // Paths written in the last `write`.
  [[nodiscard]] const std::set<std::string>& written() const { return written_; }
  // Whether the object was made by a foreigner.
  [[nodiscard]] bool made(std::uint64_t inode) const { return inodes_.contains(inode); }

 private:
  void write_one(Site& site, const model::Resource& resource, bool whole_contents);
  void put(Site& site, const std::string& path, const std::string& content);

  std::set<std::string> written_;
  std::set<std::uint64_t> inodes_;
};

}  // namespace datum::simulation
