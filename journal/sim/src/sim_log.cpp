#include "datum/journal/sim_log.hpp"

#include <algorithm>
#include <mutex>

#include "batch_check.hpp"
#include "envelope.hpp"
#include "sim_state.hpp"

namespace datum::journal {
namespace {

// `Base` is Reader or Log, as in the LMDB implementation.
template <class Base>
class SimReading : public Base {
 public:
  explicit SimReading(std::shared_ptr<SimState> state) : state_(std::move(state)) {}

  Result<Head> read_head() override {
    const std::shared_lock lock(state_->mutex);
    return state_->head;
  }

  Status scan(Seq from, const Visitor& visit) override {
    const Visiting visiting(visits_);
    const std::shared_lock lock(state_->mutex);
    for (auto at = state_->values.lower_bound(from); at != state_->values.end(); ++at) {
      DATUM_ASSIGN(const Record record, read_value(at->second, at->first));
      if (visit(record) == Visit::stop) break;
    }
    return {};
  }

  Status scan_back(Seq from, const Visitor& visit) override {
    const Visiting visiting(visits_);
    const std::shared_lock lock(state_->mutex);
    auto at = from == 0 ? state_->values.end() : state_->values.upper_bound(from);
    while (at != state_->values.begin()) {
      --at;
      DATUM_ASSIGN(const Record record, read_value(at->second, at->first));
      if (visit(record) == Visit::stop) break;
    }
    return {};
  }

  Result<std::vector<Seq>> find(std::string_view index, std::string_view key, Seq from,
                                std::size_t limit) override {
    const std::shared_lock lock(state_->mutex);
    const auto keys = state_->indexes.find(index);
    if (keys == state_->indexes.end())
      return fail(ErrorCode::invalid_argument, "no index '" + std::string(index) + "'");
    if (key.empty() || key.size() > kMaxName)
      return fail(ErrorCode::invalid_argument, "an index key must have 1 to 255 bytes");
    std::vector<Seq> found;
    const auto seqs = keys->second.find(key);
    if (seqs == keys->second.end()) return found;
    auto at = std::lower_bound(seqs->second.begin(), seqs->second.end(), from);
    for (; at != seqs->second.end() && found.size() < limit; ++at) found.push_back(*at);
    return found;
  }

  Status read(Seq seq, const Visitor& visit) override {
    const Visiting visiting(visits_);
    const std::shared_lock lock(state_->mutex);
    const auto at = state_->values.find(seq);
    if (at == state_->values.end())
      return fail(ErrorCode::not_found, "record " + std::to_string(seq) + " is not in the journal");
    DATUM_ASSIGN(const Record record, read_value(at->second, seq));
    static_cast<void>(visit(record));
    return {};
  }

  Result<std::optional<Bytes>> read_meta(std::string_view name) override {
    return find_value(state_->meta, name);
  }
  Result<std::optional<Bytes>> read_projection(std::string_view name) override {
    return find_value(state_->projections, name);
  }
  // As if nothing that was removed took space any more: the simulated disk itself only grows.
  Result<Usage> read_usage() override {
    const std::shared_lock lock(state_->mutex);
    Usage usage;
    for (const auto& [seq, value] : state_->values) usage.live_bytes += value.size();
    for (const auto& [name, value] : state_->projections) usage.live_bytes += value.size();
    usage.file_bytes = usage.live_bytes;
    return usage;
  }
  [[nodiscard]] Id128 store_id() const override { return state_->store; }
  [[nodiscard]] std::uint32_t level() const override {
    const std::shared_lock lock(state_->mutex);
    return state_->level;
  }

 protected:
  [[nodiscard]] bool is_visiting() const { return visits_ > 0; }
  std::shared_ptr<SimState> state_;

 private:
  struct Visiting {
    explicit Visiting(int& count) : count_(count) { ++count_; }
    ~Visiting() { --count_; }
    Visiting(const Visiting&) = delete;
    Visiting& operator=(const Visiting&) = delete;
    int& count_;
  };

  Result<std::optional<Bytes>> find_value(const std::map<std::string, Bytes, std::less<>>& values,
                                          std::string_view name) {
    const std::shared_lock lock(state_->mutex);
    const auto at = values.find(name);
    if (at == values.end()) return std::optional<Bytes>{};
    return std::optional<Bytes>(at->second);
  }

