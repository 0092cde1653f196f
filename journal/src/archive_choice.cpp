#include "archive_choice.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cuts.hpp"

namespace datum::journal {
namespace {

// A writer that archives meanwhile moves the beginning of the live records; then all is asked anew.
constexpr int kMaxChoices = 16;

constexpr std::string_view kOtherCourse = "holds other records than the journal does";

Result<Digest> live_hash(Reader& live, Seq seq) {
  Digest hash;
  DATUM_TRY(live.read(seq, [&hash](const Record& record) {
    hash = hash_of(record);
    return Visit::stop;
  }));
  return hash;
}

// Why the ends of a file speak against it, whatever lies around; empty: they do not.
std::string foreign_end(const ArchiveFile& file, const ExportEdges& edges, const Id128& store) {
  if (edges.facts.store != store) return "is of another store";
  if (edges.facts.first != file.from || edges.facts.last != file.to)
    return "holds other records than its name says";
  if (!edges.facts.original.empty()) return "is an export whose records were rewritten";
  return {};
}

// Goes from the live records down.
class Chooser {
 public:
  Chooser(Reader& live, const Head& head) : live_(live), next_(head.first) { choice_.head = head; }

  Result<ArchiveChoice> run(std::vector<ArchiveFile> files, const std::string& folder) {
    std::vector<ChosenFile> known;
    std::vector<ChosenFile> unknown;
    for (auto& file : files) {
      if (file.from >= choice_.head.first) {
        choice_.above.push_back(std::move(file));
        continue;
      }
      auto source = ExportSource::open(folder + "/" + file.name);
      auto edges = source ? read_edges(*source) : fail(std::move(source).error());
      if (edges)
        known.push_back({std::move(file), std::move(*edges)});
      else if (edges.error().code() != ErrorCode::not_found)  // or it was just removed
        unknown.push_back({std::move(file), std::nullopt});
    }
    std::stable_sort(known.begin(), known.end(),
                     [](const auto& one, const auto& two) { return one.file.to > two.file.to; });
    if (!known.empty()) DATUM_TRY(begin());
    for (auto& file : known) {
      DATUM_ASSIGN(auto why, judge(file));
      if (!why.empty())
        choice_.strays.push_back({file.file.name, std::move(why)});
      else
        choose(std::move(file));
    }
    for (auto& file : unknown) place_unknown(std::move(file));
    finish();
    return std::move(choice_);
  }

 private:
  Status begin() {
    DATUM_ASSIGN(auto cuts, live_.read_meta(kCutsName));
    if (cuts) cuts_ = std::move(*cuts);
    return live_.read(choice_.head.first, [this](const Record& record) {
      expected_ = record.previous;
      return Visit::stop;
    });
  }

  Result<std::string> judge(const ChosenFile& file) {
    auto why = foreign_end(file.file, *file.edges, live_.store_id());
    if (!why.empty()) return why;
    const auto& head = file.edges->facts.head;
    const Seq to = file.file.to;
    // A deletion that a crash cut off: both hold the same.
    if (to >= choice_.head.first && choice_.chosen.empty()) {
      if (to > choice_.head.seq) return std::string(kOtherCourse);
      DATUM_ASSIGN(const Digest hash, live_hash(live_, to));
      return hash == head ? std::string() : std::string(kOtherCourse);
    }
    if (to >= next_) return std::string("holds records that another file holds as well");
    if (to + 1 < next_) {
      const auto cut = find_cut(cuts_, to);
      if (!cut)
        return std::string(
            "lies behind a file that is missing, and ends where the journal never was cut");
      return *cut == head ? std::string() : std::string(kOtherCourse);
    }
    if (expected_ == head) return std::string();
    return std::string(kOtherCourse);
  }

  void choose(ChosenFile file) {
    next_ = file.file.from;
    expected_ = file.edges->previous;
    choice_.chosen.push_back(std::move(file));
  }

  void place_unknown(ChosenFile file) {
    const bool is_held =
        std::any_of(choice_.chosen.begin(), choice_.chosen.end(), [&file](const ChosenFile& other) {
          return file.file.from <= other.file.to && other.file.from <= file.file.to;
        });
    if (is_held)
      choice_.strays.push_back({file.file.name, "is damaged, and another file holds its records"});
    else
      choice_.chosen.push_back(std::move(file));
  }

