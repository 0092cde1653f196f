// Making a Symlink: a new one under a temp name takes the place of the old one in one step. The old
// one's owner is not taken over: in a user's folder the temp name could meanwhile stand for another
// file, which would then be given away. A reverting pass gives it back where nobody else can do
// that.
#include "symlink_provider.hpp"

namespace datum::resource {

Status SymlinkProvider::stage(Bench& bench, Work& work) const {
  const auto name = bench.temp_name_of(work);
  DATUM_TRY(remove_beside(bench.files(), work.where, name));
  DATUM_TRY(bench.files().make_symlink(work.where.folder->handle, name,
                                       work.resource->text(model::Field::target)));
  work.temp = name;
  const auto* former = bench.sight.declared().find_former(work.action->target);
  if (former == nullptr || !former->traces || !is_trusted(work.where)) return {};
  return bench.files().set_owner_at(work.where.folder->handle, name, former->traces->uid,
                                    former->traces->gid);
}

Status SymlinkProvider::commit(Bench& bench, Work& work) const {
  return put_in_place(bench, work);
}

Status SymlinkProvider::remove(Bench& bench, Work& work) const {
  return remove_observed(bench, work);
}

}  // namespace datum::resource