  int visits_ = 0;
};

class SimLog final : public SimReading<Log> {
 public:
  SimLog(std::shared_ptr<SimDisk> disk, const OpenOptions& options)
      : SimReading(std::make_shared<SimState>()),
        disk_(std::move(disk)),
        mode_(options.mode),
        max_level_(options.level),
        boot_(disk_->boot()) {}
  ~SimLog() override {
    if (is_writer() && !is_closed_) disk_->unlock(boot_);
  }

  Status start(const OpenOptions& options, std::uint64_t seed);

  Result<Seq> append(const Batch& batch) override;
  Status reserve(std::uint64_t bytes) override;
  Status remove_before(Seq first) override;
  Result<Verification> verify(Seq from) override;
  Result<std::unique_ptr<Reader>> make_reader() override {
    return std::unique_ptr<Reader>(new SimReading<Reader>(state_));
  }
  Result<Compaction> compact() override;
  Status close() override;

 private:
  [[nodiscard]] bool is_writer() const {
    return mode_ == OpenMode::create_or_open || mode_ == OpenMode::open;
  }
  [[nodiscard]] Status check_writable() const;
  [[nodiscard]] Status load();
  [[nodiscard]] Status settle();
  [[nodiscard]] Status create(const OpenOptions& options, std::uint64_t seed);
  [[nodiscard]] Status commit(const SimChange& change);

