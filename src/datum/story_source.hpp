// Where a command reads a journal: the machine's own store, a copy of one, an export.
#pragma once

#include <string>

#include "arguments.hpp"
#include "datum/core/state.hpp"
#include "datum/history/story.hpp"

namespace datum::program {

// --journal PATH, else the store.
[[nodiscard]] Result<std::string> story_path(const Arguments& arguments);
// Records and what they name. Nothing is written beside a reader's slot in a live store.
[[nodiscard]] Result<history::Story> open_story(const Arguments& arguments);
[[nodiscard]] Result<history::Story> open_story_at(const std::string& path);
// One line on standard error where records that the store archived are missing: the rest is read.
// open_story and open_known_story say it themselves.
[[nodiscard]] Status note_missing(const history::Story& story, const std::string& path);

// The same, refused if the store is bound to another root than the one that was given, or, where
// neither root nor store was, than /.
struct KnownStory {
  history::Story story;
  core::State state;  // all of it
};
[[nodiscard]] Result<KnownStory> open_known_story(const Arguments& arguments);
[[nodiscard]] WallNs wall_now();

// A path, family:name, or the reference of something that the state knows.
[[nodiscard]] Result<model::Target> find_target(const core::State& state, const std::string& text);

// RFC 3339, or a duration back from now ("2h").
[[nodiscard]] Result<WallNs> parse_time(const std::string& flag, const std::string& text);

}  // namespace datum::program
