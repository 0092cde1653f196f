#include "accepted_desired.hpp"

#include <memory>

#include "datum/engine/declaration_taker.hpp"
#include "story_source.hpp"

namespace datum::program {

Result<std::optional<AcceptedDesired>> find_accepted(os::Files& files, const Arguments& arguments) {
  DATUM_ASSIGN(const auto folder, state_folder(arguments));
  AcceptedDesired found;
  {
    const auto known = open_known_story(arguments);
    // What is wrong with the store is said, with what to do, by whoever opens it for the pass.
    if (!known || !known->state.accepted) return std::nullopt;
    found.declaration = *known->state.accepted;
    found.host = known->state.host;
  }
  DATUM_ASSIGN(auto opened, blobs::open_blobs(files, folder, true));
  const std::shared_ptr<const blobs::BlobStore> blobs = std::move(opened);
  auto read = engine::read_accepted(files, folder, *blobs, found.declaration);
  if (!read) return fail(std::move(read).error().context("the accepted declaration"));
  found.allowed_removals = read->body.allowed_removals;
  found.desired.manifest = std::move(read->manifest);
  found.desired.content = blobs;
  found.desired.provenance = std::move(read->body.provenance);
  if (found.desired.provenance.source.empty()) found.desired.provenance.source = "link";
  return std::optional<AcceptedDesired>(std::move(found));
}

}  // namespace datum::program
