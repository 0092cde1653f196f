// Loading: datum.yaml first (its `exclude` decides what else is read), then all files, each parsed
// and read on its own so that threads can share the work, then assembled in order.
#include <algorithm>
#include <atomic>
#include <iterator>

#include "assemble.hpp"
#include "datum/fleet/fleet.hpp"
#include "discovery.hpp"
#include "reader.hpp"

namespace datum::fleet {
namespace {

// Documents parsed by one job: large enough to be worth a hand-over, small enough to spread.
constexpr std::size_t kJobBytes = 256 * 1024;

void in_order(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) work(i);
}

struct FileText {
  bool unread = false;  // a link to a folder, or a file that cannot be read (then with a fault)
  std::string bytes;
  std::vector<yaml::Slice> slices;
  Faults faults;
};

struct Job {
  FileId file = kNone;
  std::size_t first = 0, count = 0;  // slices
  Read read;
};

class Loader {
 public:
  Loader(os::Files& files, const std::string& root, const LoadOptions& options)
      : files_(files), root_(root), parallel_(options.parallel ? options.parallel : in_order) {}

  Loaded run() {
    auto documents = std::make_unique<Documents>();
    documents->root = root_;
    if (auto sources = SourceFiles::open(files_, root_))
      documents->sources = std::move(*sources);
    else
      return no_root(sources.error().message());
    const auto exclude = read_exclude(*documents->sources);
    auto found = find_files(*documents->sources, exclude);
    documents->files = found.files;
    faults_ = std::move(found.faults);
    read_files(*documents);
    parse_files(documents->files);
    assemble(gather(), *documents, faults_);
    return finish(std::move(documents));
  }

 private:
  Loaded no_root(const std::string& why) {
    Loaded loaded;
    loaded.errors.push_back({{".", 0, 0, "the fleet's folder cannot be read: " + why,
                              "name the folder that holds datum.yaml"},
                             {}});
    return loaded;
  }

  // Faults of datum.yaml are found when it is read with all others.
  std::vector<std::string> read_exclude(SourceFiles& sources) {
    const auto bytes = sources.read_text("datum.yaml", kMaxDocumentFile);
    if (!bytes) return {};
    Read read;
    read_documents(yaml::parse("datum.yaml", *bytes), 0, read);
    return read.fleets.empty() ? std::vector<std::string>{} : std::move(read.fleets[0].exclude);
  }

  void read_files(Documents& documents) {
    // Names that only carry a fault stand at the end and are not read.
    const auto unread = faults_.size();
    texts_.resize(documents.files.size() - unread);
    parallel_(texts_.size(), [&](std::size_t i) { read_file(documents, static_cast<FileId>(i)); });
  }

  void read_file(Documents& documents, FileId id) {
    auto& text = texts_[id];
    auto bytes = documents.sources->read_text(documents.files[id], kMaxDocumentFile);
    if (bytes && bytes_read_.fetch_add(bytes->size()) + bytes->size() > kMaxFleetBytes)
      bytes = fail(ErrorCode::limit_exceeded, "the documents of a fleet have at most " +
                                                  std::to_string(kMaxFleetBytes >> 20U) +
                                                  " MiB together");
    if (bytes) {
      text.bytes = std::move(*bytes);
      text.slices = yaml::split(text.bytes);
      return;
    }
    text.unread = true;
    if (documents.sources->leads_to_folder(documents.files[id])) return;
    text.faults.push_back({{id, 0, 0},
                           "the file cannot be read: " + bytes.error().message(),
                           "make it a readable file, or name it in exclude"});
  }

  void parse_files(const std::vector<std::string>& names) {
    for (FileId id = 0; id < texts_.size(); ++id)
      if (!texts_[id].unread) add_jobs(id);
    parallel_(jobs_.size(), [&](std::size_t i) {
      auto& job = jobs_[i];
      const auto slices =
          std::span<const yaml::Slice>(texts_[job.file].slices).subspan(job.first, job.count);
      read_documents(yaml::parse_slices(names[job.file], slices), job.file, job.read);
    });
  }

  void add_jobs(FileId id) {
    const auto& slices = texts_[id].slices;
    for (std::size_t first = 0; first < slices.size();) {
      std::size_t bytes = 0;
      auto end = first;
      while (end < slices.size() && bytes < kJobBytes) bytes += slices[end++].bytes.size();
      jobs_.push_back({id, first, end - first, {}});
      first = end;
    }
  }

  std::vector<FileRead> gather() {
    std::vector<FileRead> reads;
    for (FileId id = 0; id < texts_.size(); ++id)
      std::move(texts_[id].faults.begin(), texts_[id].faults.end(), std::back_inserter(faults_));
    for (auto& job : jobs_) {
      if (reads.empty() || reads.back().file != job.file) {
        reads.push_back({job.file, std::move(job.read)});
        continue;
      }
      auto& read = reads.back().read;
      const auto append = [](auto& to, auto& from) {
        to.insert(to.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
      };
      append(read.fleets, job.read.fleets);
      append(read.hosts, job.read.hosts);
      append(read.layers, job.read.layers);
      append(read.bodies, job.read.bodies);
      append(read.faults, job.read.faults);
    }
    return reads;
  }

  Loaded finish(std::unique_ptr<Documents> documents) {
    Loaded loaded;
    const auto& names = documents->files;
    // By file name, not by number: names without a file stand at the end.
    std::stable_sort(faults_.begin(), faults_.end(), [&](const Fault& a, const Fault& b) {
      if (a.at.file != b.at.file) return names[a.at.file] < names[b.at.file];
      return a.at < b.at;
    });
    for (const auto& fault : faults_)
      (fault.warning ? loaded.warnings : loaded.errors).push_back(to_finding(names, fault));
    shorten(loaded.errors);
    shorten(loaded.warnings);
    if (loaded.errors.empty()) loaded.fleet = std::make_shared<Fleet>(std::move(documents));
    return loaded;
  }

  os::Files& files_;
  const std::string& root_;
  Parallel parallel_;
  std::atomic<std::uint64_t> bytes_read_{0};
  std::vector<FileText> texts_;
  std::vector<Job> jobs_;
  Faults faults_;
};

}  // namespace

Loaded load_fleet(os::Files& files, const std::string& root, const LoadOptions& options) {
  return Loader(files, root, options).run();
}

}  // namespace datum::fleet
