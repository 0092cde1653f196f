// A journal and its archive read as one. The writer may archive meanwhile: then records that were
// live a moment ago are in a file, so every step asks again where its record is. Records that no
// file holds any more are passed over, and read_gaps names them.
#include <algorithm>

#include "archive_choice.hpp"
#include "datum/journal/archive.hpp"
#include "datum/journal/archive_gaps.hpp"

namespace datum::journal {
namespace {

class JoinedReader final : public Reader {
 public:
  JoinedReader(std::unique_ptr<Reader> live, std::string folder)
      : live_(std::move(live)), folder_(std::move(folder)) {}

  Result<Head> read_head() override {
    DATUM_TRY(refresh());
    Head head = head_;
    head.first = first_;
    return head;
  }

  Status scan(Seq from, const Visitor& visit) override {
    DATUM_TRY(refresh());
    return walk(std::max<Seq>(from, 1), head_.seq, Way::up, visit);
  }

  Status scan_back(Seq from, const Visitor& visit) override {
    DATUM_TRY(refresh());
    return walk(from == 0 ? head_.seq : std::min(from, head_.seq), 1, Way::down, visit);
  }

  Result<std::vector<Seq>> find(std::string_view index, std::string_view key, Seq from,
                                std::size_t limit) override {
    std::vector<Seq> found;
    DATUM_TRY(refresh());
    Seq next = std::max<Seq>(from, 1);
    while (found.size() < limit) {
      if (const auto* const gap = gap_at(next)) next = gap->to + 1;
      if (next >= head_.first) break;
      DATUM_ASSIGN(auto* const file, open_at(next));
      auto held = file->find(index, key, next, limit - found.size());
      if (!held) return fail(damaged(held.error()));
      const auto& part = *held;
      // What a file and the journal both hold is told once.
      for (const Seq seq : part)
        if (seq < head_.first) found.push_back(seq);
      next = std::min(open_file_.to + 1, head_.first);
    }
    if (found.size() >= limit) return found;
    DATUM_ASSIGN(const auto part, live_->find(index, key, next, limit - found.size()));
    found.insert(found.end(), part.begin(), part.end());
    return found;
  }

  Status read(Seq seq, const Visitor& visit) override {
    auto status = live_->read(seq, visit);
    if (status || status.error().code() != ErrorCode::not_found) return status;
    DATUM_TRY(refresh());
    if (seq == 0 || seq >= head_.first) return status;
    DATUM_ASSIGN(auto* const file, open_at(seq));
    status = file->read(seq, visit);
    if (!status) return fail(damaged(status.error()));
    return status;
  }

  Result<std::optional<Bytes>> read_meta(std::string_view name) override {
    return live_->read_meta(name);
  }
  Result<std::optional<Bytes>> read_projection(std::string_view name) override {
    return live_->read_projection(name);
  }
  Result<Usage> read_usage() override { return live_->read_usage(); }
  [[nodiscard]] Id128 store_id() const override { return live_->store_id(); }
  [[nodiscard]] std::uint32_t level() const override { return live_->level(); }
  void release_memory() override { live_->release_memory(); }

  Result<std::vector<Stray>> read_strays(Seq archived) {
    return find_strays(*live_, folder_, archived);
  }

  Result<std::vector<Gap>> read_gaps() {
    DATUM_TRY(refresh());
    return gaps_;
  }

  // Where the live records begin, which files lie before them, what is missing there, and from
  // where on nothing is.
  Status refresh() {
    DATUM_ASSIGN(const Head head, live_->read_head());
    const bool is_known = is_listed_ && head.first == head_.first;
    head_ = head;
    if (is_known) return {};
    DATUM_ASSIGN(auto choice, choose_files(*live_, folder_));
    head_ = choice.head;
    chosen_ = std::move(choice.chosen);
    is_listed_ = true;
    std::vector<ArchiveFile> files;
    for (const auto& [file, edges] : chosen_) files.push_back(file);
    gaps_ = find_gaps(files, head_.first);
    first_ = gaps_.empty() ? 1 : gaps_.back().to + 1;
    return {};
  }

 private:
  enum class Way : bool { down, up };

