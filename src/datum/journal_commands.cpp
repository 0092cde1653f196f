// journal list, show, tail, verify, export, import: records as they lie in a store, a copy of one
// or an export. Only export and import write, and only what they were told to.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "blob_check.hpp"
#include "commands.hpp"
#include "datum/engine/store.hpp"
#include "datum/history/open.hpp"
#include "datum/inspect/store_report.hpp"
#include "datum/os_linux/linux_files.hpp"
#include "datum/text/human.hpp"
#include "datum/text/json_writer.hpp"
#include "datum/text/terminal.hpp"
#include "print.hpp"
#include "store_watch.hpp"
#include "story_import.hpp"
#include "story_source.hpp"

namespace datum::program {

namespace {

void print_event(const Arguments& arguments, const history::StoredEvent& stored,
                 const inspect::Style& style) {
  print(arguments.json ? inspect::event_json(stored) : inspect::event_line(stored, style));
}

// No journal has more; a list of all of it is asked for record by record.
constexpr std::size_t kAll = ~std::size_t{0} >> 1;
// Kinds have numbers below this, in groups of twenty.
constexpr std::uint16_t kKindsEnd = 256;

// Which records are wanted, beside the pass or the target that an index leads to.
struct Filter {
  std::string kind;
  std::optional<WallNs> since, until;

