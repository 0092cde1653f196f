#include "blob_check.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "datum/blobs/blob_store.hpp"
#include "datum/crypto/digest.hpp"
#include "datum/history/open.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/text/human.hpp"

namespace datum::program {

namespace {

// Of a blob store that is damaged all over, the rest is counted.
constexpr std::size_t kMaxBlobsNamed = 100;

// Reads all of it: `corrupt` where it is not what its name says.
Status read_through(const ContentSource& content, const Digest& digest) {
  DATUM_ASSIGN(const auto stream, content.open(digest));
  std::array<std::byte, 64 * 1024> buffer{};
  crypto::Sha256 hasher;
  for (;;) {
    const auto count = stream->read(buffer);
    if (!count && count.error().code() == ErrorCode::not_found)
      return fail(ErrorCode::corrupt, "blob: a part of it is missing");
    if (!count) return fail(count.error());
    if (*count == 0) break;
    hasher.update(ByteView(buffer).first(*count));
  }
  if (hasher.finish() == digest) return {};
  return fail(ErrorCode::corrupt, "blob: its content does not have its digest");
}

std::string damaged_words(const std::string& folder, const Digest& digest, const Error& error) {
  const auto hex = digest.hex();
  return "blob sha256:" + hex + " is damaged: " + folder + "/blobs/" + hex.substr(0, 2) + "/" +
         hex + ": " + error.message();
}

// What a store keeps for as long as a record names it: plans, and what lay there before a change.
void add_kept(const core::Event& event, std::set<Digest>& kept) {
  if (const auto* planned = std::get_if<core::PlanComputed>(&event)) kept.insert(planned->plan);
  if (const auto* finished = std::get_if<core::PassFinished>(&event)) kept.insert(finished->plan);
  const auto* const announced = std::get_if<core::ActionsAnnounced>(&event);
  if (announced == nullptr) return;
  kept.insert(announced->plan);
  for (const auto& action : announced->actions) {
    kept.insert(action.old_content);
    kept.insert(action.attributes);
  }
}

struct NamedBlobs {
  std::set<Digest> kept;   // by live records: they have to be there
  std::set<Digest> other;  // only by archived ones, or manifests, which not every store holds
};
Result<NamedBlobs> named_blobs(const std::string& folder) {
  NamedBlobs named;
  {
    // The journal alone: plans that only archived records name are gone with them.
    DATUM_ASSIGN(const auto live, history::open_for_reading(folder));
    DATUM_TRY(history::scan_events(*live, 1, [&named](const history::StoredEvent& stored) {
      add_kept(stored.event, named.kept);
      return journal::Visit::go_on;
    }));
  }
  DATUM_ASSIGN(const auto whole, history::open_reader(folder));
  DATUM_TRY(history::scan_events(*whole, 1, [&named](const history::StoredEvent& stored) {
    for (const auto& digest : core::blobs_of(stored.event))
      if (!named.kept.contains(digest)) named.other.insert(digest);
    return journal::Visit::go_on;
  }));
  named.kept.erase(Digest{});
  named.other.erase(Digest{});
  return named;
}

// Damaged ones, in words; those that are not there are handed to `missing`.
void judge(const ContentSource& content, const std::string& folder, const std::set<Digest>& named,
           std::vector<Digest>& missing, std::vector<std::string>& damaged) {
  for (const auto& digest : named) {
    const auto read = read_through(content, digest);
    if (read) continue;
    if (read.error().code() == ErrorCode::not_found)
      missing.push_back(digest);
    else
      damaged.push_back(damaged_words(folder, digest, read.error()));
  }
}

std::string missing_words(const std::vector<Digest>& missing) {
  if (missing.empty()) return {};
  return text::format_count(missing.size(), "blob") + " that records refer to " +
         (missing.size() == 1 ? "is" : "are") + " missing, first sha256:" + missing.front().hex();
}

}  // namespace

Result<std::string> find_blob_faults(const std::string& folder) {
  DATUM_ASSIGN(const auto named, named_blobs(folder));
  const auto files = os_linux::make_files();
  const auto blobs = blobs::open_blobs(*files, folder, true);
  if (!blobs && blobs.error().code() != ErrorCode::not_found) return blobs.error().message();
  std::vector<Digest> missing;
  std::vector<std::string> faults;
  if (blobs) {
    judge(**blobs, folder, named.kept, missing, faults);
    std::vector<Digest> may_be_gone;
    judge(**blobs, folder, named.other, may_be_gone, faults);
  } else {
    missing.assign(named.kept.begin(), named.kept.end());
  }
  if (faults.size() > kMaxBlobsNamed) {
    const auto more = faults.size() - kMaxBlobsNamed;
    faults.resize(kMaxBlobsNamed);
    faults.push_back(text::format_count(more, "blob") + " more");
  }
  if (auto words = missing_words(missing); !words.empty()) faults.push_back(std::move(words));
  std::string all;
  for (const auto& fault : faults) all += (all.empty() ? "" : "; ") + fault;
  return all;
}

Result<std::unique_ptr<ByteSource>> SoundContent::open(const Digest& digest) const {
  const auto read = read_through(*whole_, digest);
  if (read) return whole_->open(digest);
  if (read.error().code() == ErrorCode::not_found) return fail(read.error());
  auto words = damaged_words(folder_, digest, read.error());
  if (std::find(damaged_.begin(), damaged_.end(), words) == damaged_.end())
    damaged_.push_back(words);
  return fail(ErrorCode::not_found, std::move(words));
}

}  // namespace datum::program
