// An export as a Reader: verified whole when it is opened, then read in place. In memory are an
// offset a record and the indexes' sequences.
#include <algorithm>
#include <map>
#include <memory>

#include "datum/journal/export.hpp"
#include "envelope.hpp"
#include "export_content.hpp"
#include "record_file.hpp"

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

Head head_of(const ExportFacts& facts) {
  if (facts.count() == 0) return {};
  return {facts.last, facts.head, facts.first};
}

class ExportReader final : public RecordFile {
 public:
  explicit ExportReader(ExportSource source) : RecordFile(std::move(source), "the export") {}

  Status load() {
    Seq bad_seq = 0;
    std::vector<std::uint64_t> offsets;
    const auto note = [&](std::uint64_t offset, const Record& record) {
      offsets.push_back(offset);
      static_cast<void>(for_each_key(record.keys, [&](const IndexKey& key) {
        indexes_[std::string(key.index)][std::string(key.key)].push_back(record.seq);
      }));
    };
    const auto note_content = [this](std::uint64_t offset, const Digest& digest) {
      contents_.emplace(digest, offset);
    };
    DATUM_ASSIGN(facts_, check_export(source(), note, bad_seq, note_content));
    set_records(head_of(facts_), std::move(offsets));
    return {};
  }

  void hand_over(OpenedExport& opened) {
    for (const auto& [digest, offset] : contents_) opened.digests.push_back(digest);
    opened.content =
        std::make_shared<ExportContents>(source().file(), source().size(), std::move(contents_));
    opened.rewritten_from = facts_.original;
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
  [[nodiscard]] Id128 store_id() const override { return facts_.store; }
  [[nodiscard]] std::uint32_t level() const override { return facts_.level; }

 private:
  ExportFacts facts_;
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
    finding.head = head_of(*facts);
    finding.sound = true;
    return finding;
  }
  if (facts.error().code() != ErrorCode::corrupt) return fail(std::move(facts).error());
  finding.problem = facts.error().message();
  return finding;
}

}  // namespace datum::journal