  [[nodiscard]] bool wants(const history::StoredEvent& stored) const {
    if (since && stored.place.wall.ns < since->ns) return false;
    if (until && stored.place.wall.ns > until->ns) return false;
    return kind.empty() || core::to_string(core::kind_of(stored.event)) == kind;
  }
};

Status check_kind(const std::string& kind) {
  if (kind.empty()) return {};
  for (std::uint16_t number = 1; number < kKindsEnd; ++number)
    if (core::to_string(static_cast<core::EventKind>(number)) == kind) return {};
  return fail(ErrorCode::invalid_argument,
              "--kind " + kind + ": no event has this name; docs/formats/events.md lists them");
}

Result<Filter> make_filter(const Arguments& arguments) {
  DATUM_TRY(check_kind(arguments.kind));
  Filter filter;
  filter.kind = arguments.kind;
  if (!arguments.since.empty()) {
    DATUM_ASSIGN(filter.since, parse_time("--since", arguments.since));
  }
  if (!arguments.until.empty()) {
    DATUM_ASSIGN(filter.until, parse_time("--until", arguments.until));
  }
  return filter;
}

Seq first_seq(const Arguments& arguments) {
  return std::max<Seq>(arguments.from, 1);
}

// The events that the index of a pass or of a target leads to.
Result<std::vector<history::StoredEvent>> find_indexed(journal::Reader& reader,
                                                       const Arguments& arguments) {
  std::vector<history::StoredEvent> events;
  if (!arguments.target.empty()) {
    DATUM_ASSIGN(const auto state, history::fold(reader, 0, true));
    DATUM_ASSIGN(const auto target, find_target(state, arguments.target));
    DATUM_ASSIGN(events, history::find_target(reader, target, first_seq(arguments), kAll));
    if (arguments.pass != 0)
      std::erase_if(events, [&](const auto& stored) {
        return stored.place.seq != arguments.pass && core::pass_of(stored.event) != arguments.pass;
      });
    return events;
  }
  DATUM_ASSIGN(const auto sequences,
               history::find_pass(reader, arguments.pass, first_seq(arguments), kAll));
  for (const Seq seq : sequences) {
    DATUM_ASSIGN(auto stored, history::read_event(reader, seq));
    events.push_back(std::move(stored));
  }
  return events;
}

using TakeEvent = std::function<void(const history::StoredEvent&)>;
// Streams where it can: a list of a million records does not stand in memory.
Status each_listed(journal::Reader& reader, const Arguments& arguments, const Filter& filter,
                   const TakeEvent& take) {
  if (arguments.pass != 0 || !arguments.target.empty()) {
    DATUM_ASSIGN(const auto events, find_indexed(reader, arguments));
    for (const auto& stored : events)
      if (filter.wants(stored)) take(stored);
    return {};
  }
  return history::scan_events(reader, first_seq(arguments),
                              [&](const history::StoredEvent& stored) {
                                if (filter.wants(stored)) take(stored);
                                return journal::Visit::go_on;
                              });
}

Result<int> run_list(const Arguments& arguments) {
  DATUM_ASSIGN(const auto filter, make_filter(arguments));
  DATUM_ASSIGN(const auto story, open_story(arguments));
  const auto style = output_style(arguments);
  std::size_t skip = 0;
  if (arguments.limit != 0) {
    DATUM_TRY(each_listed(*story.reader, arguments, filter, [&](const auto&) { ++skip; }));
    skip = skip > arguments.limit ? skip - arguments.limit : 0;
  }
  DATUM_TRY(each_listed(*story.reader, arguments, filter, [&](const auto& stored) {
    if (skip > 0)
      --skip;
    else
      print_event(arguments, stored, style);
  }));
  return 0;
}

Result<int> run_show(const Arguments& arguments) {
  DATUM_ASSIGN(const auto story, open_story(arguments));
  DATUM_ASSIGN(const auto stored, history::read_event(*story.reader, arguments.seq));
  print(arguments.json ? inspect::event_json(stored)
                       : inspect::event_text(stored, output_style(arguments)));
  return 0;
}

// Prints what is new, and says where the next look begins.
Result<Seq> print_new(const Arguments& arguments, const Filter& filter, journal::Reader& reader,
                      Seq from) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  const auto style = output_style(arguments);
  from = std::max(from, head.first);
  if (head.seq < from) return from;
  DATUM_TRY(history::scan_events(reader, from, [&](const history::StoredEvent& stored) {
    if (filter.wants(stored)) print_event(arguments, stored, style);
    from = stored.place.seq + 1;
    return journal::Visit::go_on;
  }));
  return from;
}

// Until the user had enough, or another file has the place of the one that is read.
Result<StoreWatch::Woken> follow_file(const Arguments& arguments, const Filter& filter,
                                      journal::Reader& reader, StoreWatch& watch, Seq& from) {
  for (;;) {
    DATUM_ASSIGN(from, print_new(arguments, filter, reader, from));
    // Whoever reads it went: how the command ends says so.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return StoreWatch::Woken::stopped;
    reader.release_memory();
    DATUM_ASSIGN(const auto woken, watch.wait());
    if (woken != StoreWatch::Woken::written) return woken;
  }
}

// The head that was shown last, of the store that was followed: a compaction keeps both.
Status check_same_story(journal::Reader& reader, const Id128& store, const journal::Head& shown) {
  bool is_same = reader.store_id() == store;
  if (is_same && shown.seq != 0) {
    const auto read = reader.read(shown.seq, [&](const journal::Record& record) {
      is_same = journal::hash_of(record) == shown.hash;
      return journal::Visit::stop;
    });
    // What is archived may have been taken elsewhere since.
    DATUM_ASSIGN(const auto head, reader.read_head());
    if (!read) is_same = read.error().code() == ErrorCode::not_found && shown.seq < head.seq;
  }
  if (is_same) return {};
  return fail(ErrorCode::conflict, "another store, or an older copy of it, has its place");
}

Error no_more(const std::string& path, const Error& why) {
  return {ErrorCode::not_found, path +
                                    ": the store was moved, removed or replaced; begin again to "
                                    "follow what is there now (" +
                                    why.message() + ")"};
}

// A service compacts its store in place, and a command that archives does: then the same records
// lie in another file, and what comes next goes there.
Result<int> follow(const Arguments& arguments, const Filter& filter, const std::string& path,
                   Seq from) {
  std::optional<Id128> store;
  journal::Head shown;
  for (;;) {
    // The watch first: what is replaced between the two is told by it.
    auto watch = StoreWatch::open(path);
    if (!watch) return fail(store ? no_more(path, watch.error()) : watch.error());
    auto reader = history::open_live_reader(path);
    if (!reader) return fail(store ? no_more(path, reader.error()) : reader.error());
    if (store) {
      const auto same = check_same_story(**reader, *store, shown);
      if (!same) return fail(no_more(path, same.error()));
    }
    store = (*reader)->store_id();
    DATUM_ASSIGN(const auto woken, follow_file(arguments, filter, **reader, *watch, from));
    if (woken == StoreWatch::Woken::stopped) return 0;
    DATUM_ASSIGN(shown, (*reader)->read_head());
  }
}

// The place of the oldest of the newest `count`.
Result<Seq> tail_begin(journal::Reader& reader, std::uint64_t count) {
  DATUM_ASSIGN(const auto head, reader.read_head());
  return head.seq >= count + head.first ? head.seq - count + 1 : head.first;
}

Result<int> run_tail(const Arguments& arguments) {
  DATUM_ASSIGN(const auto filter, make_filter(arguments));
  DATUM_ASSIGN(const auto path, story_path(arguments));
  Seq from = 1;
  {
    DATUM_ASSIGN(const auto story, open_story_at(path));
    DATUM_TRY(note_missing(story, path));
    DATUM_ASSIGN(from, tail_begin(*story.reader, arguments.lines));
    if (!arguments.follow) {
      DATUM_TRY(print_new(arguments, filter, *story.reader, from));
      return 0;
    }
  }
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored))
    return fail(ErrorCode::invalid_argument, path + " is an export, and nothing is added to one");
  return follow(arguments, filter, path, from);
}

