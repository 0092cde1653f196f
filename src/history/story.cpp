#include "datum/history/story.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "datum/codec/event.hpp"
#include "datum/codec/plan.hpp"
#include "datum/codec/redact.hpp"
#include "datum/history/history.hpp"
#include "datum/history/plan.hpp"

namespace datum::history {

namespace {

// What the records of a range name.
struct Named {
  std::set<Digest> plans;
  std::set<Digest> documents;
  std::set<Digest> old_content;
};

struct NameCollector {
  Named& named;

  static void add(std::set<Digest>& to, const Digest& digest) {
    if (!digest.empty()) to.insert(digest);
  }
  void operator()(const core::PlanComputed& event) const { add(named.plans, event.plan); }
  void operator()(const core::PassFinished& event) const { add(named.plans, event.plan); }
  void operator()(const core::PassStarted& event) const {
    add(named.documents, event.provenance.documents);
  }
  void operator()(const core::ActionsAnnounced& event) const {
    add(named.plans, event.plan);
    for (const auto& action : event.actions) {
      add(named.old_content, action.old_content);
      add(named.old_content, action.attributes);
    }
  }
  template <class T>
  void operator()(const T&) const {}
};

Result<Named> collect(journal::Reader& reader, const journal::ExportRange& range) {
  Named named;
  DATUM_TRY(scan_events(reader, range.from, [&](const StoredEvent& stored) {
    std::visit(NameCollector{named}, stored.event);
    return range.to != 0 && stored.place.seq >= range.to ? journal::Visit::stop
                                                         : journal::Visit::go_on;
  }));
  return named;
}

class BytesSource final : public ByteSource {
 public:
  explicit BytesSource(Bytes bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> read(MutableByteView out) override {
    const auto count = std::min(out.size(), bytes_.size() - at_);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

Result<Bytes> redacted_plan(const ContentSource& content, const Digest& digest) {
  DATUM_ASSIGN(auto plan, read_plan(content, digest));
  codec::redact_plan(plan);
  return codec::encode_plan(plan);
}

// Plans under the digests that they have without what was left out; made again when they are asked
// for, so that only one is held.
class RedactedPlans final : public ContentSource {
 public:
  explicit RedactedPlans(const ContentSource& whole) : whole_(whole) {}

  Status add(const Digest& digest) {
    auto bytes = redacted_plan(whole_, digest);
    // What is not there any more cannot be carried along, and nothing changes its name.
    if (!bytes && bytes.error().code() == ErrorCode::not_found) return {};
    if (!bytes) return fail(std::move(bytes).error());
    const auto redacted = journal::content_digest(*bytes);
    renamed_[digest] = redacted;
    originals_[redacted] = digest;
    return {};
  }
  [[nodiscard]] const std::map<Digest, Digest>& renamed() const { return renamed_; }
  Result<std::unique_ptr<ByteSource>> open(const Digest& digest) const override {
    const auto original = originals_.find(digest);
    if (original == originals_.end())
      return fail(ErrorCode::not_found, "no redacted plan sha256:" + digest.hex());
    DATUM_ASSIGN(auto bytes, redacted_plan(whole_, original->second));
    return std::unique_ptr<ByteSource>(std::make_unique<BytesSource>(std::move(bytes)));
  }

 private:
  const ContentSource& whole_;
  std::map<Digest, Digest> renamed_;
  std::map<Digest, Digest> originals_;
};

Result<journal::ExportMade> export_redacted(const Story& story, const Named& named,
                                            journal::ExportOptions options,
                                            const std::string& file) {
  RedactedPlans plans(*story.content);
  for (const auto& digest : named.plans) DATUM_TRY(plans.add(digest));
  for (const auto& [original, redacted] : plans.renamed()) options.digests.push_back(redacted);
  options.content = &plans;
  options.rewrite = [&plans](const journal::Record& record) -> Result<Bytes> {
    DATUM_ASSIGN(auto stored, decode(record));
    codec::redact_event(stored.event, plans.renamed());
    return codec::encode_event(stored.event);
  };
  return journal::write_export(*story.reader, options, file);
}

}  // namespace

Result<Story> open_exported_story(const std::string& file) {
  DATUM_ASSIGN(auto opened, journal::open_whole_export(file));
  return Story{std::move(opened.reader), std::move(opened.content), opened.rewritten_from};
}

Result<journal::ExportMade> export_story(const Story& story, const StoryExport& wanted,
                                         const std::string& file) {
  if (wanted.redact && wanted.content)
    return fail(ErrorCode::invalid_argument,
                "old content cannot be redacted: leave one of the two");
  DATUM_ASSIGN(const auto named, collect(*story.reader, wanted.range));
  journal::ExportOptions options;
  options.range = wanted.range;
  if (wanted.redact) return export_redacted(story, named, std::move(options), file);
  options.content = story.content.get();
  options.digests.assign(named.plans.begin(), named.plans.end());
  options.digests.insert(options.digests.end(), named.documents.begin(), named.documents.end());
  if (wanted.content)
    options.digests.insert(options.digests.end(), named.old_content.begin(),
                           named.old_content.end());
  return journal::write_export(*story.reader, options, file);
}

Result<journal::Head> import_story(const std::string& file, const std::string& journal_folder,
                                   const TakeContent& take) {
  {
    DATUM_ASSIGN(const auto opened, journal::open_whole_export(file));
    for (const auto& digest : opened.digests) {
      DATUM_ASSIGN(auto stream, opened.content->open(digest));
      DATUM_TRY(take(digest, *stream));
    }
  }
  journal::OpenOptions options;
  options.indexes = index_names();
  return journal::import_records(file, journal_folder, options);
}

}  // namespace datum::history
