#include "story_source.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "datum/blobs/blob_store.hpp"
#include "datum/config/quantity.hpp"
#include "datum/engine/set_aside.hpp"
#include "datum/history/missing.hpp"
#include "datum/history/open.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/program/session.hpp"
#include "datum/text/human.hpp"
#include "datum/text/terminal.hpp"
#include "desired.hpp"
#include "store_end.hpp"
#include "story_import.hpp"

namespace datum::program {

namespace {

// The blobs of a store's folder, with the files that they are read through.
class FolderContent final : public ContentSource {
 public:
  FolderContent(std::unique_ptr<os::Files> files, std::unique_ptr<blobs::BlobStore> blobs)
      : files_(std::move(files)), blobs_(std::move(blobs)) {}
  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    return blobs_->open(digest);
  }

 private:
  std::unique_ptr<os::Files> files_;
  std::unique_ptr<blobs::BlobStore> blobs_;
};

// A copy of a journal without its blobs.
class NoContent final : public ContentSource {
 public:
  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    return fail(ErrorCode::not_found,
                "there are no blobs beside this journal: sha256:" + digest.hex() + " is not here");
  }
};

Result<std::shared_ptr<const ContentSource>> folder_content(const std::string& folder) {
  auto files = os_linux::make_files();
  auto blobs = blobs::open_blobs(*files, folder, true);
  if (!blobs && blobs.error().code() == ErrorCode::not_found)
    return std::shared_ptr<const ContentSource>(std::make_shared<NoContent>());
  if (!blobs) return fail(std::move(blobs).error());
  return std::shared_ptr<const ContentSource>(
      std::make_shared<FolderContent>(std::move(files), std::move(*blobs)));
}

// A folder without a journal: never a store, one that has lost it, or an import that was cut off.
Error no_store(const std::string& path) {
  auto cut = words_of_cut_import(path);
  if (!cut.empty()) return {ErrorCode::not_found, std::move(cut)};
  const auto files = os_linux::make_files();
  auto lost = engine::find_lost_journal(*files, path);
  if (!lost.empty()) return with_remedy({ErrorCode::corrupt, std::move(lost)}, path);
  return {ErrorCode::not_found, path +
                                    ": there is no store here; --state DIR names one, and the "
                                    "first `datum observe` or `datum reconcile` makes it"};
}

// A store of another root says nothing about the one that was meant.
Status check_root(const Arguments& arguments, const core::State& state) {
  const bool is_default = arguments.state.empty() && arguments.journal.empty();
  if (!arguments.root_given && !is_default) return {};
  const auto root = absolute_path(arguments.root);
  if (state.root.empty() || state.root == root) return {};
  return fail(ErrorCode::refused, "this store is bound to the root " + state.root + ", not to " +
                                      root + ": give --root " + state.root +
                                      ", or another --state");
}

}  // namespace

Result<std::string> story_path(const Arguments& arguments) {
  if (!arguments.journal.empty()) return absolute_path(arguments.journal);
  return state_folder(arguments);
}

Result<history::Story> open_story_at(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return history::open_exported_story(path);
  auto reader = history::open_reader(path);
  if (!reader && reader.error().code() == ErrorCode::not_found) return fail(no_store(path));
  if (!reader) return fail(with_remedy(std::move(reader).error(), path));
  DATUM_ASSIGN(auto content, folder_content(path));
  return history::Story{std::move(*reader), std::move(content), {}};
}

Status note_missing(const history::Story& story, const std::string& path) {
  DATUM_ASSIGN(const auto missing, history::describe_missing(*story.reader, path));
  if (!missing.empty()) std::fprintf(stderr, "note: %s\n", text::escape(missing).c_str());
  return {};
}

Result<history::Story> open_story(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, story_path(arguments));
  DATUM_ASSIGN(auto story, open_story_at(path));
  DATUM_TRY(note_missing(story, path));
  if (!arguments.root_given) return story;
  DATUM_ASSIGN(const auto state, history::fold(*story.reader, 0, true));
  DATUM_TRY(check_root(arguments, state));
  return story;
}

Result<KnownStory> open_known_story(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, story_path(arguments));
  DATUM_ASSIGN(auto story, open_story_at(path));
  DATUM_TRY(note_missing(story, path));
  DATUM_ASSIGN(auto state, history::fold(*story.reader, 0, true));
  DATUM_TRY(check_root(arguments, state));
  return KnownStory{std::move(story), std::move(state)};
}

WallNs wall_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
}

Result<model::Target> find_target(const core::State& state, const std::string& text) {
  if (const auto reference = model::find_reference(text)) {
    for (const auto& [target, resource] : state.resources)
      if (resource.reference == *reference) return target;
    for (const auto& [target, owned] : state.owned)
      if (owned.reference == *reference) return target;
    for (const auto& [target, owned] : state.orphans)
      if (owned.reference == *reference) return target;
    return fail(ErrorCode::not_found, text +
                                          ": the store knows no resource of that name; give its "
                                          "target, for example /etc/motd");
  }
  if (text.starts_with('/')) return model::Target{model::TargetFamily::path, text};
  for (int number = 1; number <= static_cast<int>(model::kLastTargetFamily); ++number) {
    const auto family = static_cast<model::TargetFamily>(number);
    const auto prefix = std::string(model::to_string(family)) + ":";
    if (text.starts_with(prefix)) return model::Target{family, text.substr(prefix.size())};
  }
  return fail(ErrorCode::invalid_argument,
              text + ": not a target; give a path, family:name (unit:ssh.service) or Type[name]");
}

Result<WallNs> parse_time(const std::string& flag, const std::string& text) {
  if (const auto at = find_rfc3339(text)) return *at;
  if (const auto back = config::find_duration_ns(text)) {
    return WallNs{wall_now().ns - *back};
  }
  return fail(ErrorCode::invalid_argument,
              flag + " " + text +
                  ": not a time; give one like 2026-11-29T16:22:42Z, or how long ago, like 2h");
}

}  // namespace datum::program