// What a store's folder lacks beside its records, in words; empty if nothing. Only of a store
// itself: an export, or a copy of the journal alone, has neither key nor all blobs.
Result<std::string> find_faults(const std::string& folder) {
  const auto files = os_linux::make_files();
  {
    DATUM_ASSIGN(const auto reader, history::open_for_reading(folder));
    DATUM_ASSIGN(const auto head, reader->read_head());
    if (head.seq == 0) return std::string();  // its making was cut off: the next pass goes on
  }
  // Of the key alone: blobs are judged one by one.
  const auto faults = engine::find_store_faults(*files, folder, {});
  if (!faults.empty()) return faults.front();
  return find_blob_faults(folder);
}

bool is_store(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) &&
         !std::filesystem::exists(path + "/" + std::string(engine::kImportedName), ignored);
}

struct Verified {
  journal::Verification verification;
  Digest redacted_from;
};

Result<Verified> verify_path(const std::string& path) {
  std::error_code ignored;
  Verified verified;
  if (std::filesystem::is_regular_file(path, ignored)) {
    DATUM_ASSIGN(verified.verification, journal::verify_export(path));
    if (!verified.verification.sound) return verified;
    DATUM_ASSIGN(const auto story, history::open_exported_story(path));
    verified.redacted_from = story.redacted_from;
    DATUM_ASSIGN(verified.verification,
                 history::verify_events(*story.reader, std::move(verified.verification)));
    return verified;
  }
  DATUM_ASSIGN(verified.verification, history::verify_store(path));
  return verified;
}

std::string verified_json(const std::string& path, const Verified& verified) {
  const auto& found = verified.verification;
  text::JsonWriter json;
  json.begin_object()
      .member("path", path)
      .member("sound", found.sound)
      .member("records", found.records)
      .member("head", found.head.seq)
      .member("hash", found.head.hash.hex())
      .member("redactedFrom", verified.redacted_from.empty() ? "" : verified.redacted_from.hex())
      .member("badSeq", found.bad_seq)
      .member("problem", found.problem)
      .end_object();
  return json.take() + "\n";
}

std::string verified_text(const Verified& verified) {
  const auto& found = verified.verification;
  if (!found.sound) return "Damaged: " + text::escape(found.problem) + "\n";
  auto text = "Sound: " + text::format_count(found.records, "record") + ", head " +
              std::to_string(found.head.seq) + " sha256:" + found.head.hash.hex() + "\n";
  if (!verified.redacted_from.empty())
    text += "Redacted: the chain is this file's own. It was made from the head sha256:" +
            verified.redacted_from.hex() + ", which only an export that is not redacted proves.\n";
  return text;
}

Result<Verified> verify_once(const Arguments& arguments, const std::string& path) {
  DATUM_ASSIGN(auto verified, verify_path(path));
  auto& found = verified.verification;
  if (found.sound && arguments.journal.empty() && is_store(path)) {
    DATUM_ASSIGN(found.problem, find_faults(path));
    found.sound = found.problem.empty();
  }
  return verified;
}

// Where a store's live records begin; 0 for what has none.
Seq first_live(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return 0;
  const auto log = history::open_for_reading(path);
  const auto head = log ? (*log)->read_head() : fail(log.error());
  return head ? head->first : 0;
}

// A writer that archives meanwhile is seen half done, which is no damage: then it is looked at
// again.
Result<Verified> verify_still(const Arguments& arguments, const std::string& path) {
  constexpr int kMaxLooks = 8;
  for (int looks = 1;; ++looks) {
    const Seq before = first_live(path);
    auto verified = verify_once(arguments, path);
    const bool is_sound = verified && verified->verification.sound;
    if (is_sound || looks == kMaxLooks || first_live(path) == before) return verified;
  }
}

