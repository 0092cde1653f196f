// replay, postmortem: what a journal says of a moment and of a pass. Nothing is written but the
// page that was asked for.
#include "commands.hpp"
#include "datum/inspect/postmortem.hpp"
#include "datum/inspect/replay.hpp"
#include "durable_file.hpp"
#include "print.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

// A sequence, or a time: then the newest record that is not younger.
Result<Seq> parse_place(journal::Reader& reader, const std::string& flag, const std::string& text) {
  if (text.empty()) return Seq{0};
  constexpr std::size_t kMaxDigits = 19;
  if (text.find_first_not_of("0123456789") == std::string::npos && text.size() <= kMaxDigits) {
    const auto seq = std::stoull(text);
    if (seq == 0) return fail(ErrorCode::invalid_argument, flag + " 0: records count from 1");
    return seq;
  }
  DATUM_ASSIGN(const auto time, parse_time(flag, text));
  return inspect::find_seq_at(reader, time);
}

Result<inspect::Replayed> replay_once(const history::Story& story, const Arguments& arguments,
                                      const std::string& flag, const std::string& place) {
  const auto projection = inspect::find_projection(arguments.projection);
  if (!projection)
    return fail(ErrorCode::invalid_argument,
                arguments.projection +
                    ": no such projection; there are lifecycle, owned, status, drift, passes and "
                    "notifications");
  DATUM_ASSIGN(const auto at, parse_place(*story.reader, flag, place));
  const auto style = output_style(arguments);
  if (!arguments.as_mode) return inspect::replay(*story.reader, *projection, at, style);
  if (*arguments.as_mode == "observe")
    return inspect::replay_as_observed(*story.reader, *story.content, *projection, at, style);
  if (*projection != inspect::Projection::drift)
    return fail(ErrorCode::invalid_argument,
                "--as enforce concerns drift: it shows the plan that would have been done");
  return inspect::replay_as_enforced(*story.reader, *story.content, at, style);
}

Result<int> run_replay(const Arguments& arguments) {
  DATUM_ASSIGN(const auto story, open_story(arguments));
  if (arguments.diff.empty()) {
    DATUM_ASSIGN(const auto replayed, replay_once(story, arguments, "--at", arguments.at));
    print(arguments.json ? replayed.json : replayed.text);
    return 0;
  }
  DATUM_ASSIGN(const auto before, replay_once(story, arguments, "--diff", arguments.diff[0]));
  DATUM_ASSIGN(const auto after, replay_once(story, arguments, "--diff", arguments.diff[1]));
  print(arguments.json ? inspect::diff_json(before, after)
                       : inspect::diff_text(before, after, output_style(arguments)));
  return 0;
}

Result<PassId> parse_pass(const std::string& text) {
  if (text.empty() || text == "last") return PassId{0};
  constexpr std::size_t kMaxDigits = 19;
  const bool digits =
      text.find_first_not_of("0123456789") == std::string::npos && text.size() <= kMaxDigits;
  const PassId pass = digits ? std::stoull(text) : 0;
  if (pass == 0)
    return fail(ErrorCode::invalid_argument,
                text + ": not a pass; give its number, or last; `datum replay passes` lists them");
  return pass;
}

Status write_page(const std::string& path, const std::string& page) {
  DATUM_ASSIGN(auto file, DurableFile::create(path));
  DATUM_TRY(file.write(as_bytes(page)));
  return file.commit();
}

Result<int> run_postmortem(const Arguments& arguments) {
  DATUM_ASSIGN(const auto pass, parse_pass(arguments.pass_name));
  DATUM_ASSIGN(const auto story, open_story(arguments));
  DATUM_ASSIGN(const auto told, inspect::tell_pass(*story.reader, *story.content, pass));
  if (!arguments.html.empty()) {
    DATUM_TRY(write_page(arguments.html, inspect::postmortem_html(told)));
    if (!arguments.json) return 0;
  }
  print(arguments.json ? inspect::postmortem_json(told)
                       : inspect::postmortem_text(told, output_style(arguments)));
  return 0;
}

}  // namespace

int replay_command(const Arguments& arguments) {
  return finish(arguments.verb == Verb::replay ? run_replay(arguments) : run_postmortem(arguments));
}

}  // namespace datum::program
