// An export as a Reader: verified whole when it is opened, then read in place. In memory are an
// offset a record and the indexes' sequences.
#include <algorithm>
#include <map>
#include <memory>

#include "datum/journal/export.hpp"
#include "envelope.hpp"
#include "export_content.hpp"
#include "export_format.hpp"

namespace datum::journal {
namespace {

using Places = std::map<Digest, std::uint64_t>;

// Contents of a file that was found good; reads with a descriptor of its own share.
class ExportContents final : public ContentSource {
 public:
  ExportContents(std::shared_ptr<const Fd> file, std::uint64_t size, Places places)
      : file_(std::move(file)), size_(size), places_(std::move(places)) {}

  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto place = places_.find(digest);
    if (place == places_.end())
      return fail(ErrorCode::not_found, "the export does not carry sha256:" + digest.hex());
    return open_content(file_, size_, place->second);
  }

 private:
  std::shared_ptr<const Fd> file_;
  std::uint64_t size_;
  Places places_;
};

using Index = std::map<std::string, std::vector<Seq>, std::less<>>;

class ExportReader final : public Reader {
 public:
  explicit ExportReader(ExportSource source) : source_(std::move(source)) {}

  Status load() {
    Seq bad_seq = 0;
    const auto note = [this](std::uint64_t offset, const Record& record) {
      offsets_.push_back(offset);
      static_cast<void>(for_each_key(record.keys, [&](const IndexKey& key) {
        indexes_[std::string(key.index)][std::string(key.key)].push_back(record.seq);
      }));
    };
    const auto note_content = [this](std::uint64_t offset, const Digest& digest) {
      contents_.emplace(digest, offset);
    };
    DATUM_ASSIGN(facts_, check_export(source_, note, bad_seq, note_content));
    return {};
  }

  void hand_over(OpenedExport& opened) {
    for (const auto& [digest, offset] : contents_) opened.digests.push_back(digest);
    opened.content =
        std::make_shared<ExportContents>(source_.file(), source_.size(), std::move(contents_));
    opened.rewritten_from = facts_.original;
  }

  Result<Head> read_head() override {
    if (facts_.count() == 0) return Head{};
    return Head{facts_.last, facts_.head, facts_.first};
  }

  Status scan(Seq from, const Visitor& visit) override {
    for (Seq seq = std::max(from, facts_.first); seq <= facts_.last; ++seq) {
      auto wish = Visit::go_on;
      DATUM_TRY(visit_record(seq, visit, wish));
      if (wish == Visit::stop) break;
    }
    return {};
  }

  Status scan_back(Seq from, const Visitor& visit) override {
    const Seq begin = from == 0 ? facts_.last : std::min(from, facts_.last);
    for (Seq seq = begin; seq >= facts_.first && seq > 0; --seq) {
      auto wish = Visit::go_on;
      DATUM_TRY(visit_record(seq, visit, wish));
      if (wish == Visit::stop) break;
    }
    return {};
  }

  // An export names only the indexes that its records use, so an unknown one is empty.
  Result<std::vector<Seq>> find(std::string_view index, std::string_view key, Seq from,
                                std::size_t limit) override {
    std::vector<Seq> found;
    const auto keys = indexes_.find(index);
    if (keys == indexes_.end()) return found;
    const auto seqs = keys->second.find(key);
    if (seqs == keys->second.end()) return found;
    auto at = std::lower_bound(seqs->second.begin(), seqs->second.end(), from);
    for (; at != seqs->second.end() && found.size() < limit; ++at) found.push_back(*at);
    return found;
  }

  Status read(Seq seq, const Visitor& visit) override {
    if (seq < facts_.first || seq > facts_.last)
      return fail(ErrorCode::not_found, "record " + std::to_string(seq) + " is not in the export");
    auto wish = Visit::stop;
    return visit_record(seq, visit, wish);
  }

  // Exports hold neither metadata nor projections.
  Result<std::optional<Bytes>> read_meta(std::string_view) override { return std::nullopt; }
  Result<std::optional<Bytes>> read_projection(std::string_view) override { return std::nullopt; }
  Result<Usage> read_usage() override { return Usage{source_.size(), source_.size()}; }
  [[nodiscard]] Id128 store_id() const override { return facts_.store; }
  [[nodiscard]] std::uint32_t level() const override { return facts_.level; }

 private:
  Status visit_record(Seq seq, const Visitor& visit, Visit& wish) {
    DATUM_ASSIGN(const ByteView value, source_.view_value(offsets_[seq - facts_.first], seq));
    DATUM_ASSIGN(const Record record, read_value(value, seq));
    wish = visit(record);
    return {};
  }

  ExportSource source_;
  ExportFacts facts_;
  std::vector<std::uint64_t> offsets_;
  Places contents_;
  std::map<std::string, Index, std::less<>> indexes_;
};

}  // namespace

Result<OpenedExport> open_whole_export(const std::string& file) {
  DATUM_ASSIGN(ExportSource source, ExportSource::open(file));
  auto reader = std::make_unique<ExportReader>(std::move(source));
  auto loaded = reader->load();
  if (!loaded) return fail(std::move(loaded).error().context(file));
  OpenedExport opened;
  reader->hand_over(opened);
  opened.reader = std::move(reader);
  return opened;
}

Result<std::unique_ptr<Reader>> open_export(const std::string& file) {
  DATUM_ASSIGN(auto opened, open_whole_export(file));
  return std::move(opened.reader);
}

Result<Verification> verify_export(const std::string& file) {
  DATUM_ASSIGN(ExportSource source, ExportSource::open(file));
  Verification finding;
  const auto count = [&](std::uint64_t, const Record&) { ++finding.records; };
  auto facts = check_export(source, count, finding.bad_seq);
  if (facts) {
    finding.head = facts->count() == 0 ? Head{} : Head{facts->last, facts->head, facts->first};
    finding.sound = true;
    return finding;
  }
  if (facts.error().code() != ErrorCode::corrupt) return fail(std::move(facts).error());
  finding.problem = facts.error().message();
  return finding;
}

}  // namespace datum::journal
