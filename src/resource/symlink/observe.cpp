// Looking at a Symlink: its own text, never what it points to.
#include "../path_facts.hpp"
#include "../show.hpp"
#include "datum/crypto/digest.hpp"
#include "symlink_provider.hpp"

namespace datum::resource {

void SymlinkProvider::observe(Sight& sight, const model::Resource& resource,
                              core::Observation& seen) const {
  const auto where = reach(sight, resource, seen);
  if (!where) return;
  const auto stat = sight.find(*where);
  if (!stat) return set_unknown(seen, "cannot be looked at", stat.error());
  if (!accept(sight, *where, *stat, seen)) return;
  const bool absent = resource.absent();
  if (!*stat) {
    if (!absent) add_state_drift(seen, false);
    return;
  }
  if (absent) add_state_drift(seen, true);
  if ((*stat)->type != os::FileType::symlink) {
    add_type_drift(seen, os::FileType::symlink, (*stat)->type);
    add_immutable_obstacle(**stat, seen);
    record_owned_content(sight, *where, **stat, seen);
    if ((*stat)->mount_root)
      add_obstacle(seen, core::Obstacle::mount_point, "target is a mount point");
    return;
  }
  if (absent) return;
  const auto text = sight.files().read_symlink(where->folder->handle, where->name);
  if (!text) return set_unknown(seen, "cannot be read", text.error());
  seen.content = crypto::sha256(as_bytes(*text));
  seen.content_size = text->size();
  const auto declared = resource.text(model::Field::target);
  if (declared != *text) {
    seen.conflicting_content = true;
    add_drift(seen, "target", shown(declared), shown(*text));
  }
}

}  // namespace datum::resource
