// The decision between rename, writing in place and metadata only.
#include "route.hpp"

namespace datum::resource {

using model::Field;

bool inherits(const Work& work) {
  return work.before && work.before->type == os::FileType::regular;
}

bool writes_content(const Work& work) {
  if (work.resource->content() == nullptr) return false;
  return !inherits(work) || work.has_change("content");
}

Result<Route> choose_route(const Work& work) {
  if (!inherits(work)) return Route::rename;
  const auto& resource = *work.resource;
  const bool content = writes_content(work);
  const bool shared = work.before->links > 1;
  const auto links = resource.text(Field::hard_links, "fail");
  if (shared && links == "fail")
    return fail(ErrorCode::refused, std::to_string(work.before->links) +
                                        " names share this file; hardLinks: fail. Not touched");
  const bool in_place = resource.text(Field::replace) == "inPlace";
  if (!content && (!shared || links != "break" || in_place)) return Route::metadata;
  if (in_place || (shared && links == "inPlace")) return Route::in_place;
  if (work.before->mount_root)
    return fail(ErrorCode::busy,
                "target is a mount point: nothing can take its name; replace: inPlace writes into "
                "it. Not touched");
  return Route::rename;
}

}  // namespace datum::resource