  // From `next` to `last`, both visited; the file or the journal is asked anew wherever one ends.
  Status walk(Seq next, Seq last, Way way, const Visitor& visit) {
    const bool up = way == Way::up;
    auto wish = Visit::go_on;
    const auto pass_on = [&](const Record& record) {
      // A gap: archived since the last look, and in a file now.
      if (record.seq != next) return Visit::stop;
      wish = visit(record);
      up ? ++next : --next;
      return wish;
    };
    while ((up ? next <= last : next >= last) && wish == Visit::go_on) {
      DATUM_TRY(refresh());
      if (const auto* const gap = gap_at(next)) {
        next = up ? gap->to + 1 : gap->from - 1;
        continue;
      }
      const Seq before = next;
      Reader* source = live_.get();
      if (next < head_.first) {
        DATUM_ASSIGN(source, open_at(next));
      }
      const auto status = up ? source->scan(next, pass_on) : source->scan_back(next, pass_on);
      if (!status && source != live_.get()) return fail(damaged(status.error()));
      DATUM_TRY(status);
      if (next == before && wish == Visit::go_on) return fail(missing(next));
    }
    return {};
  }

  [[nodiscard]] const Gap* gap_at(Seq seq) const {
    const auto found = std::find_if(gaps_.begin(), gaps_.end(), [seq](const Gap& gap) {
      return gap.from <= seq && seq <= gap.to;
    });
    return found == gaps_.end() ? nullptr : &*found;
  }

  static Error missing(Seq seq) {
    return {ErrorCode::not_found,
            "record " + std::to_string(seq) + " is archived, and no file of the archive has it"};
  }

  // A file with damage may hold anything: nothing of it is passed over in silence.
  static Error damaged(const Error& error) {
    if (error.code() != ErrorCode::corrupt) return error;
    return {error.code(),
            error.message() + "; move this file away, and all but its records is read again"};
  }

  Result<Reader*> open_at(Seq seq) {
    if (open_ && open_file_.from <= seq && seq <= open_file_.to) return open_.get();
    for (const auto& [file, edges] : chosen_) {
      if (seq < file.from || seq > file.to) continue;
      open_.reset();
      auto opened = open_export(folder_ + "/" + file.name);
      if (!opened) return fail(damaged(opened.error()));
      DATUM_ASSIGN(const Head held, (*opened)->read_head());
      if (!edges || (*opened)->store_id() != live_->store_id() || held.first != file.from ||
          held.hash != edges->facts.head)
        return fail(damaged({ErrorCode::corrupt,
                             folder_ + "/" + file.name + " was changed while it was looked at"}));
      open_ = std::move(*opened);
      open_file_ = file;
      return open_.get();
    }
    return fail(missing(seq));
  }

  std::unique_ptr<Reader> live_;
  std::string folder_;
  std::vector<ChosenFile> chosen_;
  std::vector<Gap> gaps_;
  bool is_listed_ = false;
  Head head_;
  Seq first_ = 1;
  std::unique_ptr<Reader> open_;
  ArchiveFile open_file_;
};

}  // namespace

std::vector<Gap> find_gaps(std::span<const ArchiveFile> files, Seq first_live) {
  std::vector<Gap> gaps;
  Seq next = 1;
  for (const auto& file : files) {
    if (file.from >= first_live) break;
    if (file.from > next) gaps.push_back({next, file.from - 1});
    next = std::max(next, file.to + 1);
  }
  if (next < first_live) gaps.push_back({next, first_live - 1});
  return gaps;
}

Result<std::vector<Gap>> read_gaps(Reader& reader) {
  auto* const joined = dynamic_cast<JoinedReader*>(&reader);
  return joined != nullptr ? joined->read_gaps() : std::vector<Gap>{};
}

Result<std::vector<Stray>> read_strays(Reader& reader, Seq archived) {
  auto* const joined = dynamic_cast<JoinedReader*>(&reader);
  return joined != nullptr ? joined->read_strays(archived) : std::vector<Stray>{};
}

Result<std::unique_ptr<Reader>> join_archive(std::unique_ptr<Reader> live,
                                             const std::string& folder) {
  auto reader = std::make_unique<JoinedReader>(std::move(live), folder);
  DATUM_TRY(reader->refresh());
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace datum::journal