  void finish() {
    std::sort(choice_.chosen.begin(), choice_.chosen.end(),
              [](const auto& one, const auto& two) { return one.file.from < two.file.from; });
    std::sort(choice_.strays.begin(), choice_.strays.end(),
              [](const Stray& one, const Stray& two) { return one.name < two.name; });
  }

  Reader& live_;
  ArchiveChoice choice_;
  Seq next_;         // the lowest that is held so far
  Bytes cuts_;       // the journal's own
  Digest expected_;  // hash of the record before it
};

// Why a file that begins among the live records, or above them, is not what an archive that was cut
// off leaves; empty: it is.
Result<std::string> judge_above(Reader& live, const Head& head, const std::string& folder,
                                const ArchiveFile& file) {
  if (file.to > head.seq) return std::string(kOtherCourse);
  const auto opened = open_export(folder + "/" + file.name);
  if (!opened && opened.error().code() == ErrorCode::not_found) return fail(opened.error());
  if (!opened) return "cannot be read: " + opened.error().message();
  auto& held = **opened;
  if (held.store_id() != live.store_id()) return std::string("is of another store");
  DATUM_ASSIGN(const Head ends, held.read_head());
  if (ends.first != file.from || ends.seq != file.to)
    return std::string("holds other records than its name says");
  for (const Seq seq : {file.from, file.to}) {
    DATUM_ASSIGN(const Digest own, live_hash(held, seq));
    DATUM_ASSIGN(const Digest lives, live_hash(live, seq));
    if (own != lives) return std::string(kOtherCourse);
  }
  return std::string();
}

Result<std::vector<Stray>> look_for_strays(Reader& live, const std::string& folder, Seq archived) {
  DATUM_ASSIGN(auto choice, choose_files(live, folder));
  auto strays = std::move(choice.strays);
  constexpr auto kReaches = "holds records that were archived and others that were not";
  for (const auto& [file, edges] : choice.chosen)
    if (edges && file.to >= choice.head.first && file.to > archived)
      strays.push_back({file.name, kReaches});
  for (const auto& file : choice.above) {
    auto why = judge_above(live, choice.head, folder, file);
    if (!why) return fail(std::move(why).error());
    if (why->empty() && file.from <= archived && file.to > archived) *why = kReaches;
    if (!why->empty()) strays.push_back({file.name, std::move(*why)});
  }
  return strays;
}

}  // namespace

Result<ArchiveChoice> choose_files(Reader& live, const std::string& folder) {
  for (int choices = 1;; ++choices) {
    DATUM_ASSIGN(const Head head, live.read_head());
    DATUM_ASSIGN(auto files, list_archive(folder));
    auto choice = Chooser(live, head).run(std::move(files), folder);
    if (choice || choice.error().code() != ErrorCode::not_found || choices == kMaxChoices)
      return choice;
  }
}

Result<std::vector<Stray>> find_strays(Reader& live, const std::string& folder, Seq archived) {
  for (int looks = 1;; ++looks) {
    auto strays = look_for_strays(live, folder, archived);
    if (strays || strays.error().code() != ErrorCode::not_found || looks == kMaxChoices)
      return strays;
  }
}

Result<std::size_t> drop_unfinished(Reader& live, const std::string& folder, Seq archived) {
  DATUM_ASSIGN(const auto files, list_archive(folder));
  DATUM_ASSIGN(const Head head, live.read_head());
  std::size_t dropped = 0;
  for (const auto& file : files) {
    if (file.from <= archived || file.from < head.first) continue;
    const auto path = folder + "/" + file.name;
    DATUM_ASSIGN(const auto why, judge_above(live, head, folder, file));
    if (!why.empty()) return fail(ErrorCode::conflict, path + " " + why);
    if (::unlink(path.c_str()) != 0) return fail(error_from_errno(errno, "remove " + path));
    ++dropped;
  }
  if (dropped == 0) return dropped;
  DATUM_ASSIGN(const Fd opened, open_folder(folder));
  DATUM_TRY(sync_fd(opened.get(), folder));
  return dropped;
}

}  // namespace datum::journal