  std::shared_ptr<SimDisk> disk_;
  OpenMode mode_;
  std::uint32_t max_level_;
  std::uint64_t boot_;
  std::uint64_t end_ = 0;     // of the frames
  std::uint64_t frames_ = 0;  // how many
  bool is_failed_ = false;
  bool is_closed_ = false;
};

Status SimLog::check_writable() const {
  if (!is_writer()) return fail(ErrorCode::read_only, "the store was opened for reading");
  if (is_failed_ || boot_ != disk_->boot())
    return fail(ErrorCode::unavailable, "an earlier commit failed: the store must be reopened");
  if (is_visiting())
    return fail(ErrorCode::invalid_argument, "the log cannot be written inside one of its visits");
  return {};
}

Status SimLog::load() {
  const auto image = disk_->contents();
  for (;;) {
    const auto body = find_frame(image.subspan(end_), frames_);
    if (!body) break;
    DATUM_TRY(apply_frame(*body, *state_));
    end_ += kFrameHeader + body->size();
    ++frames_;
  }
  // Only the last frame can be torn by a crash. A whole one behind a damaged one was acknowledged
  // after it, so the damaged one was, too.
  for (auto at = end_ + 1; at + kFrameHeader <= image.size(); ++at) {
    const auto size = load_le<std::uint64_t>(image.data() + at + 8);
    const auto index = load_le<std::uint64_t>(image.data() + at + 16);
    if (index > frames_ && size < image.size() && find_frame(image.subspan(at), index))
      return fail(ErrorCode::corrupt, "batch " + std::to_string(frames_ + 1) + " is damaged");
  }
  return {};
}

// What is read after a failed sync need not be on the disk: it is written and synced again before
// anything is built on it. A torn end is cut off.
Status SimLog::settle() {
  const auto image = disk_->contents();
  const Bytes held(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(end_));
  DATUM_TRY(disk_->truncate(end_));
  if (!held.empty()) DATUM_TRY(disk_->write(0, held));
  return disk_->sync();
}

Status SimLog::create(const OpenOptions& options, std::uint64_t seed) {
  SimChange birth;
  birth.store.resize(Id128::kSize);
  store_le(birth.store.data(), seed);
  store_le(birth.store.data() + 8, ~seed);
  birth.level = options.level;
  birth.indexes = options.indexes;
  return commit(birth);
}

Status SimLog::start(const OpenOptions& options, std::uint64_t seed) {
  DATUM_TRY(load());
  if (frames_ == 0 && options.mode != OpenMode::create_or_open)
    return fail(ErrorCode::not_found, "there is no store");
  if (state_->level > max_level_)
    return fail(ErrorCode::unsupported_version, "the store was written by a newer version (level " +
                                                    std::to_string(state_->level) + ")");
  if (!is_writer()) return {};
  DATUM_TRY(settle());
  if (frames_ == 0) return create(options, seed);
  SimChange change;
  change.level = state_->level;
  for (const auto& name : options.indexes)
    if (!state_->indexes.contains(name)) change.indexes.push_back(name);
  if (change.indexes.empty()) return {};
  return commit(change);
}

Status SimLog::commit(const SimChange& change) {
  const auto frame = encode_change(change, frames_);
  auto status = disk_->write(end_, frame);
  if (status) status = disk_->sync();
  if (!status) {
    is_failed_ = true;
    return status;
  }
  end_ += frame.size();
  ++frames_;
  const std::unique_lock lock(state_->mutex);
  return apply_frame(ByteView(frame).subspan(kFrameHeader), *state_);
}

Result<Seq> SimLog::append(const Batch& batch) {
  DATUM_TRY(check_writable());
  const auto has_index = [&](std::string_view name) { return state_->indexes.contains(name); };
  DATUM_TRY(check_batch(batch, has_index, state_->level, max_level_));
  if (is_empty(batch)) return state_->head.seq;
  SimChange change;
  change.level = batch.raise_level.value_or(state_->level);
  Head head = state_->head;
  for (const auto& entry : batch.entries) {
    const auto keys = sorted_keys(entry.keys);
    auto& value = change.values.emplace_back(value_size(entry.payload.size(), keys));
    head.hash = write_value(value, entry, keys, ++head.seq, change.level, head.hash);
  }
  change.meta = batch.meta;
  change.projections = batch.projections;
  DATUM_TRY(commit(change));
  return head.seq;
}

Status SimLog::reserve(std::uint64_t bytes) {
  DATUM_TRY(check_writable());
  if (bytes > disk_->capacity() || end_ + 2 * bytes > disk_->capacity())
    return fail(ErrorCode::no_space, "the simulated disk has no such space");
  return {};
}

Status SimLog::remove_before(Seq first) {
  DATUM_TRY(check_writable());
  if (first > state_->head.seq)
    return fail(ErrorCode::invalid_argument, "the head of the journal cannot be removed");
  if (first <= state_->head.first) return {};
  SimChange change;
  change.level = state_->level;
  change.remove_before = first;
  return commit(change);
}

Result<Verification> SimLog::verify(Seq from) {
  const std::shared_lock lock(state_->mutex);
  Verification finding;
  finding.head = state_->head;
  const Seq begin = std::max(from, finding.head.first);
  ChainCheck chain(begin > finding.head.first ? begin - 1 : begin, begin);
  for (auto at = state_->values.lower_bound(chain.next()); at != state_->values.end(); ++at) {
    const auto taken = chain.take(at->second);
    if (!taken) {
      finding.bad_seq = chain.next();
      finding.problem = taken.error().message();
      return finding;
    }
    ++finding.records;
  }
  finding.sound = true;
  return finding;
}

// It has no free pages: only what keeps a compaction from its work is as in the real one.
Result<Compaction> SimLog::compact() {
  DATUM_TRY(check_writable());
  if (state_.use_count() > 1 || is_visiting())
    return fail(ErrorCode::busy, "a reader of the store is still open");
  DATUM_ASSIGN(const Usage usage, read_usage());
  return Compaction{usage.file_bytes, usage.live_bytes};
}

Status SimLog::close() {
  if (state_.use_count() > 1 || is_visiting())
    return fail(ErrorCode::busy, "a reader of the store is still open");
  if (is_writer() && !is_closed_) disk_->unlock(boot_);
  is_closed_ = true;
  return {};
}

}  // namespace

Result<std::unique_ptr<Log>> open_sim_log(std::shared_ptr<SimDisk> disk, const OpenOptions& options,
                                          std::uint64_t seed) {
  DATUM_TRY(check_options(options));
  const bool is_writer = options.mode == OpenMode::create_or_open || options.mode == OpenMode::open;
  if (is_writer && !disk->try_lock())
    return fail(ErrorCode::busy, "the store is in use: its lock is held in this simulation");
  if (options.mode == OpenMode::read_only && disk->is_locked())
    return fail(ErrorCode::busy, "the store is in use: its lock is held in this simulation");
  // From here on the log's destructor gives the lock back.
  auto log = std::make_unique<SimLog>(std::move(disk), options);
  DATUM_TRY(log->start(options, seed));
  return std::unique_ptr<Log>(std::move(log));
}

}  // namespace datum::journal