Result<int> run_verify(const Arguments& arguments) {
  DATUM_ASSIGN(const auto path, story_path(arguments));
  auto verified = verify_still(arguments, path);
  if (!verified && verified.error().code() == ErrorCode::not_found)
    DATUM_TRY(open_story_at(path));  // says whether there ever was one
  if (!verified) return fail(std::move(verified).error().context(path));
  print(arguments.json ? verified_json(path, *verified) : verified_text(*verified));
  return verified->verification.sound ? 0 : 1;
}

std::string exported_json(const Arguments& arguments, const journal::ExportMade& made) {
  text::JsonWriter json;
  json.begin_object()
      .member("file", arguments.output)
      .member("first", made.head.first)
      .member("head", made.head.seq)
      .member("hash", made.head.hash.hex())
      .member("redactedFrom", arguments.redact ? made.original.hex() : "")
      .member("contents", made.contents)
      .member("missing", made.missing.size())
      .member("bytes", made.bytes)
      .end_object();
  return json.take() + "\n";
}

std::string exported_text(const Arguments& arguments, const journal::ExportMade& made) {
  auto text = "Exported " + text::format_count(made.head.seq + 1 - made.head.first, "record") +
              " and " + text::format_count(made.contents, "content") + " (" +
              text::format_size(made.bytes) + ") into " + text::escape(arguments.output) +
              "\nhead " + std::to_string(made.head.seq) + " sha256:" + made.original.hex() + "\n";
  if (arguments.redact)
    text += "Redacted: its own chain ends with sha256:" + made.head.hash.hex() + "\n";
  if (!made.missing.empty())
    text += text::format_count(made.missing.size(), "content") + " that its records name " +
            (made.missing.size() == 1 ? "is" : "are") +
            " not in the store any more, or damaged there\n";
  return text;
}

Result<int> run_export(const Arguments& arguments) {
  DATUM_ASSIGN(auto story, open_story(arguments));
  DATUM_ASSIGN(const auto path, story_path(arguments));
  // An export was checked whole when it was opened; blobs are checked as they are taken.
  std::error_code ignored;
  const auto sound = std::make_shared<SoundContent>(story.content, path);
  if (std::filesystem::is_directory(path, ignored)) story.content = sound;
  history::StoryExport wanted;
  DATUM_ASSIGN(const auto head, story.reader->read_head());
  wanted.range.from = arguments.from != 0 ? arguments.from : head.first;
  wanted.range.to = arguments.to;
  wanted.redact = arguments.redact;
  wanted.content = arguments.content;
  DATUM_ASSIGN(const auto made, history::export_story(story, wanted, arguments.output));
  for (const auto& words : sound->damaged())
    std::fprintf(stderr, "note: left out: %s\n", text::escape(words).c_str());
  print(arguments.json ? exported_json(arguments, made) : exported_text(arguments, made));
  return 0;
}

Result<int> run_import(const Arguments& arguments) {
  DATUM_ASSIGN(const auto imported, import_store(arguments.output, arguments.state));
  if (arguments.json) {
    text::JsonWriter json;
    json.begin_object()
        .member("folder", imported.folder)
        .member("head", imported.head.seq)
        .member("hash", imported.head.hash.hex())
        .member("contents", imported.contents)
        .end_object();
    print(json.take() + "\n");
    return 0;
  }
  print("Imported " + text::format_count(imported.head.seq, "record") + " and " +
        text::format_count(imported.contents, "content") + " into " +
        text::escape(imported.folder) + ", to be read only\n");
  return 0;
}

Result<int> run_on_journal(const Arguments& arguments) {
  switch (arguments.verb) {
    case Verb::journal_list:
      return run_list(arguments);
    case Verb::journal_show:
      return run_show(arguments);
    case Verb::journal_tail:
      return run_tail(arguments);
    case Verb::journal_export:
      return run_export(arguments);
    case Verb::journal_import:
      return run_import(arguments);
    default:
      return run_verify(arguments);
  }
}

}  // namespace

int journal_command(const Arguments& arguments) {
  return finish(run_on_journal(arguments));
}

}  // namespace datum::program
